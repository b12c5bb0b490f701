//! Dates and times as EXI packs them (EXI 1.0 section 7.1.8).

use super::number::{Unsigned, write_reversed};
use core::fmt;

/// Which of the eight date and time types a value is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as the types of XML Schema")]
pub enum DateTimeKind {
    GYear,
    GYearMonth,
    Date,
    DateTime,
    GMonth,
    GMonthDay,
    GDay,
    Time,
}

impl DateTimeKind {
    /// Whether values have a year.
    pub fn has_year(self) -> bool {
        matches!(
            self,
            Self::GYear | Self::GYearMonth | Self::Date | Self::DateTime
        )
    }

    /// Whether values have the component MonthDay.
    pub fn has_month_day(self) -> bool {
        !matches!(self, Self::GYear | Self::Time)
    }

    /// Whether values have a time of day.
    pub fn has_time(self) -> bool {
        matches!(self, Self::DateTime | Self::Time)
    }
}

/// Hour, minute and second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeOfDay {
    /// 0 to 24.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 60.
    pub second: u8,
}

/// A date or a time. Fields that the kind lacks are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateTime<'a> {
    /// Its type.
    pub kind: DateTimeKind,
    /// The year, counted from 0.
    pub year: i64,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
    /// Time of day.
    pub time: TimeOfDay,
    /// Fraction of the second, digits in reverse order; `None` where there is none.
    pub reversed_fraction: Option<Unsigned<'a>>,
    /// Minutes east of UTC, -840 to 840; `None` where none is given.
    pub zone_minutes: Option<i16>,
}

impl fmt::Display for DateTime<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DateTimeKind as Kind;
        let (month, day) = (self.month, self.day);
        if self.kind.has_year() {
            write_year(self.year, out)?;
        }
        match self.kind {
            Kind::GYear | Kind::Time => {}
            Kind::GYearMonth => write!(out, "-{month:02}")?,
            Kind::Date | Kind::DateTime => write!(out, "-{month:02}-{day:02}")?,
            Kind::GMonth => write!(out, "--{month:02}")?,
            Kind::GMonthDay => write!(out, "--{month:02}-{day:02}")?,
            Kind::GDay => write!(out, "---{day:02}")?,
        }
        if self.kind == Kind::DateTime {
            out.write_str("T")?;
        }
        if self.kind.has_time() {
            self.write_time(out)?;
        }
        self.write_zone(out)
    }
}

fn write_year(year: i64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let sign = if year < 0 { "-" } else { "" };
    write!(out, "{sign}{:04}", year.unsigned_abs())
}

impl DateTime<'_> {
    fn write_time(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TimeOfDay {
            hour,
            minute,
            second,
        } = self.time;
        write!(out, "{hour:02}:{minute:02}:{second:02}")?;
        let Some(fraction) = &self.reversed_fraction else {
            return Ok(());
        };
        out.write_str(".")?;
        write_reversed(fraction, out)
    }

    fn write_zone(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.zone_minutes {
            None => Ok(()),
            Some(0) => out.write_str("Z"),
            Some(minutes) => {
                let sign = if minutes < 0 { '-' } else { '+' };
                let minutes = minutes.unsigned_abs();
                write!(out, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        }
    }
}
