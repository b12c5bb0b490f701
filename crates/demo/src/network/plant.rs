//! The plant: a boiler that follows the heating curve and a pump that holds the pressure.

use super::pipe::KWH_PER_M3_K;
use super::plan::PLAN;
use super::{Pressures, Water, meter_reading, weather};

/// How long the boiler and the pump take to follow.
const BOILER_S: f64 = 300.0;
const PUMP_S: f64 = 10.0;
/// Pressure the pump adds, and what is left of it on the standby pump.
const HEAD_BAR: f64 = 6.0;
const STANDBY: f64 = 0.1;
/// Pressure held in the return pipe at the plant, and what a leak takes of it.
const STATIC_BAR: f64 = 2.0;
const LEAK_BAR_PER_M3H: f64 = 0.05;
/// Temperature of the water that replaces what leaks.
const MAKEUP_CEL: f64 = 12.0;

/// The state of the plant.
#[derive(Clone, Debug)]
pub(super) struct Plant {
    supply_cel: f64,
    return_cel: f64,
    head: f64,
    flow_m3h: f64,
    power_kw: f64,
    energy_kwh: f64,
    pressures: Pressures,
    pump_runs: bool,
}

impl Plant {
    /// A plant whose meter has counted what the substations have, and a tenth for losses.
    pub(super) fn new(unix_s: f64) -> Self {
        let design_kw: f64 = PLAN.iter().map(|branch| branch.design_kw).sum();
        Self {
            supply_cel: 85.0,
            return_cel: 45.0,
            head: 1.0,
            flow_m3h: 0.0,
            power_kw: 0.0,
            energy_kwh: meter_reading(1.1 * design_kw, unix_s),
            pressures: Pressures {
                supply_bar: STATIC_BAR + HEAD_BAR,
                return_bar: STATIC_BAR,
            },
            pump_runs: true,
        }
    }

    /// Lets boiler and pump follow what is asked of them.
    pub(super) fn follow(&mut self, dt_s: f64, outdoor_cel: f64, pump_failed: bool) {
        let goal = weather::heating_curve(outdoor_cel);
        self.supply_cel += (goal - self.supply_cel) * (1.0 - (-dt_s / BOILER_S).exp());
        let head = if pump_failed { STANDBY } else { 1.0 };
        self.head += (head - self.head) * (1.0 - (-dt_s / PUMP_S).exp());
        self.pump_runs = !pump_failed;
    }

    /// Heats what came back, and what replaces the leak, to the supply temperature; returns the
    /// heat that took, in kWh.
    pub(super) fn produce(&mut self, dt_s: f64, flow: f64, leaked: f64, back: Water) -> f64 {
        let hours = dt_s / 3600.0;
        let out = flow * hours * self.supply_cel * KWH_PER_M3_K;
        let made = out - back.heat_kwh - leaked * hours * MAKEUP_CEL * KWH_PER_M3_K;
        self.flow_m3h = flow;
        // In no time nothing comes back and nothing is made.
        if back.volume_m3 > 0.0 && hours > 0.0 {
            self.return_cel = back.heat_kwh / (back.volume_m3 * KWH_PER_M3_K);
            self.power_kw = made / hours;
        }
        self.energy_kwh += made.max(0.0);
        made + leaked * hours * MAKEUP_CEL * KWH_PER_M3_K
    }

    /// Sets the pressures at the plant.
    pub(super) fn level(&mut self, leaked_m3h: f64) -> Pressures {
        let return_bar = STATIC_BAR - LEAK_BAR_PER_M3H * leaked_m3h;
        let supply_bar = return_bar + HEAD_BAR * self.head;
        self.pressures = Pressures {
            supply_bar,
            return_bar,
        };
        self.pressures
    }

    pub(super) fn supply_cel(&self) -> f64 {
        self.supply_cel
    }

    pub(super) fn pump_runs(&self) -> bool {
        self.pump_runs
    }

    /// What its six sensors would say without noise, in the order of [`SENSORS`](super::SENSORS).
    pub(super) fn truth(&self) -> [f64; 6] {
        let bar = self.pressures.supply_bar;
        [
            self.supply_cel,
            self.return_cel,
            bar,
            self.flow_m3h,
            self.power_kw,
            self.energy_kwh,
        ]
    }
}
