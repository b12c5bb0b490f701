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

/// The limits of a stream, by those of a message.
pub(crate) fn limits_of(limits: &Limits) -> weir_exi::Limits {
    weir_exi::Limits {
        depth: limits.depth as u32,
        input_bytes: limits.message_bytes as u64,
        expanded_bytes: limits.message_bytes.saturating_mul(EXPANSION_MAX) as u64,
        table_bytes: limits.message_bytes as u64,
        value_bytes: limits.text_bytes as u64,
        ..weir_exi::Limits::default()
    }
}
