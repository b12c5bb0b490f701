//! Numbers, dates and times (EXI 1.0 sections 7.1.2 to 7.1.8).

use alloc::string::String;
use core::fmt::Write;

use super::content::Content;
use crate::bits::{Reader, width};
use crate::codec::Characters;
use crate::fault::{Fault, Result};
use crate::grammar::Schema;
use crate::stored::{Span, Stored, StoredDateTime, StoredUnsigned};
use crate::value::{DateTimeKind, Float, TimeOfDay};

impl Content {
    /// An unsigned integer of any size.
    pub(super) fn unsigned(&mut self, reader: &mut Reader<'_>) -> Result<StoredUnsigned> {
        match reader.unsigned() {
            Ok(value) => Ok(StoredUnsigned::Small(value)),
            Err(Fault::TooBig) => {
                let at = self.scratch.len();
                reader.unsigned_digits(&mut self.scratch)?;
                let len = (self.scratch.len() - at) as u32;
                self.spend(u64::from(len))?;
                Ok(StoredUnsigned::Big(Span { at: at as u32, len }))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Sign and magnitude; negative ones have the magnitude minus one (section 7.1.5).
    pub(super) fn integer(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        let negative = reader.boolean()?;
        let magnitude = self.unsigned(reader)?;
        let magnitude = if negative {
            self.one_more(magnitude)
        } else {
            magnitude
        };
        Ok(Stored::Integer {
            negative,
            magnitude,
        })
    }

    pub(super) fn one_more(&mut self, magnitude: StoredUnsigned) -> StoredUnsigned {
        if let StoredUnsigned::Small(value) = magnitude
            && value < u64::MAX
        {
            return StoredUnsigned::Small(value + 1);
        }
        let digits = match magnitude {
            StoredUnsigned::Small(value) => alloc::format!("{value}"),
            StoredUnsigned::Big(span) => span.of(&self.scratch).into(),
        };
        let at = self.scratch.len() as u32;
        let sum = incremented(digits);
        self.scratch.push_str(&sum);
        StoredUnsigned::Big(Span {
            at,
            len: sum.len() as u32,
        })
    }

    pub(super) fn decimal(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        let negative = reader.boolean()?;
        let integral = self.unsigned(reader)?;
        let reversed_fraction = self.unsigned(reader)?;
        Ok(Stored::Decimal {
            negative,
            integral,
            reversed_fraction,
        })
    }

    /// n bits above the least value (section 7.1.5).
    pub(super) fn bounded(
        &mut self,
        reader: &mut Reader<'_>,
        min: i128,
        range: u32,
    ) -> Result<Stored> {
        let offset = reader.n_bit(width(range))?;
        if offset >= range {
            return Err(Fault::Value(
                "an integer outside of the range that the schema gives it",
            ));
        }
        let value = min.saturating_add(i128::from(offset));
        let magnitude = match u64::try_from(value.unsigned_abs()) {
            Ok(small) => StoredUnsigned::Small(small),
            Err(_) => {
                let at = self.scratch.len();
                let _ = write!(self.scratch, "{}", value.unsigned_abs());
                let len = (self.scratch.len() - at) as u32;
                StoredUnsigned::Big(Span { at: at as u32, len })
            }
        };
        Ok(Stored::Integer {
            negative: value < 0,
            magnitude,
        })
    }

    /// The components of table 7-4 (section 7.1.8).
    pub(super) fn date_time(
        &mut self,
        reader: &mut Reader<'_>,
        kind: DateTimeKind,
    ) -> Result<Stored> {
        let mut value = StoredDateTime {
            kind,
            year: 0,
            month: 0,
            day: 0,
            time: TimeOfDay::default(),
            reversed_fraction: None,
            zone_minutes: None,
        };
        if kind.has_year() {
            value.year = word(reader)?
                .checked_add(2000)
                .ok_or(Fault::Value("a year that 64 bits do not hold"))?;
        }
        if kind.has_month_day() {
            let month_day = reader.n_bit(9)?;
            (value.month, value.day) = ((month_day / 32) as u8, (month_day % 32) as u8);
            if value.month > 12 {
                return Err(Fault::Value("a month above 12"));
            }
        }
        if kind.has_time() {
            let packed = reader.n_bit(17)?;
            let (hour, minute, second) = (packed >> 12, packed >> 6 & 63, packed & 63);
            let good = hour <= 24 && minute <= 59 && second <= 60;
            if !good {
                return Err(Fault::Value(
                    "an hour above 24, a minute above 59 or a second above 60",
                ));
            }
            let (hour, minute, second) = (hour as u8, minute as u8, second as u8);
            value.time = TimeOfDay {
                hour,
                minute,
                second,
            };
            if reader.boolean()? {
                value.reversed_fraction = Some(self.unsigned(reader)?);
            }
        }
        if reader.boolean()? {
            value.zone_minutes = Some(zone(reader)?);
        }
        Ok(Stored::DateTime(value))
    }

    /// Two bits that keep the lexical form (section 7.1.2).
    pub(super) fn boolean_pattern(&mut self, reader: &mut Reader<'_>) -> Result<Stored> {
        const FORMS: [&str; 4] = ["false", "0", "true", "1"];
        let form = reader.n_bit(2)? as usize;
        self.scratch(
            FORMS
                .get(form)
                .ok_or(Fault::Value("a Boolean that is neither true nor false"))?,
        )
    }
}

/// Characters of a restricted set; those outside of it are escaped (section 7.1.10.1).
pub(super) fn restricted(
    reader: &mut Reader<'_>,
    length: u32,
    set: Characters,
    schema: Option<&Schema>,
    out: &mut String,
) -> Result<()> {
    let width = set.width(schema);
    for rest in (0..length).rev() {
        let character = restricted_character(reader, width, set, schema);
        // At most seven bits of them stand in the byte that is missing now.
        let more = (rest as usize).saturating_mul(width as usize) / 8;
        out.push(character.map_err(|fault| fault.and_bytes(more))?);
    }
    Ok(())
}

fn restricted_character(
    reader: &mut Reader<'_>,
    width: u32,
    set: Characters,
    schema: Option<&Schema>,
) -> Result<char> {
    let position = reader.n_bit(width)?;
    match set.at(position, schema) {
        Some(character) => Ok(character),
        None if position == set.len(schema) => crate::bits::character(reader.unsigned()?),
        None => Err(Fault::Identifier),
    }
}

/// An integer that fits a word.
pub(super) fn word(reader: &mut Reader<'_>) -> Result<i64> {
    let negative = reader.boolean()?;
    let magnitude = i64::try_from(reader.unsigned()?).map_err(|_| Fault::TooBig)?;
    Ok(if negative { -1 - magnitude } else { magnitude })
}

/// Mantissa and exponent; others than these MUST NOT be used (section 7.1.4).
pub(super) fn float(reader: &mut Reader<'_>) -> Result<Stored> {
    let mantissa = word(reader)?;
    let exponent = word(reader)?;
    match i16::try_from(exponent) {
        // [EXI-7.1.4-1]
        Ok(exponent) if (Float::SPECIAL..=16_383).contains(&exponent) => {
            Ok(Stored::Float(Float { mantissa, exponent }))
        }
        _ => Err(Fault::Value(
            "an exponent of a float that is not from -16384 to 16383",
        )),
    }
}

/// TimeZone: hours times 64 plus minutes, offset by 896 (table 7-3).
pub(super) fn zone(reader: &mut Reader<'_>) -> Result<i16> {
    let packed = reader.n_bit(11)? as i16 - 896;
    let minutes = packed / 64 * 60 + packed % 64;
    if minutes.abs() > 14 * 60 {
        Err(Fault::Value("a time zone more than 14 hours from UTC"))
    } else {
        Ok(minutes)
    }
}

/// Adds one to a number of decimal digits.
pub(super) fn incremented(digits: String) -> String {
    let mut bytes = digits.into_bytes();
    for byte in bytes.iter_mut().rev() {
        if *byte < b'9' {
            *byte += 1;
            return String::from_utf8(bytes).unwrap_or_default();
        }
        *byte = b'0';
    }
    bytes.insert(0, b'1');
    String::from_utf8(bytes).unwrap_or_default()
}
