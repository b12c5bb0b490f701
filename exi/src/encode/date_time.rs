//! Lexical forms of dates and times (XML Schema part 2 sections 3.2.7 to 3.2.14).

use super::lexical::Stash;
use crate::stored::{Stored, StoredDateTime, StoredUnsigned};
use crate::value::{DateTime, DateTimeKind, TimeOfDay};

struct Cursor<'t> {
    rest: &'t str,
}

impl<'t> Cursor<'t> {
    fn expect(&mut self, wanted: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn digits(&mut self) -> &'t str {
        let len = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        digits
    }

    fn two(&mut self, max: u8) -> Option<u8> {
        let two = self
            .rest
            .get(..2)
            .filter(|two| two.bytes().all(|b| b.is_ascii_digit()))?;
        self.rest = &self.rest[2..];
        two.parse().ok().filter(|value| *value <= max)
    }

    fn year(&mut self) -> Option<i64> {
        let negative = self.expect("-").is_some();
        let digits = self.digits();
        // Four digits, or more that begin with none, and no year 0000 (XML Schema part 2 section 3.2.7).
        if digits.len() < 4 || digits.len() > 4 && digits.starts_with('0') {
            return None;
        }
        let year: i64 = digits.parse().ok().filter(|year| *year != 0)?;
        Some(if negative { -year } else { year })
    }

    fn month(&mut self) -> Option<u8> {
        self.two(12).filter(|month| *month > 0)
    }

    fn day(&mut self) -> Option<u8> {
        self.two(31).filter(|day| *day > 0)
    }

    fn time(&mut self) -> Option<TimeOfDay> {
        let hour = self.two(24)?;
        self.expect(":")?;
        let minute = self.two(59)?;
        self.expect(":")?;
        Some(TimeOfDay {
            hour,
            minute,
            second: self.two(60)?,
        })
    }

    fn zone(&mut self) -> Option<Option<i16>> {
        if self.rest.is_empty() {
            return Some(None);
        }
        if self.expect("Z").is_some() {
            return Some(Some(0));
        }
        let negative = self.expect("-").is_some();
        if !negative {
            self.expect("+")?;
        }
        let hours = i16::from(self.two(14)?);
        self.expect(":")?;
        let minutes = hours * 60 + i16::from(self.two(59)?);
        (minutes <= 840).then_some(Some(if negative { -minutes } else { minutes }))
    }
}

/// Reads a value of a kind.
pub(super) fn read(kind: DateTimeKind, text: &str, stash: &mut Stash) -> Option<Stored> {
    let mut from = Cursor { rest: text };
    let mut value = StoredDateTime {
        kind,
        year: 0,
        month: 0,
        day: 0,
        time: TimeOfDay::default(),
        reversed_fraction: None,
        zone_minutes: None,
    };
    date(kind, &mut from, &mut value)?;
    if kind == DateTimeKind::DateTime {
        from.expect("T")?;
    }
    if kind.has_time() {
        value.time = from.time()?;
        value.reversed_fraction = fraction(&mut from, stash)?;
    }
    value.zone_minutes = from.zone()?;
    from.rest.is_empty().then_some(Stored::DateTime(value))
}

fn date(kind: DateTimeKind, from: &mut Cursor<'_>, value: &mut StoredDateTime) -> Option<()> {
    use DateTimeKind as Kind;
    if kind.has_year() {
        value.year = from.year()?;
    }
    match kind {
        Kind::GYear | Kind::Time => {}
        Kind::GYearMonth => {
            from.expect("-")?;
            value.month = from.month()?;
        }
        Kind::Date | Kind::DateTime => {
            from.expect("-")?;
            value.month = from.month()?;
            from.expect("-")?;
            value.day = from.day()?;
        }
        Kind::GMonth => {
            from.expect("--")?;
            value.month = from.month()?;
            // The form of the first edition of XML Schema.
            let _ = from.expect("--");
        }
        Kind::GMonthDay => {
            from.expect("--")?;
            value.month = from.month()?;
            from.expect("-")?;
            value.day = from.day()?;
        }
        Kind::GDay => {
            from.expect("---")?;
            value.day = from.day()?;
        }
    }
    Some(())
}

/// The fraction of the second; one of zeros alone is none.
// [C14N-4.5.5-2]
fn fraction(from: &mut Cursor<'_>, stash: &mut Stash) -> Option<Option<StoredUnsigned>> {
    if from.expect(".").is_none() {
        return Some(None);
    }
    let digits = from.digits();
    if digits.is_empty() {
        return None;
    }
    let reversed = stash.reversed(digits);
    Some((reversed != StoredUnsigned::Small(0)).then_some(reversed))
}

/// Takes a value that is typed already.
pub(super) fn take(value: &DateTime<'_>, stash: &mut Stash) -> Stored {
    Stored::DateTime(StoredDateTime {
        kind: value.kind,
        year: value.year,
        month: value.month,
        day: value.day,
        time: value.time,
        reversed_fraction: value
            .reversed_fraction
            .map(|number| stash.take_unsigned(&number)),
        zone_minutes: value.zone_minutes,
    })
}
