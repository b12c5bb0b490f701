//! Frames of the SASL layer (AMQP 1.0 section 5.3.3).

use super::condition::{Condition, Fault};
use super::fields::{Composite, Fields};
use super::frame::{FrameHeader, close_frame, open_frame};
use super::reader::Reader;
use super::value::Symbol;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// How an attempt went (section 5.3.3.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaslCode(pub u8);

impl SaslCode {
    /// The peer is who it says.
    pub const OK: Self = Self(0);
    /// Credentials are wrong.
    pub const AUTH: Self = Self(1);
    /// Something went wrong inside.
    pub const SYS: Self = Self(2);
    /// Something went wrong inside that does not mend itself.
    pub const SYS_PERM: Self = Self(3);
    /// Something went wrong inside that may mend itself.
    pub const SYS_TEMP: Self = Self(4);
}

/// What a SASL frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sasl {
    /// Mechanisms that the server takes.
    Mechanisms(Vec<Symbol>),
    /// The client's choice.
    Init {
        /// One of the mechanisms.
        mechanism: Symbol,
        /// What the mechanism begins with.
        initial_response: Option<Bytes>,
        /// Host that the client means.
        hostname: Option<String>,
    },
    /// The server asks.
    Challenge(Bytes),
    /// The client answers.
    Response(Bytes),
    /// How it went.
    Outcome(SaslCode, Option<Bytes>),
}

impl Sasl {
    /// Reads the body of a SASL frame, whose bytes begin with its header.
    pub fn read(header: &FrameHeader, frame: &[u8]) -> Result<Self, Fault> {
        let mut reader = Reader::new(&frame[header.body..header.end], header.body);
        let code = reader.descriptor()?;
        let mut fields = Fields::of(&mut reader)?;
        let read = match code {
            0x40 => Sasl::Mechanisms(fields.required("no mechanisms")?),
            0x41 => Sasl::Init {
                mechanism: fields.required("no mechanism")?,
                initial_response: fields.optional()?,
                hostname: fields.optional()?,
            },
            0x42 => Sasl::Challenge(fields.required("no challenge")?),
            0x43 => Sasl::Response(fields.required("no response")?),
            0x44 => Sasl::Outcome(SaslCode(fields.required("no code")?), fields.optional()?),
            _ => {
                let rule = "a SASL frame that is not known";
                return Err(Fault::new(Condition::NOT_IMPLEMENTED, header.body, rule));
            }
        };
        fields.finish()?;
        reader.finish()?;
        Ok(read)
    }

    /// Appends the frame.
    pub fn write(&self, out: &mut Vec<u8>) {
        let start = open_frame(true, 0, out);
        match self {
            Sasl::Mechanisms(names) => Composite::new(out, 0x40).field(names).finish(),
            Sasl::Init {
                mechanism,
                initial_response,
                hostname,
            } => Composite::new(out, 0x41)
                .field(mechanism)
                .field(initial_response)
                .field(hostname)
                .finish(),
            Sasl::Challenge(bytes) => Composite::new(out, 0x42).field(bytes).finish(),
            Sasl::Response(bytes) => Composite::new(out, 0x43).field(bytes).finish(),
            Sasl::Outcome(code, data) => {
                Composite::new(out, 0x44).field(code.0).field(data).finish()
            }
        }
        close_frame(start, 0, out);
    }
}
