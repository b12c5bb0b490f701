//! `cbor`, `msgpack`, `bson`, `ubjson`, `amf3`: the message in a binary syntax, with the member names
//! of JSON. What differs is the syntax; all else is the same five times.
//!
//! `amf3` is one AMF 3 value, as it stands in the body of a message of BlazeDS; not the envelope
//! around it.
#![cfg(any(
    feature = "amf3",
    feature = "bson",
    feature = "cbor",
    feature = "msgpack",
    feature = "ubjson"
))]

use crate::format::{Carries, Confidence, Format};
use crate::rows::{Rows, check_length};
use crate::vocabulary::message;

macro_rules! tree {
    ($feature:literal $constant:ident $syntax:ident $pull:ident $emit:ident
     $media:literal, $also:expr, $number:expr, $carries:expr $(, sniff: $sniff:ident)?) => {
        #[cfg(feature = $feature)]
        pub(crate) const $constant: Format = Format {
            media_also: &$also,
            content_format: $number,
            carries: $carries,
            $(sniff: Some($sniff),)?
            ..Format::new($feature, $media, $syntax::encode, $syntax::decode)
        };

        #[cfg(feature = $feature)]
        mod $syntax {
            use super::*;
            use crate::error::DecodeError;
            use crate::syntax::$syntax::{$emit, $pull};
            use alloc::vec::Vec;
            use weir_model::{Batch, BatchBuilder, Limits};

            pub(super) fn encode(batch: &Batch, out: &mut Vec<u8>) {
                message::write(batch, &mut $emit::new(out));
            }

            pub(super) fn decode(
                bytes: &[u8],
                out: &mut BatchBuilder,
                limits: &Limits,
            ) -> Result<(), DecodeError> {
                check_length(bytes, limits)?;
                message::read(&mut $pull::new(bytes, limits), &mut Rows::new(out, limits))
            }
        }
    };
}

tree!("cbor" CBOR cbor Cbor CborEmit "application/cbor", [], Some(60), Carries::TREE);
tree!("msgpack" MSGPACK msgpack Msgpack MsgpackEmit "application/msgpack",
    ["application/x-msgpack", "application/vnd.msgpack"], None, Carries::TREE);
tree!("bson" BSON bson Bson BsonEmit "application/bson", ["application/x-bson"], None,
    Carries { nul: false, ..Carries::TREE }, sniff: is_a_document);
tree!("ubjson" UBJSON ubjson Ubjson UbjsonEmit "application/ubjson",
    ["application/x-ubjson"], None, Carries::TREE);
// Integers have 29 bits; longer ones are doubles.
tree!("amf3" AMF3 amf3 Amf3 Amf3Emit "application/x-amf", ["application/amf"], None,
    Carries { integers: false, ..Carries::TREE });

/// A document begins with its own length and ends with zero.
#[cfg(feature = "bson")]
fn is_a_document(payload: &[u8]) -> Confidence {
    let len = payload
        .first_chunk()
        .map(|len| u32::from_le_bytes(*len) as usize);
    Confidence::Certain.if_so(len == Some(payload.len()) && payload.ends_with(&[0]))
}
