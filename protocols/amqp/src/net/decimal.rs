//! Decimals of IEEE 754-2008 as JSON (AMQP 1.0 part 1, sections 1.6.14 to 1.6.16): in the binary integer encoding,
//! which is the one that AMQP has.
//!
//! A number of more digits than a double and no integer of 64 bits is a text of its digits, as it is everywhere here.

/// How the bits of a decimal are laid out (IEEE 754-2008, table 3.6).
#[derive(Clone, Copy)]
pub(super) struct Layout {
    width: u32,
    exponent_bits: u32,
    bias: i32,
    /// The longest significand, digits; of a longer one the number is zero.
    digits: u32,
}

pub(super) const DECIMAL_32: Layout = Layout {
    width: 32,
    exponent_bits: 8,
    bias: 101,
    digits: 7,
};
pub(super) const DECIMAL_64: Layout = Layout {
    width: 64,
    exponent_bits: 10,
    bias: 398,
    digits: 16,
};
pub(super) const DECIMAL_128: Layout = Layout {
    width: 128,
    exponent_bits: 14,
    bias: 6176,
    digits: 34,
};
/// Zeros behind a point beyond which an exponent is shorter to read.
const DECIMALS_MAX: usize = 40;

/// Writes a decimal as a number of JSON, as a text of its digits, or as what stands for a number that is none.
pub(super) fn write(bytes: &[u8], layout: Layout, out: &mut String) {
    let bits = bytes
        .iter()
        .fold(0, |bits: u128, byte| bits << 8 | u128::from(*byte));
    let (sign, whole_max) = match bits >> (layout.width - 1) {
        0 => ("", u64::MAX.into()),
        _ => ("-", 1 << 63),
    };
    match bits >> (layout.width - 6) & 0b1_1111 {
        0b1_1111 => out.push_str("NaN"),
        0b1_1110 => out.extend([sign, "Infinity"]),
        combination => {
            let (significand, exponent) = layout.split(bits, combination);
            let text = format!("{sign}{}", shown(significand, exponent));
            if is_a_number(significand, exponent, whole_max) {
                out.push_str(&text);
            } else {
                out.extend(["\"", &text, "\""]);
            }
        }
    }
}

impl Layout {
    /// The significand and the exponent of a finite number.
    fn split(self, bits: u128, combination: u128) -> (u128, i32) {
        let low = self.width - 1 - self.exponent_bits;
        // A significand that begins with the bits 100 has those left out.
        let (low, begins) = match combination >> 3 {
            0b11 => (low - 2, 0b100 << (low - 2)),
            _ => (low, 0),
        };
        let exponent = bits >> low & ((1 << self.exponent_bits) - 1);
        let significand = begins | bits & ((1 << low) - 1);
        let is_one = significand < 10_u128.pow(self.digits);
        let significand = if is_one { significand } else { 0 };
        (significand, exponent as i32 - self.bias)
    }
}

/// The integer of 64 bits that it is.
fn whole(significand: u128, exponent: i32) -> Option<u128> {
    let power = 10_u128.checked_pow(u32::try_from(exponent).ok()?)?;
    let whole = significand.checked_mul(power)?;
    (whole <= u128::from(u64::MAX)).then_some(whole)
}

/// As people write it.
fn shown(significand: u128, exponent: i32) -> String {
    if let Some(whole) = whole(significand, exponent) {
        return whole.to_string();
    }
    let mut text = significand.to_string();
    let decimals = exponent.unsigned_abs() as usize;
    if exponent == 0 {
        return text;
    }
    if exponent > 0 || decimals > DECIMALS_MAX {
        text.push_str(&format!("e{exponent}"));
        return text;
    }
    let missing = (decimals + 1).saturating_sub(text.len());
    text.insert_str(0, &"0".repeat(missing));
    text.insert(text.len() - decimals, '.');
    text
}

/// Whether it is an integer of 64 bits, or the nearest double has all of its digits.
fn is_a_number(significand: u128, exponent: i32, whole_max: u128) -> bool {
    if significand == 0 || whole(significand, exponent).is_some_and(|whole| whole <= whole_max) {
        return true;
    }
    let digits = significand.to_string();
    let short = digits.trim_end_matches('0');
    let power = exponent + (digits.len() - short.len()) as i32 + short.len() as i32 - 1;
    let nearest = format!("{significand}e{exponent}").parse::<f64>();
    let shortest = nearest.map(|nearest| format!("{nearest:e}"));
    shortest.is_ok_and(|shortest| shortest.replace('.', "") == format!("{short}e{power}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(layout: Layout, bits: u128) -> String {
        let mut out = String::new();
        let bytes = bits.to_be_bytes();
        write(&bytes[16 - layout.width as usize / 8..], layout, &mut out);
        out
    }

    /// A positive decimal; a significand that is too long for the first layout leaves its first bits out.
    fn of(layout: Layout, significand: u128, exponent: i32) -> String {
        let low = layout.width - 1 - layout.exponent_bits;
        let exponent = (exponent + layout.bias) as u128;
        if significand >> low == 0 {
            return text(layout, exponent << low | significand);
        }
        let low = low - 2;
        let rest = significand & ((1 << low) - 1);
        text(layout, 0b11 << (layout.width - 3) | exponent << low | rest)
    }

    #[test]
    fn decimals_are_numbers_where_a_number_has_all_their_digits() {
        for layout in [DECIMAL_32, DECIMAL_64, DECIMAL_128] {
            for (significand, exponent, expected) in [
                (215, -1, "21.5"),
                (0, 0, "0"),
                (5, -3, "0.005"),
                (2500, -2, "25.00"),
                (1, 3, "1000"),
                (1, 30, "1e30"),
                (1, -60, "1e-60"),
            ] {
                assert_eq!(of(layout, significand, exponent), expected);
            }
        }
        let long = 9_007_199_254_740_993;
        assert_eq!(of(DECIMAL_64, long, 0), "9007199254740993");
        assert_eq!(
            of(DECIMAL_64, 1_234_567_890_123_456, -6),
            "1234567890.123456"
        );
        assert_eq!(of(DECIMAL_64, long, -1), "900719925474099.3");
        let max = u128::from(u64::MAX);
        assert_eq!(of(DECIMAL_128, max, 0), "18446744073709551615");
    }

    #[test]
    fn more_digits_than_any_number_has_are_a_text() {
        let pi = 3_141_592_653_589_793_238_462_643_383_279_502;
        let digits = "\"3.141592653589793238462643383279502\"";
        assert_eq!(of(DECIMAL_128, pi, -33), digits);
        assert_eq!(of(DECIMAL_128, 1, 6000), "\"1e6000\"");
        assert_eq!(of(DECIMAL_128, 1 << 64 | 1, 0), "\"18446744073709551617\"");
        let below = 1 << 127 | 6176 << 113 | (1 << 63 | 1);
        assert_eq!(text(DECIMAL_128, below), "\"-9223372036854775809\"");
        assert_eq!(text(DECIMAL_128, below - 1), "-9223372036854775808");
    }

    #[test]
    fn bits_are_those_of_the_standard() {
        assert_eq!(text(DECIMAL_32, 0x3200_00D7), "21.5");
        assert_eq!(text(DECIMAL_32, 0xB200_00D7), "-21.5");
        assert_eq!(text(DECIMAL_64, 0x31A0_0000_0000_00D7), "21.5");
        // The longest significand begins with the bits 100.
        let longest = 0b11 << 29 | 101 << 21 | (9_999_999 - (1 << 23));
        assert_eq!(text(DECIMAL_32, longest), "9999999");
        // One that is too long is zero.
        assert_eq!(
            text(DECIMAL_32, 0b11 << 29 | 101 << 21 | ((1 << 21) - 1)),
            "0"
        );
        assert_eq!(text(DECIMAL_32, 0x7800_0000), "Infinity");
        assert_eq!(text(DECIMAL_64, 0xF800_0000_0000_0000), "-Infinity");
        assert_eq!(text(DECIMAL_128, 0x7C << 120), "NaN");
    }
}
