//! Integers and decimals of any size, and EXI's float (EXI 1.0 sections 7.1.3 to 7.1.6).

use core::fmt;

/// A number without sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsigned<'a> {
    /// One that fits a word.
    Small(u64),
    /// The decimal digits of a larger one, without leading zeros.
    Big(&'a str),
}

impl fmt::Display for Unsigned<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(value) => value.fmt(out),
            Self::Big(digits) => out.write_str(digits),
        }
    }
}

/// A whole number: sign and magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer<'a> {
    /// Whether it is below zero.
    pub negative: bool,
    /// Its distance from zero.
    pub magnitude: Unsigned<'a>,
}

impl Integer<'_> {
    /// The number as a word, if it fits.
    pub fn to_i64(self) -> Option<i64> {
        let Unsigned::Small(magnitude) = self.magnitude else {
            return None;
        };
        if self.negative {
            0i64.checked_sub_unsigned(magnitude)
        } else {
            magnitude.try_into().ok()
        }
    }
}

impl From<i64> for Integer<'_> {
    fn from(value: i64) -> Self {
        Self {
            negative: value < 0,
            magnitude: Unsigned::Small(value.unsigned_abs()),
        }
    }
}

impl From<u64> for Integer<'_> {
    fn from(value: u64) -> Self {
        Self {
            negative: false,
            magnitude: Unsigned::Small(value),
        }
    }
}

impl fmt::Display for Integer<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            out.write_str("-")?;
        }
        self.magnitude.fmt(out)
    }
}

/// A decimal number (section 7.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// Whether it is below zero, or a negative zero.
    pub negative: bool,
    /// Before the point.
    pub integral: Unsigned<'a>,
    /// After the point, digits in reverse order, so that leading zeros survive: 0.05 has 50.
    pub reversed_fraction: Unsigned<'a>,
}

impl fmt::Display for Decimal<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        if self.negative {
            out.write_char('-')?;
        }
        self.integral.fmt(out)?;
        out.write_char('.')?;
        write_reversed(&self.reversed_fraction, out)
    }
}

/// Writes the digits of a number from the last to the first.
pub(super) fn write_reversed(number: &Unsigned<'_>, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    use fmt::Write;
    match number {
        Unsigned::Big(digits) => digits
            .bytes()
            .rev()
            .try_for_each(|digit| out.write_char(char::from(digit))),
        Unsigned::Small(0) => out.write_char('0'),
        Unsigned::Small(value) => {
            let mut rest = *value;
            while rest > 0 {
                out.write_char(char::from(b'0' + (rest % 10) as u8))?;
                rest /= 10;
            }
            Ok(())
        }
    }
}

/// A float as EXI has it: mantissa times ten to the exponent (section 7.1.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Float {
    /// 64 bits; 1, -1 and others mean INF, -INF and NaN where the exponent is special.
    pub mantissa: i64,
    /// -(2^14-1) to 2^14-1, or [`Float::SPECIAL`].
    pub exponent: i16,
}

impl Float {
    /// The exponent that marks INF, -INF and NaN: -(2^14).
    pub const SPECIAL: i16 = -16_384;
    /// INF.
    pub const INFINITY: Self = Self {
        mantissa: 1,
        exponent: Self::SPECIAL,
    };
    /// -INF.
    pub const NEG_INFINITY: Self = Self {
        mantissa: -1,
        exponent: Self::SPECIAL,
    };
    /// NaN.
    pub const NAN: Self = Self {
        mantissa: 0,
        exponent: Self::SPECIAL,
    };

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        if self.exponent == Self::SPECIAL {
            return match self.mantissa {
                1 => f64::INFINITY,
                -1 => f64::NEG_INFINITY,
                _ => f64::NAN,
            };
        }
        let text = alloc::format!("{}e{}", self.mantissa, self.exponent);
        text.parse().unwrap_or(f64::NAN)
    }
}

impl fmt::Display for Float {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.exponent, self.mantissa) {
            (Self::SPECIAL, 1) => out.write_str("INF"),
            (Self::SPECIAL, -1) => out.write_str("-INF"),
            (Self::SPECIAL, _) => out.write_str("NaN"),
            (exponent, mantissa) => write!(out, "{mantissa}E{exponent}"),
        }
    }
}
