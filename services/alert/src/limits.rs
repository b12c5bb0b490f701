//! Everything that is bounded.

use std::time::Duration;

/// Alerts of a configuration.
pub(crate) const ALERTS_MAX: usize = 256;
/// Topic filters of an alert.
pub(crate) const FILTERS_MAX: usize = 64;
/// How long an address may take to answer.
pub(crate) const POST_TIME_MAX: Duration = Duration::from_secs(30);
/// Observations that a mail tells one by one.
pub(crate) const LINES_MAX: usize = 100;
/// Addresses that mail of an alert goes to.
pub(crate) const RECIPIENTS_MAX: usize = 32;
/// Longest name of an alert.
pub(crate) const NAME_CHARS_MAX: usize = 64;
/// First and longest pause before a message is posted again.
pub(crate) const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
/// Records of the log that an alert did not want, after which it is remembered that it saw them.
pub(crate) const PASSED_RECORDS: u64 = 1000;
/// How often that is looked at.
pub(crate) const IDLE: Duration = Duration::from_secs(30);
/// Datastreams that are remembered for having been told of, of an alert.
pub(crate) const QUIET_MAX: usize = 100_000;
