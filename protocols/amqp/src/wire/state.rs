//! Errors, delivery states and dispositions (AMQP 1.0 sections 2.7.6, 2.8.14 and 3.4).

use super::condition::{Condition, Fault};
use super::fields::{Composite, Fields};
use super::performative::Role;
use super::reader::{Decode, Reader};
use super::value::{Map, Symbol, Value};
use super::writer::Encode;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why something is over or was not taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What it is.
    pub condition: Symbol,
    /// A sentence.
    pub description: Option<String>,
    /// More of it.
    pub info: Map,
}

impl Error {
    /// A condition and a sentence.
    pub fn new(condition: Condition, description: impl Into<String>) -> Self {
        Self {
            condition: Symbol::new(condition.0),
            description: Some(description.into()),
            info: Map::default(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.description {
            Some(sentence) => write!(f, "{}: {sentence}", self.condition),
            None => self.condition.fmt(f),
        }
    }
}

impl Decode for Error {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        if reader.descriptor()? != 0x1d {
            return Err(Fault::decode(start, "an error is expected"));
        }
        let mut fields = Fields::of(reader)?;
        let error = Self {
            condition: fields.required("an error without a condition")?,
            description: fields.optional()?,
            info: fields.or(Map::default())?,
        };
        fields.finish()?;
        Ok(error)
    }
}

impl Encode for Error {
    fn encode(&self, out: &mut Vec<u8>) {
        Composite::new(out, 0x1d)
            .field(&self.condition)
            .field(&self.description)
            .field((!self.info.is_empty()).then(|| self.info.clone()))
            .finish();
    }
}

/// How far a delivery is (section 3.4).
#[derive(Clone, Debug, PartialEq)]
pub enum DeliveryState {
    /// So much of it came.
    Received {
        /// Section that the offset is in.
        section_number: u32,
        /// Bytes of it.
        section_offset: u64,
    },
    /// It is the receiver's.
    Accepted,
    /// It cannot be made sense of.
    Rejected(Option<Error>),
    /// It was not looked at.
    Released,
    /// It is to be changed.
    Modified {
        /// Whether it counts as an attempt.
        delivery_failed: bool,
        /// Whether it should not come here again.
        undeliverable_here: bool,
        /// Annotations to be set.
        annotations: Map,
    },
    /// A state that is not known here, as it came.
    Other(Value),
}

impl DeliveryState {
    /// Whether it is an outcome, after which nothing follows (section 3.4).
    pub fn is_terminal(&self) -> bool {
        !matches!(
            self,
            DeliveryState::Received { .. } | DeliveryState::Other(_)
        )
    }
}

impl Decode for DeliveryState {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let whole = reader.clone();
        let code = reader.descriptor();
        if !matches!(code, Ok(0x23..=0x27)) {
            *reader = whole;
            return reader.value().map(DeliveryState::Other);
        }
        let mut fields = Fields::of(reader)?;
        let state = match code? {
            0x23 => DeliveryState::Received {
                section_number: fields.required("received without a section")?,
                section_offset: fields.required("received without an offset")?,
            },
            0x24 => DeliveryState::Accepted,
            0x25 => DeliveryState::Rejected(fields.optional()?),
            0x26 => DeliveryState::Released,
            _ => DeliveryState::Modified {
                delivery_failed: fields.or(false)?,
                undeliverable_here: fields.or(false)?,
                annotations: fields.or(Map::default())?,
            },
        };
        fields.finish()?;
        Ok(state)
    }
}

impl Encode for DeliveryState {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            DeliveryState::Received {
                section_number,
                section_offset,
            } => Composite::new(out, 0x23)
                .field(section_number)
                .field(section_offset)
                .finish(),
            DeliveryState::Accepted => Composite::new(out, 0x24).finish(),
            DeliveryState::Rejected(error) => Composite::new(out, 0x25).field(error).finish(),
            DeliveryState::Released => Composite::new(out, 0x26).finish(),
            DeliveryState::Modified {
                delivery_failed,
                undeliverable_here,
                annotations,
            } => Composite::new(out, 0x27)
                .unless(false, *delivery_failed)
                .unless(false, *undeliverable_here)
                .field((!annotations.is_empty()).then(|| annotations.clone()))
                .finish(),
            DeliveryState::Other(value) => value.encode(out),
        }
    }
}

/// What becomes of a range of deliveries (section 2.7.6).
#[derive(Clone, Debug, PartialEq)]
pub struct Disposition {
    /// Whose half of the links it speaks for.
    pub role: Role,
    /// The first delivery.
    pub first: u32,
    /// The last one; none for the first alone.
    pub last: Option<u32>,
    /// Whether they are settled.
    pub settled: bool,
    /// How far they are.
    pub state: Option<DeliveryState>,
    /// Whether an answer may wait.
    pub batchable: bool,
}

impl Disposition {
    pub(super) fn read(fields: &mut Fields<'_>) -> Result<Self, Fault> {
        Ok(Self {
            role: fields.required("a disposition without a role")?,
            first: fields.required("a disposition without a delivery")?,
            last: fields.optional()?,
            settled: fields.or(false)?,
            state: fields.optional()?,
            batchable: fields.or(false)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        Composite::new(out, 0x15)
            .field(self.role)
            .field(self.first)
            .field(self.last)
            .unless(false, self.settled)
            .field(&self.state)
            .unless(false, self.batchable)
            .finish();
    }
}
