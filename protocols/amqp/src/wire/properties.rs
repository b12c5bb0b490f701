//! The properties of a message (AMQP 1.0 section 3.2.4).

use super::condition::Fault;
use super::fields::{Composite, Fields};
use super::reader::{Decode, Reader};
use super::value::{Symbol, Value};
use super::writer::Encode;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// What a message or a correlation is known by (section 3.2.11 and following).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the type of its name")]
pub enum MessageId {
    Ulong(u64),
    Uuid([u8; 16]),
    Binary(Bytes),
    String(String),
}

impl Decode for MessageId {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        Ok(match reader.value()? {
            Value::Ulong(number) => MessageId::Ulong(number),
            Value::Uuid(bytes) => MessageId::Uuid(bytes),
            Value::Binary(bytes) => MessageId::Binary(bytes),
            Value::String(text) => MessageId::String(text),
            _ => return Err(Fault::decode(start, "no message identifier")),
        })
    }
}

impl Encode for MessageId {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            MessageId::Ulong(number) => number.encode(out),
            MessageId::Uuid(bytes) => Value::Uuid(*bytes).encode(out),
            MessageId::Binary(bytes) => bytes.encode(out),
            MessageId::String(text) => text.encode(out),
        }
    }
}

/// The properties section.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Properties {
    pub message_id: Option<MessageId>,
    pub user_id: Option<Bytes>,
    pub to: Option<String>,
    pub subject: Option<String>,
    pub reply_to: Option<String>,
    pub correlation_id: Option<MessageId>,
    pub content_type: Option<Symbol>,
    pub content_encoding: Option<Symbol>,
    /// Milliseconds of Unix time.
    pub absolute_expiry_time: Option<i64>,
    /// Milliseconds of Unix time.
    pub creation_time: Option<i64>,
    pub group_id: Option<String>,
    pub group_sequence: Option<u32>,
    pub reply_to_group_id: Option<String>,
}

/// An address; one that is no text is none here.
fn address(fields: &mut Fields<'_>) -> Result<Option<String>, Fault> {
    let value = fields.optional::<Value>()?;
    Ok(value.and_then(|value| value.as_str().map(String::from)))
}

impl Properties {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut fields = Fields::of(reader)?;
        let properties = Self {
            message_id: fields.optional()?,
            user_id: fields.optional()?,
            to: address(&mut fields)?,
            subject: fields.optional()?,
            reply_to: address(&mut fields)?,
            correlation_id: fields.optional()?,
            content_type: fields.optional()?,
            content_encoding: fields.optional()?,
            absolute_expiry_time: fields.optional()?,
            creation_time: fields.optional()?,
            group_id: fields.optional()?,
            group_sequence: fields.optional()?,
            reply_to_group_id: fields.optional()?,
        };
        fields.finish()?;
        Ok(properties)
    }
}

impl Encode for Properties {
    fn encode(&self, out: &mut Vec<u8>) {
        Composite::new(out, 0x73)
            .field(&self.message_id)
            .field(&self.user_id)
            .field(&self.to)
            .field(&self.subject)
            .field(&self.reply_to)
            .field(&self.correlation_id)
            .field(&self.content_type)
            .field(&self.content_encoding)
            .field(self.absolute_expiry_time)
            .field(self.creation_time)
            .field(&self.group_id)
            .field(self.group_sequence)
            .field(&self.reply_to_group_id)
            .finish();
    }
}
