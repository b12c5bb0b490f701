//! A message in AMQP's own format: its sections, in their order (AMQP 1.0 section 3.2).

use super::condition::Fault;
use super::fields::{Composite, Fields};
use super::properties::Properties;
use super::reader::Reader;
use super::value::{Map, Value};
use super::writer::Encode;
use alloc::boxed::Box;
use alloc::vec::Vec;
use bytes::Bytes;

/// How a message is to be carried (section 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Header {
    pub durable: bool,
    pub priority: u8,
    /// Milliseconds.
    pub ttl: Option<u32>,
    pub first_acquirer: bool,
    pub delivery_count: u32,
}

impl Default for Header {
    fn default() -> Self {
        Self {
            durable: false,
            priority: 4,
            ttl: None,
            first_acquirer: false,
            delivery_count: 0,
        }
    }
}

/// What a message holds (sections 3.2.6 to 3.2.8).
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Bytes, in one section or several.
    Data(Vec<Bytes>),
    /// Lists of values.
    Sequence(Vec<Vec<Value>>),
    /// One value.
    Value(Value),
}

/// A message.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the section of its name")]
pub struct Message {
    pub header: Option<Header>,
    pub delivery_annotations: Map,
    pub message_annotations: Map,
    pub properties: Option<Box<Properties>>,
    pub application_properties: Map,
    pub body: Body,
    pub footer: Map,
}

impl Message {
    /// A message of these bytes and nothing else.
    pub fn of(data: Bytes) -> Self {
        Self {
            header: None,
            delivery_annotations: Map::default(),
            message_annotations: Map::default(),
            properties: None,
            application_properties: Map::default(),
            body: Body::Data(alloc::vec![data]),
            footer: Map::default(),
        }
    }

    /// Reads the payload of a delivery; data stays where it is.
    pub fn read(bytes: &Bytes) -> Result<Self, Fault> {
        let mut message = Self::of(Bytes::new());
        let mut body = None;
        let mut reader = Reader::new(bytes, 0);
        let mut last = 0;
        while !reader.is_empty() {
            let start = reader.offset();
            let code = reader.descriptor()?;
            // [AMQP-3.2-1]
            if code < last || (code == last && !matches!(code, 0x75 | 0x76)) {
                return Err(Fault::decode(start, "sections out of their order"));
            }
            last = code;
            match code {
                0x70 => message.header = Some(header(&mut reader)?),
                0x71 => message.delivery_annotations = map(&mut reader)?,
                0x72 => message.message_annotations = map(&mut reader)?,
                0x73 => message.properties = Some(Box::new(Properties::read(&mut reader)?)),
                0x74 => message.application_properties = map(&mut reader)?,
                0x75..=0x77 => part(code, &mut reader, bytes, &mut body)?,
                0x78 => message.footer = map(&mut reader)?,
                _ => return Err(Fault::decode(start, "a section that is not known")),
            }
        }
        match body {
            Some(body) => message.body = body,
            None => return Err(Fault::decode(bytes.len(), "a message without a body")),
        }
        Ok(message)
    }

    /// Appends the sections.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_head(out);
        match &self.body {
            Body::Data(parts) => parts.iter().for_each(|part| {
                Self::write_data_head(part.len(), out);
                out.extend_from_slice(part);
            }),
            Body::Sequence(lists) => lists.iter().for_each(|list| {
                out.extend_from_slice(&[0, 0x53, 0x76]);
                Value::List(list.clone()).encode(out);
            }),
            Body::Value(value) => {
                out.extend_from_slice(&[0, 0x53, 0x77]);
                value.encode(out);
            }
        }
        write_map(0x78, &self.footer, out);
    }

    /// Appends the sections before the body.
    pub fn write_head(&self, out: &mut Vec<u8>) {
        if let Some(header) = &self.header {
            Composite::new(out, 0x70)
                .unless(false, header.durable)
                .unless(4, header.priority)
                .field(header.ttl)
                .unless(false, header.first_acquirer)
                .unless(0, header.delivery_count)
                .finish();
        }
        write_map(0x71, &self.delivery_annotations, out);
        write_map(0x72, &self.message_annotations, out);
        if let Some(properties) = &self.properties {
            properties.encode(out);
        }
        write_map(0x74, &self.application_properties, out);
    }

    /// Appends what stands before so many bytes of data.
    pub fn write_data_head(bytes: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0, 0x53, 0x75]);
        match u8::try_from(bytes) {
            Ok(length) => out.extend_from_slice(&[0xa0, length]),
            Err(_) => {
                out.push(0xb0);
                out.extend_from_slice(&(bytes as u32).to_be_bytes());
            }
        }
    }
}

fn write_map(code: u8, map: &Map, out: &mut Vec<u8>) {
    if !map.is_empty() {
        out.extend_from_slice(&[0, 0x53, code]);
        map.encode(out);
    }
}

fn header(reader: &mut Reader<'_>) -> Result<Header, Fault> {
    let mut fields = Fields::of(reader)?;
    let header = Header {
        durable: fields.or(false)?,
        priority: fields.or(4)?,
        ttl: fields.optional()?,
        first_acquirer: fields.or(false)?,
        delivery_count: fields.or(0)?,
    };
    fields.finish()?;
    Ok(header)
}

fn map(reader: &mut Reader<'_>) -> Result<Map, Fault> {
    Ok(reader.optional()?.unwrap_or_default())
}

/// A section of the body; of data and lists there may be several, of one kind.
fn part(
    code: u64,
    reader: &mut Reader<'_>,
    bytes: &Bytes,
    body: &mut Option<Body>,
) -> Result<(), Fault> {
    let start = reader.offset();
    match (code, body) {
        (0x75, body @ None) => *body = Some(Body::Data(alloc::vec![data(reader, bytes)?])),
        (0x75, Some(Body::Data(parts))) => parts.push(data(reader, bytes)?),
        (0x76, body @ None) => *body = Some(Body::Sequence(alloc::vec![list(reader)?])),
        (0x76, Some(Body::Sequence(lists))) => lists.push(list(reader)?),
        (0x77, body @ None) => *body = Some(Body::Value(reader.value()?)),
        _ => return Err(Fault::decode(start, "a body of two kinds")),
    }
    Ok(())
}

fn data(reader: &mut Reader<'_>, bytes: &Bytes) -> Result<Bytes, Fault> {
    let start = reader.offset();
    let found = match reader.u8()? {
        0xa0 => reader.variable(false)?,
        0xb0 => reader.variable(true)?,
        _ => return Err(Fault::decode(start, "bytes are expected")),
    };
    let end = reader.offset();
    Ok(bytes.slice(end - found.len()..end))
}

fn list(reader: &mut Reader<'_>) -> Result<Vec<Value>, Fault> {
    let start = reader.offset();
    match reader.value()? {
        Value::List(values) => Ok(values),
        _ => Err(Fault::decode(start, "a list is expected")),
    }
}
