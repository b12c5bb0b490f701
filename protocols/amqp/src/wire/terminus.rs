//! Source and target (AMQP 1.0 section 3.5).

use super::condition::Fault;
use super::fields::{Composite, Fields};
use super::reader::{Decode, Reader};
use super::value::{Map, Symbol, Value};
use super::writer::Encode;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Where messages come from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// The node's address.
    pub address: Option<String>,
    /// What is kept of it: 0 nothing, 1 configuration, 2 unsettled deliveries too (section 3.5.5).
    pub durable: u32,
    /// When its expiry is counted from (section 3.5.6).
    pub expiry_policy: Option<Symbol>,
    /// How long it then lives, seconds.
    pub timeout: u32,
    /// Whether the peer is asked to make a node.
    pub dynamic: bool,
    /// Of the node to be made.
    pub dynamic_node_properties: Map,
    /// `move` or `copy`.
    pub distribution_mode: Option<Symbol>,
    /// Which messages (section 3.5.8).
    pub filter: Map,
    /// Outcome of what is not settled otherwise.
    pub default_outcome: Option<Value>,
    /// Outcomes that may be told, descriptors.
    pub outcomes: Vec<Symbol>,
    /// Extensions.
    pub capabilities: Vec<Symbol>,
}

/// Where messages go to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// The node's address; none for each message's own.
    pub address: Option<String>,
    /// As of a source.
    pub durable: u32,
    /// As of a source.
    pub expiry_policy: Option<Symbol>,
    /// As of a source.
    pub timeout: u32,
    /// As of a source.
    pub dynamic: bool,
    /// As of a source.
    pub dynamic_node_properties: Map,
    /// Extensions.
    pub capabilities: Vec<Symbol>,
}

/// What a link's target is.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetKind {
    /// A node.
    Node(Box<Target>),
    /// A transaction coordinator (section 4.5.1).
    Coordinator,
}

/// An address, which may be of any type; those that are no text are none here.
fn address(fields: &mut Fields<'_>) -> Result<Option<String>, Fault> {
    let start = fields.offset();
    match fields.optional::<Value>()? {
        None => Ok(None),
        Some(value) => match value.as_str() {
            Some(text) => Ok(Some(text.to_string())),
            None => Err(Fault::field(start, "an address is text")),
        },
    }
}

impl Source {
    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let mut fields = Fields::of(reader)?;
        let source = Self {
            address: address(&mut fields)?,
            durable: fields.or(0)?,
            expiry_policy: fields.optional()?,
            timeout: fields.or(0)?,
            dynamic: fields.or(false)?,
            dynamic_node_properties: fields.or(Map::default())?,
            distribution_mode: fields.optional()?,
            filter: fields.or(Map::default())?,
            default_outcome: fields.optional()?,
            outcomes: fields.or(Vec::new())?,
            capabilities: fields.or(Vec::new())?,
        };
        fields.finish()?;
        Ok(source)
    }
}

impl Encode for Source {
    fn encode(&self, out: &mut Vec<u8>) {
        let filled = |map: &Map| (!map.is_empty()).then(|| map.clone());
        Composite::new(out, 0x28)
            .field(&self.address)
            .unless(0, self.durable)
            .field(&self.expiry_policy)
            .unless(0, self.timeout)
            .unless(false, self.dynamic)
            .field(filled(&self.dynamic_node_properties))
            .field(&self.distribution_mode)
            .field(filled(&self.filter))
            .field(&self.default_outcome)
            .field(&self.outcomes)
            .field(&self.capabilities)
            .finish();
    }
}

impl Encode for Target {
    fn encode(&self, out: &mut Vec<u8>) {
        let properties = &self.dynamic_node_properties;
        Composite::new(out, 0x29)
            .field(&self.address)
            .unless(0, self.durable)
            .field(&self.expiry_policy)
            .unless(0, self.timeout)
            .unless(false, self.dynamic)
            .field((!properties.is_empty()).then(|| properties.clone()))
            .field(&self.capabilities)
            .finish();
    }
}

impl Decode for Source {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        match reader.descriptor()? {
            0x28 => Self::read(reader),
            _ => Err(Fault::decode(start, "a source is expected")),
        }
    }
}

impl Decode for TargetKind {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        match reader.descriptor()? {
            0x29 => {}
            0x30 => {
                reader.value()?;
                return Ok(TargetKind::Coordinator);
            }
            _ => return Err(Fault::decode(start, "a target is expected")),
        }
        let mut fields = Fields::of(reader)?;
        let target = Target {
            address: address(&mut fields)?,
            durable: fields.or(0)?,
            expiry_policy: fields.optional()?,
            timeout: fields.or(0)?,
            dynamic: fields.or(false)?,
            dynamic_node_properties: fields.or(Map::default())?,
            capabilities: fields.or(Vec::new())?,
        };
        fields.finish()?;
        Ok(TargetKind::Node(Box::new(target)))
    }
}

impl Encode for TargetKind {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            TargetKind::Node(target) => target.encode(out),
            TargetKind::Coordinator => Composite::new(out, 0x30).finish(),
        }
    }
}
