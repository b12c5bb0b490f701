//! Events, as a vocabulary asks for them.

use super::{EXPANSION_MAX, events_max, reversed};
use crate::error::{DecodeError, Fault};
use crate::infoset::{Event, Name, Pull};
use crate::lexical;
use crate::number::{Decimal, write_f64};
use alloc::string::{String, ToString};
use core::ops::Range;
use weir_exi::limits::Limit;
use weir_exi::value::{DateTime, DateTimeKind, Float, TimeOfDay, Unsigned};
use weir_exi::{Decoder, DecoderSettings, ErrorKind, QName, Value};
use weir_model::{Limits, Time};

/// Reads documents, one after the other.
pub(crate) struct ExiPull<'i> {
    decoder: Decoder<'i>,
    input_bytes: usize,
    limits: Limits,
    at: usize,
    name: OwnName,
    value: Read,
    text: String,
    uri: String,
}

/// A name as met last.
#[derive(Default)]
struct OwnName {
    uri: String,
    local: String,
}

impl OwnName {
    fn set(&mut self, name: &QName<'_>) {
        self.uri.clear();
        self.uri.push_str(name.uri);
        self.local.clear();
        self.local.push_str(name.local);
    }

    fn name(&self) -> Name<'_> {
        Name {
            uri: &self.uri,
            local: &self.local,
        }
    }
}

/// The value met last.
enum Read {
    Text,
    Number(f64),
    Time(Time),
    /// A qualified name: `uri` has its namespace, `text` its local name.
    Name,
}

/// What was met, without what it holds.
#[derive(Clone, Copy)]
enum Met {
    Start,
    Attribute,
    Content,
    End,
    Done,
    Nothing,
}

impl<'i> ExiPull<'i> {
    pub(crate) fn new(input: &'i [u8], settings: DecoderSettings, limits: Limits) -> Self {
        Self {
            limits,
            decoder: Decoder::new(input, settings),
            input_bytes: input.len(),
            at: 0,
            name: OwnName::default(),
            value: Read::Text,
            text: String::new(),
            uri: String::new(),
        }
    }

    /// Goes to another document; the memory is used again.
    pub(crate) fn restart<'j>(self, input: &'j [u8]) -> ExiPull<'j> {
        ExiPull {
            decoder: self.decoder.restart(input),
            input_bytes: input.len(),
            limits: self.limits,
            at: 0,
            name: self.name,
            value: Read::Text,
            text: self.text,
            uri: self.uri,
        }
    }

    /// What a document may cost.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reads over what no vocabulary asks for: comments, instructions, prefixes.
    fn meet(&mut self) -> Result<Met, DecodeError> {
        self.at = self.decoder.consumed().min(self.input_bytes);
        // Events are wide, and looked at where they lie.
        Ok(match self.decoder.next_event() {
            Ok(None | Some(weir_exi::Event::EndDocument)) => Met::Done,
            Ok(Some(weir_exi::Event::StartElement(ref name))) => {
                self.name.set(name);
                Met::Start
            }
            Ok(Some(weir_exi::Event::EndElement)) => Met::End,
            Ok(Some(weir_exi::Event::Attribute(ref name, ref value))) => {
                self.name.set(name);
                self.value = read(value, &mut self.text, &mut self.uri);
                Met::Attribute
            }
            Ok(Some(weir_exi::Event::Characters(ref value))) => {
                self.value = read(value, &mut self.text, &mut self.uri);
                Met::Content
            }
            Ok(Some(weir_exi::Event::EntityReference(_) | weir_exi::Event::DocType { .. })) => {
                let what = "no document type: none is read";
                return Err(DecodeError::expected(self.at, what));
            }
            Ok(Some(_)) => Met::Nothing,
            Err(ref error) => return Err(refused(error, self.input_bytes, &self.limits)),
        })
    }
}

/// Keeps a value: typed where it is, and as text.
fn read(value: &Value<'_>, text: &mut String, uri: &mut String) -> Read {
    text.clear();
    match value {
        Value::Text(own) => {
            text.push_str(own);
            Read::Text
        }
        Value::QName(name) => {
            text.push_str(name.local);
            uri.clear();
            uri.push_str(name.uri);
            Read::Name
        }
        Value::Float(float) => match number(*float) {
            Some(number) => {
                let mut bytes = core::mem::take(text).into_bytes();
                write_f64(number, &mut bytes);
                *text = String::from_utf8(bytes).unwrap_or_default();
                Read::Number(number)
            }
            None => lexical_form(value, text),
        },
        Value::DateTime(time) => match instant(time) {
            Some(time) => Read::Time(time),
            None => lexical_form(value, text),
        },
        other => lexical_form(other, text),
    }
}

fn lexical_form(value: &Value<'_>, text: &mut String) -> Read {
    weir_exi::value::push_lexical(value, text);
    Read::Text
}

/// The double of a float, where it is finite.
fn number(float: Float) -> Option<f64> {
    let decimal = Decimal {
        negative: float.mantissa < 0,
        mantissa: float.mantissa.unsigned_abs(),
        exponent: i32::from(float.exponent),
        cut: false,
    };
    let number = decimal.exact().unwrap_or_else(|| float.to_f64());
    number.is_finite().then_some(number)
}

/// Years around those that an instant can have.
const YEARS: Range<i64> = 1600..2300;

/// The instant of a date and time with a zone, where it is in range.
fn instant(value: &DateTime<'_>) -> Option<Time> {
    let whole = value.kind == DateTimeKind::DateTime && YEARS.contains(&value.year);
    let zone = i64::from(value.zone_minutes.filter(|_| whole)?);
    let fraction = match value.reversed_fraction {
        None => 0,
        Some(Unsigned::Small(digits)) if digits < 1_000_000_000 => reversed(digits) as i64,
        Some(_) => return None,
    };
    let (month, day) = (i64::from(value.month), i64::from(value.day));
    let days = weir_model::time::day_number(value.year, month, day);
    let TimeOfDay {
        hour,
        minute,
        second,
    } = value.time;
    let minutes = i64::from(hour) * 60 + i64::from(minute) - zone;
    let seconds = days
        .checked_mul(86_400)?
        .checked_add(minutes * 60 + i64::from(second))?;
    Time::from_parts(seconds, fraction)
}

fn refused(error: &weir_exi::Error, input_bytes: usize, limits: &Limits) -> DecodeError {
    let at = usize::try_from(error.byte).map_or(input_bytes, |byte| byte.min(input_bytes));
    let fault = match &error.kind {
        ErrorKind::UnexpectedEnd => Fault::Truncated,
        ErrorKind::OverLimit(limit) => over(*limit, limits),
        kind => Fault::Meaning(kind.to_string().into()),
    };
    DecodeError { at, fault }
}

/// What a limit of EXI's is called, and its value.
fn over(limit: Limit, limits: &Limits) -> Fault {
    let (what, limit) = match limit {
        Limit::Depth => ("nesting", limits.depth),
        Limit::ValueBytes => ("bytes of a string", limits.text_bytes),
        Limit::TableBytes => ("bytes of string tables", limits.message_bytes),
        Limit::ExpandedBytes => (
            "bytes of values",
            limits.message_bytes.saturating_mul(EXPANSION_MAX),
        ),
        Limit::Events => ("events of a message", events_max(limits) as usize),
        _ => ("bytes of a message", limits.message_bytes),
    };
    Fault::OverLimit { what, limit }
}

impl Pull for ExiPull<'_> {
    fn at(&self) -> usize {
        self.at
    }

    fn next(&mut self) -> Result<Event<'_>, DecodeError> {
        let met = loop {
            match self.meet()? {
                Met::Nothing => {}
                met => break met,
            }
        };
        Ok(match met {
            Met::Start => Event::Start(self.name.name()),
            Met::Attribute => Event::Attribute(self.name.name()),
            Met::Content => Event::Content,
            Met::End => Event::End,
            Met::Done | Met::Nothing => Event::Done,
        })
    }

    fn text(&self) -> &str {
        &self.text
    }

    fn number(&self) -> Result<f64, DecodeError> {
        match self.value {
            Read::Number(number) => Ok(number),
            _ => lexical::double(self.text.trim_ascii(), self.at),
        }
    }

    fn time(&self) -> Result<Time, DecodeError> {
        match self.value {
            Read::Time(time) => Ok(time),
            _ => Time::parse_rfc3339(self.text.trim_ascii().as_bytes())
                .map_err(|error| DecodeError::expected(self.at, error.expected)),
        }
    }

    fn name(&self) -> Result<Name<'_>, DecodeError> {
        let uri = match self.value {
            Read::Name => &*self.uri,
            _ => "",
        };
        let local = self.text.split_once(':').map_or(&*self.text, |(_, it)| it);
        Ok(Name { uri, local })
    }

    fn long(&mut self) {}
}
