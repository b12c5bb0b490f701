//! What a link was like before it was used, as it is kept in the results.

use std::fmt;

use serde::{Deserialize, Serialize};
use weir_link::{Check, Profile, Way};

/// A link and its last self-check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkUsed {
    /// The profile in words.
    pub profile: String,
    /// TCP's congestion control in force at both ends.
    pub congestion: String,
    /// The self-check in words.
    pub check: String,
    /// How often it was measured until it was what it should be.
    pub checks: u32,
    /// Median round trip of a probe that the profile means, microseconds; nothing of a trace.
    pub rtt_target_us: Option<f64>,
    /// Median round trip that was measured, microseconds.
    pub rtt_p50_us: f64,
    /// 99th percentile, microseconds.
    pub rtt_p99_us: f64,
    /// Up and down, bits a second, as the profile means them; nothing without limit or of a trace.
    pub rate_target_bits: [Option<f64>; 2],
    /// Up and down, bits a second, as measured.
    pub rate_bits: [f64; 2],
    /// By how much packets were handed on late, 99th percentile, microseconds.
    pub lateness_p99_us: f64,
    /// Why it was refused.
    pub fault: Option<String>,
}

impl LinkUsed {
    /// One that was not measured yet.
    pub fn of(profile: &Profile) -> Self {
        Self {
            profile: profile.to_string(),
            ..Self::default()
        }
    }

    /// Takes in a self-check.
    pub fn note(&mut self, check: &Check) {
        let us = |nanos: u64| nanos as f64 / 1e3;
        self.checks += 1;
        self.check = check.to_string();
        self.rtt_target_us = check.rtt_target.map(us);
        self.rtt_p50_us = us(check.rtt_p50);
        self.rtt_p99_us = us(check.rtt_p99);
        self.rate_target_bits = Way::BOTH.map(|way| check.rates[way as usize].target);
        self.rate_bits = Way::BOTH.map(|way| check.rates[way as usize].achieved);
        self.lateness_p99_us = us(check.lateness_p99);
    }
}

impl fmt::Display for LinkUsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.profile)?;
        match (self.checks, &self.fault) {
            (0, None) => write!(f, "; not measured; {}", self.congestion),
            (_, Some(fault)) => write!(f, "; {fault}"),
            (checks, None) => write!(f, "; {}; check {checks}", self.check),
        }
    }
}
