//! One pipe: water enters, travels as plugs, cools towards the ground, and comes out later.
//!
//! Plugs do not mix lengthwise, which is what makes the transport delay; heat is conserved to the
//! last bit of arithmetic, so the energy balance of the network can be tested.

use std::collections::VecDeque;

/// Heat in one cubic metre of water warmed by one kelvin, in kWh (at about 75 Cel).
pub const KWH_PER_M3_K: f64 = 1.133;

/// The ground at the depth of the pipes.
pub const GROUND_CEL: f64 = 8.0;

/// Heat that leaks through a metre of old insulation, in watts per kelvin and metre.
const LEAK_W_PER_M_K: f64 = 0.9;

/// A pipe is followed in at most about this many plugs.
const PLUGS: f64 = 48.0;

#[derive(Clone, Copy, Debug)]
struct Plug {
    volume_m3: f64,
    cel: f64,
}

/// A pipe filled with plugs of water, inlet at the back of the queue, outlet at the front.
#[derive(Clone, Debug)]
pub struct Pipe {
    plugs: VecDeque<Plug>,
    volume_m3: f64,
    /// Share of the distance to the ground's temperature that is lost each second.
    cooling_per_s: f64,
    /// Temperature of what came out last.
    outlet_cel: f64,
}

impl Pipe {
    /// A pipe of this length and inner diameter, filled with water of one temperature.
    pub fn new(length_m: f64, diameter_m: f64, cel: f64) -> Self {
        let section_m2 = core::f64::consts::PI / 4.0 * diameter_m * diameter_m;
        let volume_m3 = section_m2 * length_m;
        let heat_ws_per_k = KWH_PER_M3_K * 3.6e6 * volume_m3;
        Self {
            plugs: VecDeque::from([Plug { volume_m3, cel }]),
            volume_m3,
            cooling_per_s: LEAK_W_PER_M_K * length_m / heat_ws_per_k,
            outlet_cel: cel,
        }
    }

    /// Temperature of the water that came out in the last step, in degrees Celsius.
    pub fn outlet_cel(&self) -> f64 {
        self.outlet_cel
    }

    /// Heat in the pipe above 0 Cel, in kWh.
    pub fn heat_kwh(&self) -> f64 {
        self.plugs
            .iter()
            .map(|plug| plug.volume_m3 * plug.cel)
            .sum::<f64>()
            * KWH_PER_M3_K
    }

    /// Cools what is in the pipe for `dt_s` seconds; returns the heat lost, in kWh.
    pub fn cool(&mut self, dt_s: f64) -> f64 {
        let before = self.heat_kwh();
        let keep = (-self.cooling_per_s * dt_s).exp();
        for plug in &mut self.plugs {
            plug.cel = GROUND_CEL + (plug.cel - GROUND_CEL) * keep;
        }
        before - self.heat_kwh()
    }

    /// Pushes a volume in at one end and the same volume out at the other; returns the heat that
    /// came out, above 0 Cel, in kWh.
    pub fn push(&mut self, volume_m3: f64, cel: f64) -> f64 {
        if volume_m3 <= 0.0 {
            return 0.0;
        }
        self.enter(volume_m3, cel);
        let heat = self.leave(volume_m3);
        self.outlet_cel = heat / volume_m3;
        heat * KWH_PER_M3_K
    }

    fn enter(&mut self, volume_m3: f64, cel: f64) {
        let small = self.volume_m3 / PLUGS;
        match self.plugs.back_mut() {
            Some(last) if last.volume_m3 + volume_m3 <= small => {
                let heat = last.cel * last.volume_m3 + cel * volume_m3;
                last.volume_m3 += volume_m3;
                last.cel = heat / last.volume_m3;
            }
            _ => self.plugs.push_back(Plug { volume_m3, cel }),
        }
    }

    /// Takes a volume out at the front; returns volume times temperature.
    fn leave(&mut self, volume_m3: f64) -> f64 {
        let (mut left, mut heat) = (volume_m3, 0.0);
        while let Some(first) = self.plugs.front_mut() {
            let part = left.min(first.volume_m3);
            heat += part * first.cel;
            first.volume_m3 -= part;
            left -= part;
            if left <= 0.0 {
                break;
            }
            self.plugs.pop_front();
        }
        heat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_front_arrives_after_the_volume_of_the_pipe() {
        let mut pipe = Pipe::new(100.0, 0.2, 50.0);
        let step = pipe.volume_m3 / 100.0;
        let steps = (1..=120).find(|_| {
            pipe.push(step, 90.0);
            pipe.outlet_cel() > 70.0
        });
        assert!(matches!(steps, Some(98..=103)), "{steps:?}");
    }

    #[test]
    fn heat_in_is_heat_out_and_lost_and_kept() {
        let mut pipe = Pipe::new(400.0, 0.15, 60.0);
        let before = pipe.heat_kwh();
        let (mut put, mut taken) = (0.0, 0.0);
        for step in 0..5000 {
            let (volume, cel) = (0.001 * f64::from(step % 7), 70.0 + f64::from(step % 13));
            taken += pipe.cool(2.0);
            put += volume * cel * KWH_PER_M3_K;
            taken += pipe.push(volume, cel);
        }
        assert!((before + put - taken - pipe.heat_kwh()).abs() < 1e-6 * put);
    }

    #[test]
    fn standing_water_cools_to_the_ground_and_no_further() {
        let mut pipe = Pipe::new(10.0, 0.1, 80.0);
        assert!(pipe.cool(3600.0) > 0.0);
        pipe.cool(1e9);
        let ground = pipe.volume_m3 * GROUND_CEL * KWH_PER_M3_K;
        assert!((pipe.heat_kwh() - ground).abs() < 1e-9);
    }
}
