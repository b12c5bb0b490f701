//! The clock that everything of a gateway is told the time by.

use std::time::SystemTime;
use weir_model::Time;

/// The gateway's clock.
pub fn now() -> Time {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    // Microseconds, which is more than an arrival is known to, and three digits less in every message.
    Time::from_nanos(i64::try_from(since.as_micros()).unwrap_or(i64::MAX / 1000) * 1000)
}
