//! The weather over the town and what people do in it: the two causes of every load.
//!
//! It is always a week in January there, whatever the calendar says, because a heating network in
//! July is no demonstration. The time of day is real (UTC plus one hour).

use crate::noise::Wander;
use weir_random::Random;

const DAY_S: f64 = 86_400.0;
const TOWN_AHEAD_OF_UTC_S: f64 = 3600.0;

/// Outdoor temperature: a day's swing about a mean that wanders over days.
#[derive(Clone, Debug)]
pub struct Weather {
    front: Wander,
    outdoor_cel: f64,
}

impl Weather {
    /// A mild day to begin with.
    pub fn january() -> Self {
        Self {
            front: Wander::new(3.0, 18.0 * 3600.0),
            outdoor_cel: 1.0,
        }
    }

    /// Moves on by `dt_s` seconds to `unix_s`; returns the outdoor temperature in degrees Celsius.
    pub fn step(&mut self, dt_s: f64, unix_s: f64, random: &mut Random) -> f64 {
        let swing = 4.0 * daily_wave(unix_s, 15.0);
        self.outdoor_cel = 1.0 + swing + self.front.step(dt_s, random);
        self.outdoor_cel
    }
}

/// Hour of the day in the town, 0 to 24.
pub fn hour(unix_s: f64) -> f64 {
    (unix_s + TOWN_AHEAD_OF_UTC_S).rem_euclid(DAY_S) / 3600.0
}

/// A wave of one day from -1 to 1 with its top at `top_hour`.
fn daily_wave(unix_s: f64, top_hour: f64) -> f64 {
    ((hour(unix_s) - top_hour) / 24.0 * core::f64::consts::TAU).cos()
}

/// Share of the design load that heating of rooms takes: proportional to the cold outside, a
/// quarter less at night.
pub fn room_heating(outdoor_cel: f64, unix_s: f64) -> f64 {
    let cold = ((19.0 - outdoor_cel) / 31.0).clamp(0.0, 1.1);
    let night = bump(hour(unix_s), 2.0, 3.0);
    cold * (1.0 - 0.25 * night)
}

/// Share of the design load that warm water takes: a little always, much in the morning and the
/// evening.
pub fn warm_water(unix_s: f64) -> f64 {
    let hour = hour(unix_s);
    0.05 + 0.22 * bump(hour, 7.0, 1.2) + 0.08 * bump(hour, 13.0, 2.0) + 0.18 * bump(hour, 20.0, 1.8)
}

/// A bell of height 1 at `top` with this width, in hours round the clock.
fn bump(hour: f64, top: f64, width: f64) -> f64 {
    let away = (hour - top + 12.0).rem_euclid(24.0) - 12.0;
    (-0.5 * (away / width).powi(2)).exp()
}

/// Supply temperature the plant aims at: the heating curve, 70 to 110 Cel.
pub fn heating_curve(outdoor_cel: f64) -> f64 {
    (70.0 + 1.4 * (12.0 - outdoor_cel)).clamp(70.0, 110.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colder_weather_asks_for_more_heat_and_hotter_water() {
        assert!(room_heating(-10.0, 0.0) > room_heating(5.0, 0.0));
        assert!(heating_curve(-10.0) > heating_curve(5.0));
        assert_eq!(heating_curve(30.0), 70.0);
    }

    #[test]
    fn warm_water_peaks_in_the_morning() {
        let at = |hour: f64| warm_water(hour * 3600.0 - TOWN_AHEAD_OF_UTC_S);
        assert!(at(7.0) > 3.0 * at(3.0));
    }
}
