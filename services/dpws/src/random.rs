//! Delays and names that nobody can guess.

use std::time::Duration;
use weir_random::number;

/// A time from `least` to `most`.
pub(super) fn between(least: Duration, most: Duration) -> Duration {
    let span = most.saturating_sub(least).as_nanos().max(1) as u64;
    least + Duration::from_nanos(number() % span)
}

/// `urn:uuid:` with a random UUID (RFC 9562 section 5.4).
pub(crate) fn uuid() -> String {
    let bits = (u128::from(number()) << 64) | u128::from(number());
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    format!("urn:uuid:{}", parts.join("-"))
}
