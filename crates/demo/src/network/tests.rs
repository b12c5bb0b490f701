//! The physics, as a person who runs such a network would check it.

#![allow(clippy::unwrap_used)]
use super::*;

const NOON: f64 = 1_795_168_800.0;

fn sound() -> Network {
    Network::new(11, NOON, f64::INFINITY)
}

fn values(messages: &[Message], path: &str) -> Vec<f64> {
    let observations = messages.iter().flat_map(|message| &message.observations);
    observations
        .filter(|observation| observation.stream.topic.ends_with(path))
        .filter(|observation| !observation.stream.topic.contains("outdoor"))
        .filter_map(|observation| observation.value.number())
        .collect()
}

#[test]
fn thirteen_nodes_speak_of_six_quantities_each() {
    let messages = sound().read();
    assert_eq!(messages.len(), SUBSTATIONS + 1);
    for path in [
        "supply/temperature",
        "return/temperature",
        "pressure",
        "flow",
        "power",
        "energy",
    ] {
        assert_eq!(values(&messages, path).len(), SUBSTATIONS + 1, "{path}");
    }
    let topics: Vec<&str> = messages.iter().map(|message| &*message.topic).collect();
    assert_eq!(topics[..2], ["heating/plant", "heating/substation-1"]);
}

#[test]
fn the_same_seed_gives_the_same_observations() {
    let (mut one, mut two) = (Network::new(5, NOON, 60.0), Network::new(5, NOON, 60.0));
    for _ in 0..300 {
        one.step(1.0);
        two.step(1.0);
        assert_eq!(one.read(), two.read());
    }
}

#[test]
fn water_returns_colder_than_it_was_supplied() {
    let mut network = sound();
    for _ in 0..200 {
        network.step(60.0);
        let messages = network.read();
        let supply = values(&messages, "supply/temperature");
        let back = values(&messages, "return/temperature");
        assert!(supply.iter().zip(&back).all(|(supply, back)| supply > back));
        assert!(
            supply.iter().all(|cel| (60.0..115.0).contains(cel)),
            "{supply:?}"
        );
        assert!(
            back.iter().all(|cel| (38.0..70.0).contains(cel)),
            "{back:?}"
        );
    }
}

#[test]
fn the_first_readings_are_those_of_a_running_network() {
    let mut network = sound();
    for dt_s in [0.0, 0.001, 1.0] {
        network.step(dt_s);
        let messages = network.read();
        let back = values(&messages, "return/temperature");
        assert!(
            back.iter().all(|cel| (30.0..70.0).contains(cel)),
            "{dt_s} s: {back:?}"
        );
        let power = values(&messages, "heating/plant/power");
        assert!(
            power.iter().all(|kw| (100.0..10_000.0).contains(kw)),
            "{dt_s} s: {power:?}"
        );
    }
}

#[test]
fn supply_falls_and_return_pressure_rises_with_distance() {
    let mut network = sound();
    for _ in 0..50 {
        network.step(600.0);
        for (index, branch) in PLAN.iter().enumerate() {
            let Some(parent) = branch.parent else {
                continue;
            };
            let (near, far) = (network.pressures(parent), network.pressures(index));
            assert!(far.supply_bar < near.supply_bar && far.return_bar > near.return_bar);
            assert!(far.supply_bar > far.return_bar + 0.3, "{index}: {far:?}");
        }
    }
}

#[test]
fn meters_never_run_backwards() {
    let mut network = Network::new(2, NOON, 90.0);
    let mut before = values(&network.read(), "energy");
    for _ in 0..2000 {
        network.step(1.0);
        let after = values(&network.read(), "energy");
        assert!(
            after
                .iter()
                .zip(&before)
                .all(|(after, before)| after >= before)
        );
        before = after;
    }
}

#[test]
fn heat_made_is_heat_delivered_lost_or_stored() {
    for mut network in [sound(), Network::new(2, NOON, 90.0)] {
        network.step(86_400.0);
        let Balance {
            produced_kwh,
            delivered_kwh,
            lost_kwh,
            stored_kwh,
        } = network.balance();
        let gap = produced_kwh - delivered_kwh - lost_kwh - stored_kwh;
        assert!(
            gap.abs() < 1e-6 * produced_kwh,
            "{gap} of {produced_kwh} kWh"
        );
        assert!(
            lost_kwh > 0.005 * produced_kwh && lost_kwh < 0.2 * produced_kwh,
            "{lost_kwh}"
        );
        assert!(stored_kwh.abs() < 0.05 * produced_kwh);
    }
}

#[test]
fn a_load_takes_its_flow_times_its_temperature_difference() {
    let messages = sound().read();
    let (supply, back) = (
        values(&messages, "supply/temperature"),
        values(&messages, "return/temperature"),
    );
    let (flow, power) = (values(&messages, "flow"), values(&messages, "power"));
    for node in 1..=SUBSTATIONS {
        let heat = pipe::KWH_PER_M3_K * flow[node] * (supply[node] - back[node]);
        assert!(
            (heat - power[node]).abs() < 0.05 * power[node],
            "{heat} {}",
            power[node]
        );
    }
}

#[test]
fn a_stopped_pump_lowers_every_pressure_and_throttles_the_flow() {
    let (mut whole, mut broken) = (sound(), Network::broken(11, NOON, Fault::PumpFailure));
    whole.step(300.0);
    broken.step(300.0);
    let (whole, broken) = (whole.read(), broken.read());
    for path in ["supply/pressure", "flow"] {
        let pairs = values(&whole, path).into_iter().zip(values(&broken, path));
        assert!(
            pairs
                .into_iter()
                .all(|(whole, broken)| broken < 0.9 * whole),
            "{path}"
        );
    }
    let said = broken[0]
        .observations
        .iter()
        .map(|observation| &observation.value);
    let said: Vec<_> = said.skip(SENSORS.len() + 1).cloned().collect();
    use crate::message::Value::{Bool, Text};
    assert_eq!(said, [Bool(false), Text("pump failure at plant".into())]);
}

#[test]
fn a_leak_shows_at_the_plant_and_not_at_the_meter() {
    let (mut whole, mut leaky) = (
        sound(),
        Network::broken(11, NOON, Fault::Leak { substation: 4 }),
    );
    whole.step(300.0);
    leaky.step(300.0);
    let flow = |messages: &[Message]| values(messages, "flow");
    let (at_whole, at_leaky) = (flow(&whole.read()), flow(&leaky.read()));
    assert!(at_leaky[0] > at_whole[0] + 0.8 * LEAK_M3H);
    assert!((at_leaky[5] - at_whole[5]).abs() < 1.0);
    assert!(leaky.pressures(4).supply_bar < whole.pressures(4).supply_bar - 0.3);
}

#[test]
fn a_fouled_exchanger_draws_more_water_and_cools_it_less() {
    let fault = Fault::FouledExchanger { substation: 2 };
    let (mut whole, mut fouled) = (sound(), Network::broken(11, NOON, fault));
    whole.step(600.0);
    fouled.step(600.0);
    let (whole, fouled) = (whole.read(), fouled.read());
    assert!(values(&fouled, "flow")[3] > 1.1 * values(&whole, "flow")[3]);
    let back = |messages: &[Message]| values(messages, "return/temperature")[3];
    assert!(back(&fouled) > back(&whole) + 2.0);
}

#[test]
fn a_stuck_sensor_repeats_itself_and_a_silent_one_is_absent() {
    let mut stuck = Network::broken(
        1,
        NOON,
        Fault::StuckSensor {
            substation: 0,
            sensor: 1,
        },
    );
    let first = values(&stuck.read(), "substation-1/return/temperature");
    stuck.step(600.0);
    assert_eq!(
        values(&stuck.read(), "substation-1/return/temperature"),
        first
    );
    let mut silent = Network::broken(
        1,
        NOON,
        Fault::SilentSensor {
            substation: 0,
            sensor: 1,
        },
    );
    assert!(values(&silent.read(), "substation-1/return/temperature").is_empty());
}
