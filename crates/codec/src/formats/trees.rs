//! `cbor`, `msgpack`, `bson`: the message in a binary syntax, with the member names of JSON. What differs
//! is the syntax; all else is the same each time.
#![cfg(any(
    feature = "bson",
    feature = "cbor",
    feature = "legacy",
    feature = "msgpack"
))]

use crate::format::{Carries, Confidence, Format};

/// A format of a syntax: its name, its row's constant, the module of the syntax with what reads and
/// writes, and its labels.
macro_rules! tree {
    ($name:literal $constant:ident $home:ident $syntax:ident $pull:ident $emit:ident
     $media:literal, $also:expr, $number:expr, $carries:expr $(, sniff: $sniff:ident)?) => {
        pub(crate) const $constant: Format = Format {
            media_also: &$also,
            content_format: $number,
            carries: $carries,
            $(sniff: Some($sniff),)?
            ..Format::new($name, $media, $syntax::encode, $syntax::decode)
        };

        mod $syntax {
            use crate::error::DecodeError;
            use crate::rows::{Rows, check_length};
            use crate::vocabulary::message;
            use crate::$home::$syntax::{$emit, $pull};
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
#[cfg(feature = "legacy")]
pub(crate) use tree;

#[cfg(feature = "cbor")]
tree!("cbor" CBOR syntax cbor Cbor CborEmit "application/cbor", [], Some(60), Carries::TREE);
#[cfg(feature = "msgpack")]
tree!("msgpack" MSGPACK syntax msgpack Msgpack MsgpackEmit "application/msgpack",
    ["application/x-msgpack", "application/vnd.msgpack"], None, Carries::TREE);
#[cfg(feature = "bson")]
tree!("bson" BSON syntax bson Bson BsonEmit "application/bson", ["application/x-bson"], None,
    Carries { nul: false, ..Carries::TREE }, sniff: is_a_document);

/// A document begins with its own length and ends with zero.
#[cfg(feature = "bson")]
fn is_a_document(payload: &[u8]) -> Confidence {
    let len = payload
        .first_chunk()
        .map(|len| u32::from_le_bytes(*len) as usize);
    Confidence::Certain.if_so(len == Some(payload.len()) && payload.ends_with(&[0]))
}
