//! EXI as an infoset: what vocabularies say and ask becomes events of `weir-exi`, typed where a schema
//! gives a type.
//!
//! Without a schema every value is a string in EXI, so numbers and times are rendered as in XML. With
//! one, times and coordinates travel as what they are.

mod emit;
pub(crate) mod kept;
mod pull;

pub(crate) use emit::ExiEmit;
pub(crate) use pull::ExiPull;

use weir_model::Limits;

const NANOS: i64 = 1_000_000_000;

/// The nine digits of a fraction backwards, which is what drops its trailing zeros.
fn reversed(mut nanos: u64) -> u64 {
    let mut turned = 0;
    for _ in 0..9 {
        turned = turned * 10 + nanos % 10;
        nanos /= 10;
    }
    turned
}

/// Bytes of values and inflated blocks to a byte that a message may have at most.
const EXPANSION_MAX: usize = 2;

/// Events to an observation that a message may have at most; O&M takes some forty.
const EVENTS_MAX: u64 = 64;

/// Events of what is around the observations.
const EVENTS_AROUND: u64 = 1_024;

/// Events that a message may have at most.
fn events_max(limits: &Limits) -> u64 {
    (limits.observations as u64)
        .saturating_mul(EVENTS_MAX)
        .saturating_add(EVENTS_AROUND)
}

/// The limits of a stream, by those of a message. A compressed block's events are read before the first
/// is handed out, so it is their number that bounds its memory.
pub(crate) fn limits_of(limits: &Limits) -> weir_exi::Limits {
    weir_exi::Limits {
        depth: limits.depth as u32,
        input_bytes: limits.message_bytes as u64,
        expanded_bytes: limits.message_bytes.saturating_mul(EXPANSION_MAX) as u64,
        table_bytes: limits.message_bytes as u64,
        value_bytes: limits.text_bytes as u64,
        events: events_max(limits),
        ..weir_exi::Limits::default()
    }
}
