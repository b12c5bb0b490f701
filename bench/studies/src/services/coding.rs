//! How a message becomes bytes and is read back: Protobuf, or the plain web service's envelope in XML or EXI.

use serde::{Deserialize, Serialize};
use weir_codec::document::{self, soap};
use weir_codec::{Format, by_name};
use weir_model::{Batch, BatchBuilder, Limits};
use weir_soap::client;

use super::cells::Stack;

/// How a message is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Coding {
    /// A message of Protobuf.
    Protobuf,
    /// `publish` in an envelope of SOAP 1.2.
    Soap,
    /// The same in EXI without a schema.
    Exi,
}

/// `application/soap+xml` as the gateway numbers it for CoAP, which has no number of IANA's.
const SOAP_NUMBER: u32 = 65_001;
/// `application/exi` (RFC 7252 section 12.3).
const EXI_NUMBER: u32 = 47;

impl Coding {
    /// That of a stack.
    pub(super) fn of(stack: &Stack) -> Self {
        match stack.format {
            "soap" => Self::Soap,
            "exi" => Self::Exi,
            _ => Self::Protobuf,
        }
    }

    /// Its media type.
    pub(super) fn media(self) -> &'static str {
        match self {
            Self::Protobuf => "application/x-protobuf",
            Self::Soap => soap::Version::V12.media(),
            Self::Exi => "application/exi",
        }
    }

    /// Its Content-Format; Protobuf has none.
    pub(super) fn number(self) -> Option<u32> {
        match self {
            Self::Protobuf => None,
            Self::Soap => Some(SOAP_NUMBER),
            Self::Exi => Some(EXI_NUMBER),
        }
    }

    /// A message's bytes, published to a topic.
    pub(super) fn encode(self, topic: &str, message: &Batch) -> Result<Vec<u8>, String> {
        let envelope = || client::publish(soap::Version::V12, topic, message).into_bytes();
        match self {
            Self::Protobuf => {
                let mut out = Vec::new();
                (protobuf()?.encode)(message, &mut out);
                Ok(out)
            }
            Self::Soap => Ok(envelope()),
            Self::Exi => document::exi::from_xml(&envelope()).map_err(|fault| fault.to_string()),
        }
    }
}

/// The format that gives messages their size.
pub(super) fn protobuf() -> Result<&'static Format, String> {
    by_name("protobuf").ok_or_else(|| "no such format".into())
}

/// Reads messages back.
pub(super) struct Reader {
    coding: Coding,
    builder: BatchBuilder,
    limits: Limits,
}

impl Reader {
    pub(super) fn new(coding: Coding) -> Self {
        Self {
            coding,
            builder: BatchBuilder::new(),
            limits: Limits::default(),
        }
    }

    /// Reads a message; how many fields it has.
    pub(super) fn deserialize(&mut self, bytes: &[u8]) -> Result<usize, String> {
        let read = match self.coding {
            Coding::Protobuf => self.read_protobuf(bytes),
            Coding::Soap => read_envelope(document::read_xml(bytes)),
            Coding::Exi => read_envelope(document::exi::read(bytes)),
        };
        read.map_err(|error| format!("what came back is no message: {error}"))
    }

    fn read_protobuf(&mut self, bytes: &[u8]) -> Result<usize, String> {
        self.builder.clear();
        let read = (protobuf()?.decode)(bytes, &mut self.builder, &self.limits);
        read.map_err(|error| error.to_string())?;
        Ok(self.builder.len())
    }
}

fn read_envelope(read: Result<document::Element, document::Fault>) -> Result<usize, String> {
    let root = read.map_err(|fault| fault.to_string())?;
    client::observations(root).map(|batch| batch.len())
}
