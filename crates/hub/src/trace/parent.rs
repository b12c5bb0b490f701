//! Whose trace a message belongs to: the `traceparent` of W3C Trace Context.

use crate::attributes::Attributes;
use weir_model::Time;

/// A span of somebody else that what happens here belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The trace.
    pub trace: [u8; 16],
    /// The span of it.
    pub span: [u8; 8],
    /// Whether whoever began it keeps it.
    pub sampled: bool,
}

impl Parent {
    /// Reads the field (W3C Trace Context section 3.2.2); what is none stands for no parent
    /// (section 4.3).
    pub fn parse(field: &str) -> Option<Self> {
        let mut parts = field.trim().split('-');
        let version: [u8; 1] = bytes_of(parts.next()?)?;
        let trace = bytes_of(parts.next()?)?;
        let span = bytes_of(parts.next()?)?;
        let [flags] = bytes_of(parts.next()?)?;
        let is_whole = version != [0] || parts.next().is_none();
        let holds = version != [0xff] && trace != [0; 16] && span != [0; 8] && is_whole;
        holds.then_some(Self {
            trace,
            span,
            sampled: flags & 1 == 1,
        })
    }

    /// The parent that a message names among its own properties, as MQTT and AMQP carry it.
    pub(super) fn named(attributes: &Attributes) -> Option<Self> {
        let mut properties = attributes.properties.iter();
        let named = properties.find(|(name, _)| name.eq_ignore_ascii_case("traceparent"));
        Self::parse(&named?.1)
    }
}

/// What a binding knows of how a message came, for its trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Incoming {
    /// The span that it belongs to.
    pub parent: Option<Parent>,
    /// When its first bytes were there.
    pub began: Option<Time>,
}

/// So many bytes in lower-case hexadecimal digits.
fn bytes_of<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let digits = digits.as_bytes();
    let value = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The example of W3C Trace Context section 3.2.3.
    const EXAMPLE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn the_standards_example_is_read() {
        let parent = Parent::parse(EXAMPLE).unwrap();
        assert_eq!(parent.trace[..3], [0x4b, 0xf9, 0x2f]);
        assert_eq!(parent.span, [0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7]);
        assert!(parent.sampled);
        let unsampled = EXAMPLE.replace("-01", "-00");
        assert!(!Parent::parse(&unsampled).unwrap().sampled);
    }

    #[test]
    fn what_is_no_parent_is_none() {
        let zeros = format!("00-{}-00f067aa0ba902b7-01", "0".repeat(32));
        let upper = EXAMPLE.to_uppercase();
        let longer = format!("{EXAMPLE}-more");
        let forbidden = EXAMPLE.replacen("00", "ff", 1);
        for text in ["", "00", "nonsense", &zeros, &upper, &longer, &forbidden] {
            assert_eq!(Parent::parse(text), None, "{text}");
        }
        let later = format!("{}-more", EXAMPLE.replacen("00", "01", 1));
        assert!(Parent::parse(&later).is_some(), "a version to come");
    }
}
