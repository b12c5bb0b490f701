//! The nine performatives (AMQP 1.0 section 2.7).

use super::condition::{Condition, Fault};
use super::fields::{Composite, Fields};
use super::frame::{FrameHeader, close_frame, open_frame};
use super::reader::{Decode, Reader};
use super::state::{Disposition, Error};
use super::terminus::{Source, TargetKind};
use super::transfer::Transfer;
use super::value::{Map, Symbol};
use super::writer::Encode;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Which end of a link (section 2.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Messages go from here.
    Sender,
    /// Messages come here.
    Receiver,
}

impl Decode for Role {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(if bool::decode(reader)? {
            Role::Receiver
        } else {
            Role::Sender
        })
    }
}

impl Encode for Role {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self == Role::Receiver).encode(out);
    }
}

/// How a sender settles (section 2.8.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderSettles {
    /// Once it is told that the receiver has it.
    Unsettled,
    /// When it sends.
    Settled,
    /// As each delivery says.
    #[default]
    Mixed,
}

/// When a receiver settles (section 2.8.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiverSettles {
    /// Of its own accord.
    #[default]
    First,
    /// After the sender has.
    Second,
}

impl Decode for SenderSettles {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        Ok(match u8::decode(reader)? {
            0 => SenderSettles::Unsettled,
            1 => SenderSettles::Settled,
            2 => SenderSettles::Mixed,
            _ => return Err(Fault::field(start, "a settle mode that is none")),
        })
    }
}

impl Encode for SenderSettles {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u8).encode(out);
    }
}

impl Decode for ReceiverSettles {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        Ok(match u8::decode(reader)? {
            0 => ReceiverSettles::First,
            1 => ReceiverSettles::Second,
            _ => return Err(Fault::field(start, "a settle mode that is none")),
        })
    }
}

impl Encode for ReceiverSettles {
    fn encode(&self, out: &mut Vec<u8>) {
        (*self as u8).encode(out);
    }
}

/// Opens a connection (section 2.7.1).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Open {
    pub container_id: String,
    pub hostname: Option<String>,
    /// Bytes.
    pub max_frame_size: u32,
    pub channel_max: u16,
    /// Milliseconds.
    pub idle_time_out: Option<u32>,
    pub outgoing_locales: Vec<Symbol>,
    pub incoming_locales: Vec<Symbol>,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Map,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            container_id: String::new(),
            hostname: None,
            max_frame_size: u32::MAX,
            channel_max: u16::MAX,
            idle_time_out: None,
            outgoing_locales: Vec::new(),
            incoming_locales: Vec::new(),
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: Map::default(),
        }
    }
}

/// Begins a session (section 2.7.2).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Begin {
    pub remote_channel: Option<u16>,
    pub next_outgoing_id: u32,
    pub incoming_window: u32,
    pub outgoing_window: u32,
    pub handle_max: u32,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Map,
}

impl Default for Begin {
    fn default() -> Self {
        Self {
            remote_channel: None,
            next_outgoing_id: 0,
            incoming_window: 0,
            outgoing_window: 0,
            handle_max: u32::MAX,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: Map::default(),
        }
    }
}

/// Attaches a link (section 2.7.3).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Attach {
    pub name: String,
    pub handle: u32,
    pub role: Role,
    pub snd_settle_mode: SenderSettles,
    pub rcv_settle_mode: ReceiverSettles,
    pub source: Option<Box<Source>>,
    pub target: Option<TargetKind>,
    /// Delivery tags and their states.
    pub unsettled: Map,
    pub incomplete_unsettled: bool,
    pub initial_delivery_count: Option<u32>,
    /// Bytes; none for no limit.
    pub max_message_size: Option<u64>,
    pub offered_capabilities: Vec<Symbol>,
    pub desired_capabilities: Vec<Symbol>,
    pub properties: Map,
}

impl Attach {
    /// An attach with nothing but what each has.
    pub fn new(name: impl Into<String>, handle: u32, role: Role) -> Self {
        Self {
            name: name.into(),
            handle,
            role,
            snd_settle_mode: SenderSettles::Mixed,
            rcv_settle_mode: ReceiverSettles::First,
            source: None,
            target: None,
            unsettled: Map::default(),
            incomplete_unsettled: false,
            initial_delivery_count: (role == Role::Sender).then_some(0),
            max_message_size: None,
            offered_capabilities: Vec::new(),
            desired_capabilities: Vec::new(),
            properties: Map::default(),
        }
    }
}

/// Tells the state of windows and credit (section 2.7.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Flow {
    pub next_incoming_id: Option<u32>,
    pub incoming_window: u32,
    pub next_outgoing_id: u32,
    pub outgoing_window: u32,
    /// The link; none for the session alone.
    pub handle: Option<u32>,
    pub delivery_count: Option<u32>,
    pub link_credit: Option<u32>,
    pub available: Option<u32>,
    pub drain: bool,
    pub echo: bool,
}

/// Detaches a link, or closes it for good (section 2.7.7).
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "fields are those of the section")]
pub struct Detach {
    pub handle: u32,
    pub closed: bool,
    pub error: Option<Error>,
}

/// What a frame says.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the performative of its name")]
pub enum Performative {
    Open(Box<Open>),
    Begin(Box<Begin>),
    Attach(Box<Attach>),
    Flow(Flow),
    Transfer(Transfer),
    Disposition(Disposition),
    Detach(Detach),
    End(Option<Error>),
    Close(Option<Error>),
}

impl Performative {
    /// Reads the body of an AMQP frame, whose bytes begin with its header; what follows the performative
    /// is the payload. `None` of an empty frame, which only says that the peer is there (section 2.4.5).
    pub fn read<'a>(
        header: &FrameHeader,
        frame: &'a [u8],
    ) -> Result<Option<(Self, &'a [u8])>, Fault> {
        let body = &frame[header.body..header.end];
        if body.is_empty() {
            return Ok(None);
        }
        let mut reader = Reader::new(body, header.body);
        let code = reader.descriptor()?;
        let mut fields = Fields::of(&mut reader)?;
        let read = match code {
            0x10 => Performative::Open(Box::new(open(&mut fields)?)),
            0x11 => Performative::Begin(Box::new(begin(&mut fields)?)),
            0x12 => Performative::Attach(Box::new(attach(&mut fields)?)),
            0x13 => Performative::Flow(flow(&mut fields)?),
            0x14 => Performative::Transfer(Transfer::read(&mut fields)?),
            0x15 => Performative::Disposition(Disposition::read(&mut fields)?),
            0x16 => Performative::Detach(Detach {
                handle: fields.required("a detach without a handle")?,
                closed: fields.or(false)?,
                error: fields.optional()?,
            }),
            0x17 => Performative::End(fields.optional()?),
            0x18 => Performative::Close(fields.optional()?),
            _ => {
                let rule = "a performative that is not known";
                return Err(Fault::new(Condition::NOT_IMPLEMENTED, header.body, rule));
            }
        };
        fields.finish()?;
        Ok(Some((read, &body[reader.taken()..])))
    }

    /// Appends a frame with this performative and so many bytes of payload that are appended next.
    pub fn write(&self, channel: u16, payload_bytes: usize, out: &mut Vec<u8>) {
        let start = open_frame(false, channel, out);
        match self {
            Performative::Open(of) => write_open(of, out),
            Performative::Begin(of) => write_begin(of, out),
            Performative::Attach(of) => write_attach(of, out),
            Performative::Flow(of) => write_flow(of, out),
            Performative::Transfer(of) => of.encode(out),
            Performative::Disposition(of) => of.encode(out),
            Performative::Detach(of) => Composite::new(out, 0x16)
                .field(of.handle)
                .unless(false, of.closed)
                .field(&of.error)
                .finish(),
            Performative::End(error) => Composite::new(out, 0x17).field(error).finish(),
            Performative::Close(error) => Composite::new(out, 0x18).field(error).finish(),
        }
        close_frame(start, payload_bytes, out);
    }

    /// Appends an empty frame (section 2.4.5).
    pub fn write_heartbeat(out: &mut Vec<u8>) {
        let start = open_frame(false, 0, out);
        close_frame(start, 0, out);
    }
}

fn open(fields: &mut Fields<'_>) -> Result<Open, Fault> {
    Ok(Open {
        container_id: fields.required("an open without a container")?,
        hostname: fields.optional()?,
        max_frame_size: fields.or(u32::MAX)?,
        channel_max: fields.or(u16::MAX)?,
        idle_time_out: fields.optional()?,
        outgoing_locales: fields.or(Vec::new())?,
        incoming_locales: fields.or(Vec::new())?,
        offered_capabilities: fields.or(Vec::new())?,
        desired_capabilities: fields.or(Vec::new())?,
        properties: fields.or(Map::default())?,
    })
}

fn write_open(of: &Open, out: &mut Vec<u8>) {
    Composite::new(out, 0x10)
        .field(&of.container_id)
        .field(&of.hostname)
        .unless(u32::MAX, of.max_frame_size)
        .unless(u16::MAX, of.channel_max)
        .field(of.idle_time_out)
        .field(&of.outgoing_locales)
        .field(&of.incoming_locales)
        .field(&of.offered_capabilities)
        .field(&of.desired_capabilities)
        .field(filled(&of.properties))
        .finish();
}

fn begin(fields: &mut Fields<'_>) -> Result<Begin, Fault> {
    Ok(Begin {
        remote_channel: fields.optional()?,
        next_outgoing_id: fields.required("a begin without a next outgoing id")?,
        incoming_window: fields.required("a begin without an incoming window")?,
        outgoing_window: fields.required("a begin without an outgoing window")?,
        handle_max: fields.or(u32::MAX)?,
        offered_capabilities: fields.or(Vec::new())?,
        desired_capabilities: fields.or(Vec::new())?,
        properties: fields.or(Map::default())?,
    })
}

fn write_begin(of: &Begin, out: &mut Vec<u8>) {
    Composite::new(out, 0x11)
        .field(of.remote_channel)
        .field(of.next_outgoing_id)
        .field(of.incoming_window)
        .field(of.outgoing_window)
        .unless(u32::MAX, of.handle_max)
        .field(&of.offered_capabilities)
        .field(&of.desired_capabilities)
        .field(filled(&of.properties))
        .finish();
}

fn attach(fields: &mut Fields<'_>) -> Result<Attach, Fault> {
    Ok(Attach {
        name: fields.required("an attach without a name")?,
        handle: fields.required("an attach without a handle")?,
        role: fields.required("an attach without a role")?,
        snd_settle_mode: fields.or(SenderSettles::Mixed)?,
        rcv_settle_mode: fields.or(ReceiverSettles::First)?,
        source: fields.optional()?.map(Box::new),
        target: fields.optional()?,
        unsettled: fields.or(Map::default())?,
        incomplete_unsettled: fields.or(false)?,
        initial_delivery_count: fields.optional()?,
        max_message_size: fields.optional()?,
        offered_capabilities: fields.or(Vec::new())?,
        desired_capabilities: fields.or(Vec::new())?,
        properties: fields.or(Map::default())?,
    })
}

fn write_attach(of: &Attach, out: &mut Vec<u8>) {
    Composite::new(out, 0x12)
        .field(&of.name)
        .field(of.handle)
        .field(of.role)
        .unless(SenderSettles::Mixed, of.snd_settle_mode)
        .unless(ReceiverSettles::First, of.rcv_settle_mode)
        .field(of.source.as_deref())
        .field(&of.target)
        .field(filled(&of.unsettled))
        .unless(false, of.incomplete_unsettled)
        .field(of.initial_delivery_count)
        .field(of.max_message_size)
        .field(&of.offered_capabilities)
        .field(&of.desired_capabilities)
        .field(filled(&of.properties))
        .finish();
}

fn flow(fields: &mut Fields<'_>) -> Result<Flow, Fault> {
    Ok(Flow {
        next_incoming_id: fields.optional()?,
        incoming_window: fields.required("a flow without an incoming window")?,
        next_outgoing_id: fields.required("a flow without a next outgoing id")?,
        outgoing_window: fields.required("a flow without an outgoing window")?,
        handle: fields.optional()?,
        delivery_count: fields.optional()?,
        link_credit: fields.optional()?,
        available: fields.optional()?,
        drain: fields.or(false)?,
        echo: fields.or(false)?,
        // The section's last field says nothing to anybody here.
    })
    .and_then(|flow| fields.optional::<Map>().map(|_properties| flow))
}

fn write_flow(of: &Flow, out: &mut Vec<u8>) {
    Composite::new(out, 0x13)
        .field(of.next_incoming_id)
        .field(of.incoming_window)
        .field(of.next_outgoing_id)
        .field(of.outgoing_window)
        .field(of.handle)
        .field(of.delivery_count)
        .field(of.link_credit)
        .field(of.available)
        .unless(false, of.drain)
        .unless(false, of.echo)
        .finish();
}

fn filled(map: &Map) -> Option<&Map> {
    (!map.is_empty()).then_some(map)
}
