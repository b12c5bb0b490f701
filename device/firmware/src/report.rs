//! What is published, as text: a SenML record (RFC 8428), the clock, the counters.

use crate::sensor::Centidegrees;
use crate::text::Text;

/// Bytes of a slot of the ring.
pub(crate) const TEXT_BYTES_MAX: usize = 32;

/// A text that fits a slot.
pub(crate) type Report = Text<TEXT_BYTES_MAX>;

/// A pack of one record: RFC 8428 section 4.2, units of section 12.1; the value has two digits before its
/// point, as all of the sensor's have.
#[cfg_attr(feature = "clock", allow(dead_code))]
pub(crate) fn temperature(value: Centidegrees) -> Report {
    const TEXT: Report = Report::of("[{\"n\":\"t\",\"u\":\"Cel\",\"v\":00.00}]");
    let mut text = TEXT;
    let mut rest = value;
    for place in (24..29).rev().filter(|place| *place != 26) {
        text.set_digit(place, rest % 10);
        rest /= 10;
    }
    text
}

/// The device's clock as the authors' device sends it, milliseconds in 7 digits or more.
#[cfg_attr(not(feature = "clock"), allow(dead_code))]
pub(crate) fn clock(now_ms: u32) -> Report {
    let mut text = Report::new();
    text.push_number(now_ms, 7);
    text
}

/// Numbers with commas between them.
pub(crate) fn numbers(numbers: &[u32]) -> Report {
    let mut text = Report::new();
    for (place, &number) in numbers.iter().enumerate() {
        if place > 0 {
            text.push_byte(b',');
        }
        text.push_number(number, 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::{BatchBuilder, Limits, Value};

    #[test]
    fn the_gateways_codec_reads_what_the_sensor_says() {
        let format = weir_codec::by_name("senml-json").unwrap();
        let limits = Limits::default();
        for (value, expected) in [(18_00, 18.0), (21_53, 21.53), (25_07, 25.07)] {
            let mut batch = BatchBuilder::new();
            (format.decode)(temperature(value).bytes(), &mut batch, &limits).unwrap();
            let batch = batch.finish();
            let row = batch.rows().next().unwrap();
            assert_eq!(row.value, Value::Number(expected));
        }
    }

    #[test]
    fn counters_are_a_line() {
        assert_eq!(numbers(&[5812, 388, 0]).bytes(), b"5812,388,0");
        assert_eq!(clock(12_345).bytes(), b"0012345");
    }
}
