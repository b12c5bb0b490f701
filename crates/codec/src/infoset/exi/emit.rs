//! What a vocabulary writes, as events.

use super::{NANOS, reversed};
use crate::infoset::{Atom, Emit, Name};
use crate::number::{TimeWriter, write_f64};
use alloc::vec::Vec;
use weir_exi::value::{DateTime, DateTimeKind, Float, TimeOfDay, Unsigned};
use weir_exi::{Encoder, QName, Value};
use weir_model::Time;

/// Writes documents, one after the other.
pub(crate) struct ExiEmit {
    encoder: Encoder,
    /// Whether values have the types of a schema.
    typed: bool,
    /// Whether nothing stands yet in the element begun last.
    empty: bool,
    times: TimeWriter,
    text: Vec<u8>,
}

impl ExiEmit {
    /// Writes with an encoder.
    pub(crate) fn new(encoder: Encoder, typed: bool) -> Self {
        Self {
            encoder,
            typed,
            empty: false,
            times: TimeWriter::default(),
            text: Vec::new(),
        }
    }

    /// Begins a document, whatever became of the one before.
    pub(crate) fn begin(&mut self) {
        self.encoder.restart();
        self.empty = false;
        self.event(&weir_exi::Event::StartDocument);
    }

    /// Ends the document and appends it.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        self.event(&weir_exi::Event::EndDocument);
        self.encoder.take(out);
    }

    /// What vocabularies write is in the order of their schemas; a refusal would be a fault of ours.
    fn event(&mut self, event: &weir_exi::Event<'_>) {
        let taken = self.encoder.event(event);
        debug_assert!(taken.is_ok(), "{taken:?} of {event:?}");
    }

    fn value(&mut self, value: Atom<'_>, give: impl Fn(Value<'_>) -> weir_exi::Event<'_>) {
        let taken = match value {
            Atom::Text(text) => self.encoder.event(&give(Value::Text(text))),
            Atom::Name(name) => self.encoder.event(&give(Value::QName(qname(name)))),
            Atom::Time(time) if self.typed => self.encoder.event(&give(date_time(time))),
            Atom::Number(number) if self.typed => match float(number, &mut self.text) {
                Some(float) => self.encoder.event(&give(float)),
                None => return self.rendered(value, give),
            },
            other => return self.rendered(other, give),
        };
        debug_assert!(taken.is_ok(), "{taken:?} of {value:?}");
    }

    fn rendered(&mut self, value: Atom<'_>, give: impl Fn(Value<'_>) -> weir_exi::Event<'_>) {
        self.text.clear();
        render(value, &mut self.times, &mut self.text);
        let text = core::str::from_utf8(&self.text).unwrap_or_default();
        let taken = self.encoder.event(&give(Value::Text(text)));
        debug_assert!(taken.is_ok(), "{taken:?} of {value:?}");
    }
}

/// Appends a value as XML has it, but for escapes, which EXI needs none of.
fn render(value: Atom<'_>, times: &mut TimeWriter, out: &mut Vec<u8>) {
    match value {
        Atom::Text(text) | Atom::Json(text) => out.extend_from_slice(text.as_bytes()),
        Atom::JsonString(text) => crate::syntax::json_text::write_string(text, out),
        Atom::Number(number) | Atom::Result(number) => write_f64(number, out),
        Atom::Bool(truth) => out.extend_from_slice(if truth { b"true" } else { b"false" }),
        Atom::Time(time) => times.write(time, out),
        Atom::Name(name) => out.extend_from_slice(name.local.as_bytes()),
        Atom::Pair(one, other) => {
            write_f64(one, out);
            out.push(b' ');
            write_f64(other, out);
        }
        Atom::Id(letter, number) => {
            out.extend_from_slice(letter.as_bytes());
            write_f64(number as f64, out);
        }
    }
}

impl Emit for ExiEmit {
    fn start(&mut self, name: Name<'static>) {
        self.event(&weir_exi::Event::StartElement(qname(name)));
        self.empty = true;
    }

    fn attribute(&mut self, name: Name<'static>, value: Atom<'_>) {
        self.value(value, |value| {
            weir_exi::Event::Attribute(qname(name), value)
        });
    }

    #[allow(
        clippy::redundant_closure,
        reason = "the variant as a function has one lifetime, the closure any"
    )]
    fn content(&mut self, value: Atom<'_>) {
        self.empty = false;
        self.value(value, |value| weir_exi::Event::Characters(value));
    }

    fn end(&mut self, _name: Name<'static>) {
        // A strict grammar of a simple type wants content, if only none of it (section 8.5.4.1.3.1).
        if core::mem::replace(&mut self.empty, false) && self.typed {
            let _no_simple_type = self
                .encoder
                .event(&weir_exi::Event::Characters(Value::Text("")));
        }
        self.event(&weir_exi::Event::EndElement);
    }
}

fn qname(name: Name<'static>) -> QName<'static> {
    QName::new(name.uri, name.local)
}

/// The shortest decimal of a double as mantissa and exponent (section 7.1.4).
fn float(number: f64, text: &mut Vec<u8>) -> Option<Value<'static>> {
    text.clear();
    write_f64(number, text);
    let mut float = Float {
        mantissa: 0,
        exponent: 0,
    };
    let (mut negative, mut decimals, mut pointed, mut exponent) = (false, 0_i32, false, 0_i32);
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'-' => negative = true,
            b'.' => pointed = true,
            b'e' => {
                let rest = core::str::from_utf8(bytes.as_slice()).ok()?;
                exponent = rest.parse().ok()?;
                break;
            }
            digit => {
                let digit = i64::from(digit.checked_sub(b'0')?);
                float.mantissa = float.mantissa.checked_mul(10)?.checked_add(digit)?;
                decimals += i32::from(pointed);
            }
        }
    }
    if negative {
        float.mantissa = -float.mantissa;
    }
    float.exponent = i16::try_from(exponent - decimals).ok()?;
    Some(Value::Float(float))
}

/// An instant in UTC (section 7.1.8).
fn date_time(time: Time) -> Value<'static> {
    let nanos = time.nanos().rem_euclid(NANOS) as u64;
    let seconds = time.nanos().div_euclid(NANOS);
    let (year, month, day) = weir_model::time::civil(seconds.div_euclid(86_400));
    let of_day = seconds.rem_euclid(86_400);
    Value::DateTime(DateTime {
        kind: DateTimeKind::DateTime,
        year,
        month: month as u8,
        day: day as u8,
        time: TimeOfDay {
            hour: (of_day / 3600) as u8,
            minute: (of_day / 60 % 60) as u8,
            second: (of_day % 60) as u8,
        },
        reversed_fraction: (nanos > 0).then(|| Unsigned::Small(reversed(nanos))),
        zone_minutes: Some(0),
    })
}
