//! The properties of basic content (section 4.2.6.1, class 60), as a client uses them.

use super::reader::{Fault, Reader};
use super::writer::{put_short, put_table};
use alloc::string::String;
use alloc::vec::Vec;

/// The class of content.
pub const BASIC: u16 = 60;

/// What a message says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The media type of the body.
    pub content_type: Option<String>,
    /// Headers whose values are texts, or can be written as such.
    pub headers: Vec<(String, String)>,
    /// Whether the broker keeps it on disk (`delivery-mode` 2).
    pub persistent: bool,
    /// Ties an answer to its question.
    pub correlation_id: Option<String>,
    /// Where an answer goes.
    pub reply_to: Option<String>,
    /// The publisher's name for it.
    pub message_id: Option<String>,
}

/// What stands before content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Its properties.
    pub properties: Properties,
}

const CONTENT_TYPE: u16 = 1 << 15;
const CONTENT_ENCODING: u16 = 1 << 14;
const HEADERS: u16 = 1 << 13;
const DELIVERY_MODE: u16 = 1 << 12;
const PRIORITY: u16 = 1 << 11;
const CORRELATION_ID: u16 = 1 << 10;
const REPLY_TO: u16 = 1 << 9;
const EXPIRATION: u16 = 1 << 8;
const MESSAGE_ID: u16 = 1 << 7;
/// Kept by a message of which nobody said otherwise.
const PERSISTENT: u8 = 2;

impl Header {
    /// Reads the payload of a header frame.
    pub fn read(payload: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(payload);
        if reader.u16()? != BASIC {
            return Err(reader.fault("content is of an unknown class"));
        }
        reader.u16()?;
        let body_bytes = reader.u64()?;
        let properties = Properties::read(&mut reader)?;
        Ok(Self {
            body_bytes,
            properties,
        })
    }

    /// Writes the payload of a header frame.
    pub fn write(body_bytes: u64, properties: &Properties, out: &mut Vec<u8>) {
        out.extend_from_slice(&BASIC.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&body_bytes.to_be_bytes());
        properties.write(out);
    }
}

impl Properties {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let flags = reader.u16()?;
        if flags & 1 != 0 {
            return Err(reader.fault("content has properties that do not exist"));
        }
        let mut properties = Self::default();
        let short = |flag: u16, reader: &mut Reader<'_>| match flags & flag {
            0 => Ok(None),
            _ => reader.short().map(Some),
        };
        properties.content_type = short(CONTENT_TYPE, reader)?;
        short(CONTENT_ENCODING, reader)?;
        if flags & HEADERS != 0 {
            properties.headers = reader.table()?;
        }
        if flags & DELIVERY_MODE != 0 {
            properties.persistent = reader.u8()? == PERSISTENT;
        }
        if flags & PRIORITY != 0 {
            reader.u8()?;
        }
        properties.correlation_id = short(CORRELATION_ID, reader)?;
        properties.reply_to = short(REPLY_TO, reader)?;
        short(EXPIRATION, reader)?;
        properties.message_id = short(MESSAGE_ID, reader)?;
        Ok(properties)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut flags = 0;
        let mut set = |flag, is_there: bool| flags |= if is_there { flag } else { 0 };
        set(CONTENT_TYPE, self.content_type.is_some());
        set(HEADERS, !self.headers.is_empty());
        set(DELIVERY_MODE, self.persistent);
        set(CORRELATION_ID, self.correlation_id.is_some());
        set(REPLY_TO, self.reply_to.is_some());
        set(MESSAGE_ID, self.message_id.is_some());
        out.extend_from_slice(&flags.to_be_bytes());
        let short = |text: &Option<String>, out: &mut Vec<u8>| {
            text.iter().for_each(|text| put_short(text, out));
        };
        short(&self.content_type, out);
        if !self.headers.is_empty() {
            put_table(&self.headers, out);
        }
        if self.persistent {
            out.push(PERSISTENT);
        }
        short(&self.correlation_id, out);
        short(&self.reply_to, out);
        short(&self.message_id, out);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn properties_come_back_as_they_were() {
        let properties = Properties {
            content_type: Some("application/json".into()),
            headers: [("weir-via".into(), "a".into())].into(),
            persistent: true,
            message_id: Some("7".into()),
            ..Properties::default()
        };
        let mut bytes = Vec::new();
        Header::write(5, &properties, &mut bytes);
        let header = Header::read(&bytes).unwrap();
        assert_eq!((header.body_bytes, header.properties), (5, properties));
        for end in 0..bytes.len() {
            assert!(Header::read(&bytes[..end]).is_err(), "{end}");
        }
    }
}
