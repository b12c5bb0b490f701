//! The paper's message: several value fields, strings, integers, floating point (001, section II-A), as a
//! monitored system sends at high frequency; larger messages have more of the same fields.

use super::coding::protobuf;
use weir_codec::Format;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Extra, Observation, Time, Value};

/// Messages of one size, each unlike the last.
pub(super) struct Messages {
    /// As many as differ before they come again.
    made: Vec<Batch>,
    next: usize,
}

/// Messages that differ.
const MADE: usize = 32;
/// When the first one is of: 2026-01-01T00:00:00Z.
const BEGIN_MS: i64 = 1_767_225_600_000;

impl Messages {
    /// Messages of exactly so many bytes in Protobuf, whatever they are encoded in.
    pub(super) fn new(bytes: usize, topic: &str) -> Result<Self, String> {
        let format = protobuf()?;
        let fields = fields_within(format, bytes, topic)?;
        let made = (0..MADE).map(|number| sized(format, bytes, topic, fields, number));
        Ok(Self {
            made: made.collect::<Result<_, _>>()?,
            next: 0,
        })
    }

    /// The next message, as values.
    pub(super) fn next(&mut self) -> &Batch {
        self.next = (self.next + 1) % self.made.len();
        &self.made[self.next]
    }
}

/// The most fields whose message is no larger with a text of one letter; text fields are filled up.
fn fields_within(format: &Format, bytes: usize, topic: &str) -> Result<usize, String> {
    let size = |fields: usize| encoded(format, &message(topic, fields, 0, 1)).len();
    let mut fields = (1..).take_while(|&fields| size(fields) + 2 <= bytes).last();
    // Two of a message are needed: a number beside a text.
    fields = fields.filter(|fields| *fields >= 2);
    fields.ok_or_else(|| format!("a message of several fields has more than {bytes} bytes"))
}

fn sized(
    format: &Format,
    bytes: usize,
    topic: &str,
    fields: usize,
    number: usize,
) -> Result<Batch, String> {
    let fits = |pad: &usize| encoded(format, &message(topic, fields, number, *pad)).len() == bytes;
    let pad = (1..=bytes).find(fits);
    // A length field that grows by a byte may step over one size: one field less, then.
    match pad {
        Some(pad) => Ok(message(topic, fields, number, pad)),
        None if fields > 2 => sized(format, bytes, topic, fields - 1, number),
        None => Err(format!("no message has exactly {bytes} bytes")),
    }
}

fn encoded(format: &Format, message: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    (format.encode)(message, &mut out);
    out
}

/// Fields in turn: a text of so many letters, an integer, a floating-point number, a truth.
fn message(topic: &str, fields: usize, number: usize, letters: usize) -> Batch {
    let mut builder = BatchBuilder::new();
    let text = "n".repeat(letters);
    let time = Time::from_millis(BEGIN_MS + number as i64);
    for field in 0..fields {
        let value = match field % 4 {
            0 if field == 0 => Value::Text(&text),
            0 => Value::Text("nominal"),
            1 => Value::Number((1000 + number + field) as f64),
            2 => Value::Number(20.0 + number as f64 / 7.0 + field as f64),
            _ => Value::Bool(number.is_multiple_of(2)),
        };
        let name = format!("{topic}/{field}");
        // Such a field is valid whatever its number.
        let _ = builder.push(&Observation {
            naming: Naming::Topic,
            topic: &name,
            sensor: None,
            property: None,
            unit: None,
            description: 0,
            value,
            time: (field == 0).then_some(time),
            place: None,
            extra: Extra::default(),
        });
    }
    builder.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::services::cells::PAYLOADS;
    use crate::services::coding::{Coding, Reader};

    #[test]
    fn messages_have_exactly_their_size_differ_and_read_back_with_all_their_fields() {
        for coding in [Coding::Protobuf, Coding::Soap, Coding::Exi] {
            let mut reader = Reader::new(coding);
            for bytes in PAYLOADS {
                let mut messages = Messages::new(bytes, "live").unwrap();
                let mut last = Vec::new();
                for _ in 0..MADE + 1 {
                    let message = messages.next().clone();
                    let sent = coding.encode("live", &message).unwrap();
                    assert_eq!(encoded(protobuf().unwrap(), &message).len(), bytes);
                    assert_ne!(sent, last);
                    assert_eq!(reader.deserialize(&sent).unwrap(), message.len());
                    assert!(message.len() >= 2);
                    last = sent;
                }
            }
        }
    }

    #[test]
    fn a_message_that_cannot_be_so_small_is_refused() {
        assert!(Messages::new(5, "live").is_err());
    }
}
