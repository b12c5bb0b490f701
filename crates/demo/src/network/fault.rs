//! Things that go wrong now and then, and are put right again.

use super::plan::SUBSTATIONS;
use crate::noise::wait;
use core::fmt;
use weir_random::Random;

/// What can go wrong, and where; substations count from 0, sensors as in
/// [`SENSORS`](super::SENSORS).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The plant's main pump stops; the standby pump holds a tenth of the head.
    PumpFailure,
    /// Water leaves the supply pipe beside this substation.
    Leak {
        /// Where.
        substation: usize,
    },
    /// The exchanger hands over less heat.
    FouledExchanger {
        /// Where.
        substation: usize,
    },
    /// The sensor repeats its last value.
    StuckSensor {
        /// Where.
        substation: usize,
        /// Which one.
        sensor: usize,
    },
    /// The sensor says nothing.
    SilentSensor {
        /// Where.
        substation: usize,
        /// Which one.
        sensor: usize,
    },
}

/// Sensors that may stick or fall silent: temperatures, pressure, flow.
const FRAGILE_SENSORS: usize = 4;

impl Fault {
    fn any(random: &mut Random) -> Self {
        let substation = random.below(SUBSTATIONS);
        let sensor = random.below(FRAGILE_SENSORS);
        match random.below(8) {
            0 => Fault::PumpFailure,
            1 | 2 => Fault::Leak { substation },
            3 | 4 => Fault::FouledExchanger { substation },
            5 => Fault::StuckSensor { substation, sensor },
            _ => Fault::SilentSensor { substation, sensor },
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |sensor: usize| super::SENSORS[sensor].path;
        match *self {
            Fault::PumpFailure => f.write_str("pump failure at plant"),
            Fault::Leak { substation } => write!(f, "leak at substation-{}", substation + 1),
            Fault::FouledExchanger { substation } => {
                write!(f, "fouled exchanger at substation-{}", substation + 1)
            }
            Fault::StuckSensor { substation, sensor } => {
                write!(f, "stuck {} at substation-{}", name(sensor), substation + 1)
            }
            Fault::SilentSensor { substation, sensor } => {
                write!(
                    f,
                    "silent {} at substation-{}",
                    name(sensor),
                    substation + 1
                )
            }
        }
    }
}

/// At most one fault at a time: a wait, a fault, a wait.
#[derive(Clone, Debug)]
pub struct Faults {
    mean_wait_s: f64,
    left_s: f64,
    now: Option<Fault>,
}

impl Faults {
    /// Faults that follow each other after `mean_wait_s` seconds in the mean; infinity is never.
    pub fn new(mean_wait_s: f64, random: &mut Random) -> Self {
        Self {
            mean_wait_s,
            left_s: wait(random, mean_wait_s),
            now: None,
        }
    }

    /// A fault from the first step on that never clears.
    pub fn lasting(fault: Fault) -> Self {
        Self {
            mean_wait_s: f64::INFINITY,
            left_s: f64::INFINITY,
            now: Some(fault),
        }
    }

    /// The fault there is now.
    pub fn now(&self) -> Option<Fault> {
        self.now
    }

    /// Moves on by `dt_s` seconds. A fault lasts one to four minutes.
    pub fn step(&mut self, dt_s: f64, random: &mut Random) {
        self.left_s -= dt_s;
        if self.left_s > 0.0 {
            return;
        }
        (self.now, self.left_s) = match self.now {
            Some(_) => (None, 20.0 + wait(random, self.mean_wait_s)),
            None => (Some(Fault::any(random)), 60.0 + 180.0 * random.unit()),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_and_clear() {
        let mut random = Random::new(3);
        let mut faults = Faults::new(60.0, &mut random);
        let mut changes = Vec::new();
        for _ in 0..20_000 {
            let before = faults.now();
            faults.step(1.0, &mut random);
            if faults.now() != before {
                changes.push(faults.now().is_some());
            }
        }
        assert!(changes.len() > 40);
        assert!(changes.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn an_infinite_wait_is_never() {
        let mut random = Random::new(3);
        let mut faults = Faults::new(f64::INFINITY, &mut random);
        faults.step(1e12, &mut random);
        assert_eq!(faults.now(), None);
    }
}
