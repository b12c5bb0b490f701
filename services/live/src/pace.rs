//! The pace that a client sets: it says what a message costs it, and is sent no more than it can take.
//!
//! A page reports how long it decodes and draws; twice that lies between two pieces, so that it is busy
//! with them half of its time and has the other half for whoever looks at it. What comes meanwhile is
//! conflated. Deliberately no estimate of the gateway's own: only the page knows what it draws.

use crate::fault::refuse;
use std::time::Duration;
use weir_hub::aggregate::{NotAnAggregate, parse_duration};
use weir_service::{Call, Pace, Response};

/// Times between two pieces in times of what one costs.
const REST: u32 = 2;

/// What `?pace=` says; as they come without it.
pub(crate) fn of(call: &Call) -> Result<Pace, Response> {
    let pace = Pace::default();
    if let Some(text) = call.query("pace") {
        let cost = cost(text).map_err(|error| refuse(400, format!("pace: {error}")))?;
        pace.set(period(cost));
    }
    Ok(pace)
}

/// What a message costs its client: a duration, or 0 where it sets no pace.
pub(crate) fn cost(text: &str) -> Result<Duration, NotAnAggregate> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    match digits.parse() {
        Ok(0.0) => Ok(Duration::ZERO),
        _ => parse_duration(text),
    }
}

/// The time between two pieces for who needs so long for one.
pub(crate) fn period(cost: Duration) -> Duration {
    cost.saturating_mul(REST)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_client_is_given_twice_the_time_that_it_needs() {
        assert_eq!(period(cost("5ms").unwrap()), Duration::from_millis(10));
        assert_eq!(period(cost("0").unwrap()), Duration::ZERO);
        assert_eq!(period(cost("0ms").unwrap()), Duration::ZERO);
        assert!(cost("soon").is_err() && cost("-1ms").is_err() && cost("").is_err());
    }
}
