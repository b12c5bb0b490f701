//! Quality of service, as settings name it and as the stack takes it (DDS 1.4 section 2.2.3).

use crate::limits::WINDOW_SAMPLES;
use rustdds::policy::{Deadline, Durability, History, Liveliness, Reliability, ResourceLimits};
use rustdds::{Duration, QosPolicies, QosPolicyBuilder};
use std::time::Duration as StdDuration;
use weir_binding::nearest;

/// What a writer offers or a reader requests; a request for more than is offered is no match (section
/// 2.2.3, RxO).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quality {
    /// RELIABILITY: what is lost is sent again.
    pub(super) is_reliable: bool,
    /// DURABILITY: who comes late gets the newest samples too.
    pub(super) is_kept: bool,
    /// HISTORY: samples kept for who comes late, of all topics; 0 for as many as may wait.
    pub(super) history: i32,
    /// DEADLINE: the longest time between two samples of a topic.
    pub(super) deadline: Option<StdDuration>,
    /// LIVELINESS: silence after which a writer counts as gone.
    pub(super) lease: Option<StdDuration>,
}

/// Names of the settings, below `offer.` and `request.` and in the query of a URL.
pub(super) const NAMES: &[&str] = &[
    "reliability",
    "durability",
    "history",
    "deadline_ms",
    "liveliness_ms",
];

/// How long a sample waits for room when readers are slow, before the wait begins anew.
const BLOCKING_MAX: Duration = Duration::from_secs(1);

impl Quality {
    /// What weir's writer offers: all that DDS readers can request and weir can give.
    pub(super) const OFFERED: Self = Self {
        is_reliable: true,
        is_kept: true,
        history: 1000,
        deadline: None,
        lease: None,
    };

    /// What weir's reader requests: what any reliable writer offers.
    pub(super) const REQUESTED: Self = Self {
        is_reliable: true,
        is_kept: false,
        history: 0,
        deadline: None,
        lease: None,
    };

    /// Sets one by its name; an error says what would be right.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "reliability" => self.is_reliable = either(value, ["best-effort", "reliable"])?,
            "durability" => self.is_kept = either(value, ["volatile", "transient-local"])?,
            "history" => {
                let expected = "a number of samples, 0 for all that may wait";
                self.history = number(value, WINDOW_SAMPLES as u64, expected)? as i32;
            }
            "deadline_ms" => self.deadline = period(value)?,
            "liveliness_ms" => self.lease = period(value)?,
            _ => return Err(format!("unknown; {}", nearest(name, NAMES))),
        }
        Ok(())
    }

    /// As the stack takes it, which matches endpoints by it.
    // [DDS-2.2.3-1] [DDS-2.2.3.11-1]
    pub(super) fn policies(&self) -> QosPolicies {
        let reliability = if self.is_reliable {
            Reliability::Reliable {
                max_blocking_time: BLOCKING_MAX,
            }
        } else {
            Reliability::BestEffort
        };
        let durability = if self.is_kept {
            Durability::TransientLocal
        } else {
            Durability::Volatile
        };
        let history = match self.history {
            0 => History::KeepAll,
            depth => History::KeepLast { depth },
        };
        let mut builder = QosPolicyBuilder::new()
            .reliability(reliability)
            .durability(durability)
            .history(history)
            // The stack takes -1, which is no limit in DDS, for a limit, and keeps nothing.
            .resource_limits(ResourceLimits {
                max_samples: WINDOW_SAMPLES,
                max_instances: WINDOW_SAMPLES,
                max_samples_per_instance: WINDOW_SAMPLES,
            });
        if let Some(deadline) = self.deadline {
            builder = builder.deadline(Deadline(Duration::from_std(deadline)));
        }
        if let Some(lease) = self.lease {
            let lease_duration = Duration::from_std(lease);
            builder = builder.liveliness(Liveliness::Automatic { lease_duration });
        }
        builder.build()
    }
}

fn either(value: &str, [no, yes]: [&str; 2]) -> Result<bool, String> {
    match value {
        _ if value == yes => Ok(true),
        _ if value == no => Ok(false),
        _ => Err(format!("expected {yes} or {no}, found `{value}`")),
    }
}

fn number(value: &str, most: u64, expected: &str) -> Result<u64, String> {
    let read = value.parse().ok().filter(|number| *number <= most);
    read.ok_or_else(|| format!("expected {expected} up to {most}, found `{value}`"))
}

fn period(value: &str) -> Result<Option<StdDuration>, String> {
    let millis = number(value, 86_400_000, "a number of milliseconds, 0 for none,")?;
    Ok((millis > 0).then(|| StdDuration::from_millis(millis)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_setting_reaches_the_policy_of_its_name() {
        let mut quality = Quality::REQUESTED;
        let values = ["best-effort", "transient-local", "7", "250", "1500"];
        for (name, value) in NAMES.iter().zip(values) {
            quality.set(name, value).unwrap();
        }
        let policies = quality.policies();
        assert_eq!(policies.reliability(), Some(Reliability::BestEffort));
        assert_eq!(policies.durability(), Some(Durability::TransientLocal));
        assert_eq!(policies.history(), Some(History::KeepLast { depth: 7 }));
        let deadline = Deadline(Duration::from_millis(250));
        assert_eq!(policies.deadline(), Some(deadline));
        let lease_duration = Duration::from_millis(1500);
        assert_eq!(
            policies.liveliness(),
            Some(Liveliness::Automatic { lease_duration })
        );
    }

    #[test]
    fn a_wrong_value_is_answered_with_the_right_ones() {
        let mut quality = Quality::OFFERED;
        let said = quality.set("reliability", "yes").unwrap_err();
        assert_eq!(said, "expected reliable or best-effort, found `yes`");
        assert!(quality.set("history", "-1").is_err());
        assert_eq!(quality, Quality::OFFERED);
    }
}
