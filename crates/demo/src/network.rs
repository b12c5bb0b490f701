//! A district heating network: a plant, twelve substations, the pipes between them.
//!
//! It is stepped, never timed: the caller says how many seconds pass. It is physics enough that
//! what a person sees is consistent (heat put in is heat handed over, lost or stored; pressures
//! fall along the pipes; water takes its time), and no more: quasi-steady hydraulics, water of one
//! density, and one exchanger model for all. The decision worth arguing: faults act on the physics
//! or on a sensor, never on the numbers published, so that their symptoms spread as they would.

pub mod fault;
pub mod pipe;
pub mod plan;
mod plant;
mod sensors;
pub mod substation;
pub mod weather;

pub use fault::{Fault, Faults};
pub use sensors::{SENSORS, Sensor};

use crate::message::{Message, Stream};
use crate::noise::Wander;
use pipe::Pipe;
use plan::{PLAN, SUBSTATIONS};
use plant::Plant;
use sensors::Board;
use std::sync::Arc;
use substation::Substation;
use weir_random::Random;

/// Longest step the equations are solved in; longer ones are cut up.
const TICK_S: f64 = 5.0;
/// How long the network runs before it is shown, so that its pipes are warm.
const WARM_UP_S: f64 = 6.0 * 3600.0;
/// Water a leak loses, in cubic metres an hour.
const LEAK_M3H: f64 = 9.0;
/// What fouling leaves of an exchanger, and how fast it comes and is cleaned away.
const FOULED: f64 = 0.45;
const FOULING_S: f64 = 30.0;

/// Where the heat went since the network was made, in kWh. What was produced is the sum of the
/// other three.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance {
    /// Made by the plant, and brought in by the water that replaces leaks.
    pub produced_kwh: f64,
    /// Handed over by the substations.
    pub delivered_kwh: f64,
    /// Lost to the ground and with leaked water.
    pub lost_kwh: f64,
    /// Gained by the water in the pipes.
    pub stored_kwh: f64,
}

/// Pressure in the supply and the return pipe at one node, in bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressures {
    /// In the supply pipe.
    pub supply_bar: f64,
    /// In the return pipe.
    pub return_bar: f64,
}

/// The network and everything that moves in it.
#[derive(Clone, Debug)]
pub struct Network {
    random: Random,
    weather: weather::Weather,
    faults: Faults,
    unix_s: f64,
    outdoor_cel: f64,
    plant: Plant,
    supply: [Pipe; SUBSTATIONS],
    r#return: [Pipe; SUBSTATIONS],
    substations: [Substation; SUBSTATIONS],
    habits: [Wander; SUBSTATIONS],
    clean: [f64; SUBSTATIONS],
    pressures: [Pressures; SUBSTATIONS],
    balance: Balance,
    heat_at_start_kwh: f64,
    board: Board,
}

impl Network {
    /// A warm network at `unix_s` seconds since the epoch, with a fault about every
    /// `fault_every_s` seconds (infinity: never). The same arguments give the same network.
    pub fn new(seed: u64, unix_s: f64, fault_every_s: f64) -> Self {
        let mut random = Random::new(seed);
        let faults = Faults::new(fault_every_s, &mut random);
        Self::with_faults(random, unix_s, faults)
    }

    /// A warm network with this one fault, which never clears.
    pub fn broken(seed: u64, unix_s: f64, fault: Fault) -> Self {
        Self::with_faults(Random::new(seed), unix_s, Faults::lasting(fault))
    }

    fn with_faults(random: Random, unix_s: f64, faults: Faults) -> Self {
        let pipes = |cel| PLAN.map(|branch| Pipe::new(branch.length_m, branch.diameter_m, cel));
        let mut network = Self {
            random,
            weather: weather::Weather::january(),
            faults: Faults::new(f64::INFINITY, &mut Random::new(0)),
            unix_s: unix_s - WARM_UP_S,
            outdoor_cel: 1.0,
            plant: Plant::new(unix_s),
            supply: pipes(85.0),
            r#return: pipes(45.0),
            substations: PLAN.map(|branch| {
                Substation::new(branch.design_kw, meter_reading(branch.design_kw, unix_s))
            }),
            habits: PLAN.map(|_| Wander::new(0.04, 900.0)),
            clean: [1.0; SUBSTATIONS],
            pressures: [Pressures {
                supply_bar: 8.0,
                return_bar: 2.0,
            }; SUBSTATIONS],
            balance: Balance::default(),
            heat_at_start_kwh: 0.0,
            board: Board::new(),
        };
        network.heat_at_start_kwh = network.heat_kwh();
        network.step(WARM_UP_S);
        network.faults = faults;
        network
    }

    /// Lets `dt_s` seconds pass.
    pub fn step(&mut self, dt_s: f64) {
        let ticks = (dt_s / TICK_S).ceil().max(1.0);
        for _ in 0..ticks as u64 {
            self.tick(dt_s / ticks);
        }
    }

    fn tick(&mut self, dt_s: f64) {
        self.unix_s += dt_s;
        self.outdoor_cel = self.weather.step(dt_s, self.unix_s, &mut self.random);
        self.faults.step(dt_s, &mut self.random);
        self.foul(dt_s);
        self.set_valves(dt_s);
        let leak = self.leaks();
        self.plant.follow(
            dt_s,
            self.outdoor_cel,
            self.faults.now() == Some(Fault::PumpFailure),
        );
        self.balance.lost_kwh += self.run_supply(dt_s, &leak);
        let back = self.run_return(dt_s);
        let leaked_m3h: f64 = leak.iter().sum();
        let flow_m3h = back.volume_m3 / dt_s * 3600.0 + leaked_m3h;
        self.balance.produced_kwh += self.plant.produce(dt_s, flow_m3h, leaked_m3h, back);
        self.level_pressures(&leak);
    }

    fn foul(&mut self, dt_s: f64) {
        let follow = 1.0 - (-dt_s / FOULING_S).exp();
        for (index, clean) in self.clean.iter_mut().enumerate() {
            let fouled = self.faults.now() == Some(Fault::FouledExchanger { substation: index });
            let goal = if fouled { FOULED } else { 1.0 };
            *clean += (goal - *clean) * follow;
        }
    }

    fn set_valves(&mut self, dt_s: f64) {
        let heating = weather::room_heating(self.outdoor_cel, self.unix_s);
        let water = weather::warm_water(self.unix_s);
        for (index, substation) in self.substations.iter_mut().enumerate() {
            let habit = 1.0 + self.habits[index].step(dt_s, &mut self.random);
            let load = PLAN[index].design_kw * (heating * habit + water).clamp(0.02, 1.1);
            let Pressures {
                supply_bar,
                return_bar,
            } = self.pressures[index];
            let supply_cel = self.supply[index].outlet_cel();
            let difference = supply_bar - return_bar;
            substation.set_valve(dt_s, supply_cel, load, self.clean[index], difference);
        }
    }

    /// Water that leaves beside each substation, in cubic metres an hour.
    fn leaks(&self) -> [f64; SUBSTATIONS] {
        let mut leak = [0.0; SUBSTATIONS];
        if let Some(Fault::Leak { substation }) = self.faults.now() {
            leak[substation] = LEAK_M3H;
        }
        leak
    }

    /// Flow in each supply pipe, with what leaks at its end, in cubic metres an hour.
    fn pipe_flows(&self, leak: &[f64; SUBSTATIONS]) -> [f64; SUBSTATIONS] {
        let mut flows = *leak;
        for index in (0..SUBSTATIONS).rev() {
            flows[index] += self.substations[index].flow_m3h();
            if let Some(parent) = PLAN[index].parent {
                flows[parent] += flows[index];
            }
        }
        flows
    }

    /// Moves the supply side; returns the heat lost, in kWh.
    fn run_supply(&mut self, dt_s: f64, leak: &[f64; SUBSTATIONS]) -> f64 {
        let flows = self.pipe_flows(leak);
        let mut lost = 0.0;
        for index in 0..SUBSTATIONS {
            let inlet = match PLAN[index].parent {
                Some(parent) => self.supply[parent].outlet_cel(),
                None => self.plant.supply_cel(),
            };
            let pipe = &mut self.supply[index];
            lost += pipe.cool(dt_s);
            pipe.push(flows[index] * dt_s / 3600.0, inlet);
            let arrives = pipe.outlet_cel();
            lost += leak[index] * dt_s / 3600.0 * arrives * pipe::KWH_PER_M3_K;
            self.substations[index].exchange(dt_s, arrives, self.clean[index]);
            self.balance.delivered_kwh += self.substations[index].power_kw() * dt_s / 3600.0;
        }
        lost
    }

    /// Moves the return side; returns what comes back to the plant.
    fn run_return(&mut self, dt_s: f64) -> Water {
        let mut joined = [Water::default(); SUBSTATIONS];
        let mut back = Water::default();
        for index in (0..SUBSTATIONS).rev() {
            let substation = &self.substations[index];
            let volume_m3 = substation.flow_m3h() * dt_s / 3600.0;
            joined[index].add(
                volume_m3,
                substation.return_cel() * pipe::KWH_PER_M3_K * volume_m3,
            );
            let Water {
                volume_m3,
                heat_kwh,
            } = joined[index];
            let pipe = &mut self.r#return[index];
            self.balance.lost_kwh += pipe.cool(dt_s);
            let cel = heat_kwh / (volume_m3 * pipe::KWH_PER_M3_K).max(f64::MIN_POSITIVE);
            let out_kwh = pipe.push(volume_m3, cel);
            match PLAN[index].parent {
                Some(parent) => joined[parent].add(volume_m3, out_kwh),
                None => back.add(volume_m3, out_kwh),
            }
        }
        back
    }

    /// Pressures from the plant outwards: supply falls along each pipe, return rises.
    fn level_pressures(&mut self, leak: &[f64; SUBSTATIONS]) {
        let flows = self.pipe_flows(leak);
        let leaked: f64 = leak.iter().sum();
        let at_plant = self.plant.level(leaked);
        for index in 0..SUBSTATIONS {
            let branch = &PLAN[index];
            let from = branch
                .parent
                .map_or(at_plant, |parent| self.pressures[parent]);
            let drop = |flow| pressure_drop_bar(branch.length_m, branch.diameter_m, flow);
            self.pressures[index] = Pressures {
                supply_bar: from.supply_bar - drop(flows[index]),
                return_bar: from.return_bar + drop(flows[index] - leak[index]),
            };
        }
    }

    fn heat_kwh(&self) -> f64 {
        self.supply
            .iter()
            .chain(&self.r#return)
            .map(Pipe::heat_kwh)
            .sum()
    }

    /// Where the heat went so far.
    pub fn balance(&self) -> Balance {
        Balance {
            stored_kwh: self.heat_kwh() - self.heat_at_start_kwh,
            ..self.balance
        }
    }

    /// The fault there is now.
    pub fn fault(&self) -> Option<Fault> {
        self.faults.now()
    }

    /// Pressures at a substation, counted from 0.
    pub fn pressures(&self, substation: usize) -> Pressures {
        self.pressures[substation]
    }

    /// Every datastream of the network.
    pub fn streams(&self) -> Vec<Arc<Stream>> {
        self.board.streams()
    }

    /// What the sensors say now: one message per node. A silent sensor is absent.
    pub fn read(&mut self) -> Vec<Message> {
        let mut board = core::mem::take(&mut self.board);
        let messages = board.read(self);
        self.board = board;
        messages
    }
}

/// An amount of water and the heat in it.
#[derive(Clone, Copy, Debug, Default)]
struct Water {
    volume_m3: f64,
    heat_kwh: f64,
}

impl Water {
    fn add(&mut self, volume_m3: f64, heat_kwh: f64) {
        self.volume_m3 += volume_m3;
        self.heat_kwh += heat_kwh;
    }
}

/// Pressure lost along a pipe (Darcy and Weisbach, friction factor 0.025), in bar.
pub fn pressure_drop_bar(length_m: f64, diameter_m: f64, flow_m3h: f64) -> f64 {
    let section_m2 = core::f64::consts::PI / 4.0 * diameter_m * diameter_m;
    let speed = flow_m3h / 3600.0 / section_m2;
    0.025 * length_m / diameter_m * 972.0 / 2.0 * speed * speed.abs() / 1e5
}

/// What a meter installed in 2020 shows: half the design power ever since.
fn meter_reading(design_kw: f64, unix_s: f64) -> f64 {
    let installed_s = 1_577_836_800.0;
    ((unix_s - installed_s) / 3600.0 * design_kw * 0.5)
        .max(0.0)
        .floor()
}

#[cfg(test)]
mod tests;
