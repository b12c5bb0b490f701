//! The sensors: what each node measures, how well, and what a broken sensor says.

use super::plan::{self, SUBSTATIONS};
use super::{Fault, Network};
use crate::message::{Message, Observation, Stream, Value};
use std::sync::Arc;
use weir_model::Place;
use weir_random::Random;

/// A kind of sensor that every node has.
#[derive(Clone, Copy, Debug)]
pub struct Sensor {
    /// Below the node's topic.
    pub path: &'static str,
    /// Observed property.
    pub property: &'static str,
    /// Unit, UCUM.
    pub unit: &'static str,
    /// Standard deviation of the noise, in the unit.
    noise: f64,
    /// Standard deviation of the noise, as a share of the value.
    noise_share: f64,
    /// The last place it shows.
    resolution: f64,
    /// The largest value to expect at a substation and at the plant; none for a counter.
    maximum: Option<(f64, f64)>,
}

const fn sensor(path: &'static str, property: &'static str, unit: &'static str) -> Sensor {
    let (noise, noise_share, resolution, maximum) = (0.0, 0.0, 0.01, None);
    Sensor {
        path,
        property,
        unit,
        noise,
        noise_share,
        resolution,
        maximum,
    }
}

/// What every node measures, in this order.
pub const SENSORS: [Sensor; 6] = [
    Sensor {
        noise: 0.04,
        maximum: Some((120.0, 120.0)),
        ..sensor("supply/temperature", "temperature", "Cel")
    },
    Sensor {
        noise: 0.04,
        maximum: Some((120.0, 120.0)),
        ..sensor("return/temperature", "temperature", "Cel")
    },
    Sensor {
        noise: 0.004,
        resolution: 0.001,
        maximum: Some((10.0, 10.0)),
        ..sensor("supply/pressure", "pressure", "bar")
    },
    Sensor {
        noise_share: 0.004,
        maximum: Some((30.0, 200.0)),
        ..sensor("flow", "flow", "m3/h")
    },
    Sensor {
        noise_share: 0.003,
        resolution: 0.1,
        maximum: Some((1500.0, 10_000.0)),
        ..sensor("power", "power", "kW")
    },
    sensor("energy", "energy", "kW.h"),
];

impl Sensor {
    fn show(&self, truth: f64, random: &mut Random) -> f64 {
        let deviation = self.noise + self.noise_share * truth.abs();
        let noisy = if deviation > 0.0 {
            truth + deviation * random.normal()
        } else {
            truth
        };
        let places = 1.0 / self.resolution;
        (noisy * places).round() / places
    }
}

/// Every sensor of every node, with the last value it showed. Node 0 is the plant.
#[derive(Clone, Debug, Default)]
pub(super) struct Board {
    streams: Vec<[Arc<Stream>; 6]>,
    extra: Vec<Arc<Stream>>,
    shown: Vec<[f64; 6]>,
}

fn node_name(node: usize) -> String {
    match node {
        0 => "plant".into(),
        substation => format!("substation-{substation}"),
    }
}

fn node_place(node: usize) -> Place {
    node.checked_sub(1).map_or(plan::PLANT, plan::place)
}

fn mac(node: usize, sensor: usize) -> String {
    format!("urn:dev:mac:0024befffe80{node:02x}{sensor:02x}")
}

fn stream(node: usize, index: usize) -> Arc<Stream> {
    let sensor = &SENSORS[index];
    let maximum = sensor
        .maximum
        .map(|(substation, plant)| if node == 0 { plant } else { substation });
    let name = node_name(node);
    Arc::new(Stream {
        topic: format!("heating/{name}/{}", sensor.path),
        name: format!("{name} {}", sensor.path.replace('/', " ")),
        sensor: mac(node, index),
        property: sensor.property.into(),
        unit: sensor.unit.into(),
        place: Some(node_place(node)),
        maximum,
    })
}

/// What only the plant has: the weather, whether the main pump runs, and the alarm.
fn extra(index: usize, path: &str, property: &str, unit: &str) -> Arc<Stream> {
    Arc::new(Stream {
        topic: format!("heating/plant/{path}"),
        name: format!("plant {}", path.replace('/', " ")),
        sensor: mac(0, SENSORS.len() + index),
        property: property.into(),
        unit: unit.into(),
        place: Some(node_place(0)),
        maximum: None,
    })
}

impl Board {
    pub(super) fn new() -> Self {
        Self {
            streams: (0..=SUBSTATIONS)
                .map(|node| core::array::from_fn(|sensor| stream(node, sensor)))
                .collect(),
            extra: vec![
                extra(0, "outdoor/temperature", "temperature", "Cel"),
                extra(1, "pump/running", "state", ""),
                extra(2, "alarm", "state", ""),
            ],
            shown: vec![[0.0; 6]; SUBSTATIONS + 1],
        }
    }

    pub(super) fn streams(&self) -> Vec<Arc<Stream>> {
        self.streams
            .iter()
            .flatten()
            .chain(&self.extra)
            .cloned()
            .collect()
    }

    /// One message per node, the plant first.
    pub(super) fn read(&mut self, network: &mut Network) -> Vec<Message> {
        let mut messages: Vec<Message> = (0..=SUBSTATIONS)
            .map(|node| self.read_node(node, network))
            .collect();
        let alarm = network
            .fault()
            .map_or_else(|| "none".into(), |fault| fault.to_string());
        let outdoor = SENSORS[0].show(network.outdoor_cel, &mut network.random);
        let values = [
            Value::Number(outdoor),
            Value::Bool(network.plant.pump_runs()),
            Value::Text(alarm),
        ];
        let extra = self.extra.iter().zip(values);
        messages[0]
            .observations
            .extend(extra.map(|(stream, value)| observe(stream, value)));
        messages
    }

    fn read_node(&mut self, node: usize, network: &mut Network) -> Message {
        let truth = node
            .checked_sub(1)
            .map_or(network.plant.truth(), |index| truth(network, index));
        let mut observations = Vec::with_capacity(SENSORS.len() + 3);
        for (index, sensor) in SENSORS.iter().enumerate() {
            let broken = broken_sensor(network.fault(), node, index);
            if broken == Some(Broken::Silent) {
                continue;
            }
            if broken.is_none() {
                self.shown[node][index] = sensor.show(truth[index], &mut network.random);
            }
            let value = Value::Number(self.shown[node][index]);
            observations.push(observe(&self.streams[node][index], value));
        }
        Message {
            topic: format!("heating/{}", node_name(node)),
            observations,
        }
    }
}

/// What the six sensors of a substation would say without noise.
fn truth(network: &Network, index: usize) -> [f64; 6] {
    let substation = &network.substations[index];
    [
        network.supply[index].outlet_cel(),
        substation.return_cel(),
        network.pressures[index].supply_bar,
        substation.flow_m3h(),
        substation.power_kw(),
        substation.energy_kwh(),
    ]
}

fn observe(stream: &Arc<Stream>, value: Value) -> Observation {
    Observation {
        stream: stream.clone(),
        value,
        place: None,
        time: None,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Broken {
    Stuck,
    Silent,
}

fn broken_sensor(fault: Option<Fault>, node: usize, index: usize) -> Option<Broken> {
    let here = |substation: usize, sensor: usize| substation + 1 == node && sensor == index;
    match fault? {
        Fault::StuckSensor { substation, sensor } if here(substation, sensor) => {
            Some(Broken::Stuck)
        }
        Fault::SilentSensor { substation, sensor } if here(substation, sensor) => {
            Some(Broken::Silent)
        }
        _ => None,
    }
}
