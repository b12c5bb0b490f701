//! A substation: a heat exchanger, a valve that follows the load, and what its meter counts.
//!
//! The exchanger is its transfer coefficient: the primary flow is the one that hands over the heat
//! asked for, so that fouling shows as a greater flow and a warmer return, as it does on site.

use super::pipe::KWH_PER_M3_K;

/// Supply, water that comes back from the house, and return the exchanger is built for.
const DESIGN_SUPPLY_CEL: f64 = 95.0;
const HOUSE_CEL: f64 = 40.0;
/// Transfer units at design: the return is then HOUSE + exp(-2) of the span.
const DESIGN_TRANSFER_UNITS: f64 = 2.0;
/// The valve fully open passes this many times the design flow at the design pressure.
const VALVE_RESERVE: f64 = 1.3;
/// Pressure difference the valve is chosen for.
const DESIGN_DIFFERENCE_BAR: f64 = 4.0;
/// How long the valve takes to follow.
const VALVE_S: f64 = 20.0;

/// The state of one substation.
#[derive(Clone, Debug)]
pub struct Substation {
    transfer_kw_per_k: f64,
    design_flow_m3h: f64,
    flow_m3h: f64,
    return_cel: f64,
    power_kw: f64,
    energy_kwh: f64,
}

impl Substation {
    /// A substation for `design_kw` whose meter stands at `energy_kwh`.
    pub fn new(design_kw: f64, energy_kwh: f64) -> Self {
        let span = DESIGN_SUPPLY_CEL - HOUSE_CEL;
        let handed_over = 1.0 - (-DESIGN_TRANSFER_UNITS).exp();
        let design_flow_m3h = design_kw / (KWH_PER_M3_K * span * handed_over);
        Self {
            transfer_kw_per_k: DESIGN_TRANSFER_UNITS * KWH_PER_M3_K * design_flow_m3h,
            design_flow_m3h,
            flow_m3h: design_flow_m3h / 2.0,
            return_cel: HOUSE_CEL,
            power_kw: 0.0,
            energy_kwh,
        }
    }

    /// Primary flow in cubic metres an hour.
    pub fn flow_m3h(&self) -> f64 {
        self.flow_m3h
    }

    /// Temperature of the primary water that leaves.
    pub fn return_cel(&self) -> f64 {
        self.return_cel
    }

    /// Heat handed over in the last step, in kilowatts.
    pub fn power_kw(&self) -> f64 {
        self.power_kw
    }

    /// What the meter has counted, in kilowatt-hours; never falls.
    pub fn energy_kwh(&self) -> f64 {
        self.energy_kwh
    }

    /// Moves the valve towards the flow that hands over `load_kw`, as far as the pressure
    /// difference lets it, with a share `clean` of the transfer left.
    pub fn set_valve(&mut self, dt_s: f64, supply_cel: f64, load_kw: f64, clean: f64, bar: f64) {
        let open = (bar.max(0.0) / DESIGN_DIFFERENCE_BAR).sqrt();
        let flow_max = VALVE_RESERVE * self.design_flow_m3h * open;
        let wanted = self.flow_for(load_kw, supply_cel, clean, flow_max);
        self.flow_m3h += (wanted - self.flow_m3h) * (1.0 - (-dt_s / VALVE_S).exp());
    }

    /// Hands heat over for `dt_s` seconds at the flow the valve passes.
    pub fn exchange(&mut self, dt_s: f64, supply_cel: f64, clean: f64) {
        self.power_kw = self.heat_at(self.flow_m3h, supply_cel, clean);
        self.energy_kwh += self.power_kw * dt_s / 3600.0;
        let cooled = match self.flow_m3h {
            flow if flow > 0.0 => self.power_kw / (KWH_PER_M3_K * flow),
            _ => 0.0,
        };
        self.return_cel = supply_cel - cooled;
    }

    /// Heat handed over at a flow, in kilowatts.
    fn heat_at(&self, flow_m3h: f64, supply_cel: f64, clean: f64) -> f64 {
        if flow_m3h <= 0.0 {
            return 0.0;
        }
        let capacity = KWH_PER_M3_K * flow_m3h;
        let handed_over = 1.0 - (-self.transfer_kw_per_k * clean / capacity).exp();
        capacity * (supply_cel - HOUSE_CEL).max(0.0) * handed_over
    }

    /// The flow that hands over `load_kw`, found by halving; `flow_max` where none does.
    fn flow_for(&self, load_kw: f64, supply_cel: f64, clean: f64, flow_max: f64) -> f64 {
        let (mut low, mut high) = (0.0, flow_max);
        for _ in 0..30 {
            let middle = (low + high) / 2.0;
            match self.heat_at(middle, supply_cel, clean) < load_kw {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(load_kw: f64, clean: f64, bar: f64) -> Substation {
        let mut substation = Substation::new(800.0, 0.0);
        for _ in 0..100 {
            substation.set_valve(10.0, 95.0, load_kw, clean, bar);
            substation.exchange(10.0, 95.0, clean);
        }
        substation
    }

    #[test]
    fn the_load_asked_for_is_handed_over() {
        assert!((settled(800.0, 1.0, 4.0).power_kw() - 800.0).abs() < 1.0);
        assert!((settled(200.0, 1.0, 4.0).power_kw() - 200.0).abs() < 1.0);
    }

    #[test]
    fn a_fouled_exchanger_needs_more_flow_and_returns_warmer_water() {
        let (clean, fouled) = (settled(450.0, 1.0, 4.0), settled(450.0, 0.6, 4.0));
        assert!(fouled.flow_m3h() > 1.1 * clean.flow_m3h());
        assert!(fouled.return_cel() > clean.return_cel() + 3.0);
    }

    #[test]
    fn without_pressure_nothing_flows() {
        let starved = settled(500.0, 1.0, 0.0);
        assert!(starved.flow_m3h() < 1e-3 && starved.power_kw() < 1.0);
    }
}
