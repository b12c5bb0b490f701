//! What the stack is handed and hands over: samples as bytes.
//!
//! Its traits want to know how a type is encoded, and its key. What comes in is decoded by nobody but us, so
//! its key is one and the same: the stack then keeps no list of keys that a stranger could make long.

use bytes::Bytes;
use rustdds::dds::adapters::{no_key, with_key};
use rustdds::{Keyed, RepresentationIdentifier as Id};
use std::convert::Infallible;

/// A sample that came.
#[derive(Clone, Debug)]
pub(super) struct Received {
    /// What its first two bytes say of its layout.
    pub(super) layout: [u8; 2],
    /// What is behind its first four bytes.
    pub(super) body: Vec<u8>,
}

/// A sample that goes.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    pub(super) topic: String,
    pub(super) body: Bytes,
}

/// Hands bytes over as they are.
#[derive(Clone)]
pub(super) struct AsBytes;

impl Keyed for Received {
    type K = ();

    fn key(&self) {}
}

impl Keyed for Leaving {
    type K = String;

    fn key(&self) -> String {
        self.topic.clone()
    }
}

impl no_key::DeserializerAdapter<Received> for AsBytes {
    type Error = Infallible;
    type Decoded = Received;

    /// Every one that the stack knows: which of them are read, [`crate::wire::Encapsulation`] says.
    fn supported_encodings() -> &'static [Id] {
        &[
            Id::CDR_LE,
            Id::CDR_BE,
            Id::XCDR2_LE,
            Id::XCDR2_BE,
            Id::PL_CDR_LE,
            Id::PL_CDR_BE,
            Id::D_CDR2_LE,
            Id::D_CDR2_BE,
            Id::PL_XCDR2_LE,
            Id::PL_XCDR2_BE,
            Id::XML,
        ]
    }

    fn transform_decoded(decoded: Received) -> Received {
        decoded
    }
}

impl with_key::DeserializerAdapter<Received> for AsBytes {
    type DecodedKey = ();

    fn transform_decoded_key((): ()) {}
}

impl<'de> no_key::Decode<'de, Received> for AsBytes {
    type Error = Infallible;

    fn decode_bytes(self, bytes: &'de [u8], encoding: Id) -> Result<Received, Infallible> {
        Ok(Received {
            layout: encoding.to_bytes(),
            body: bytes.to_vec(),
        })
    }
}

impl<'de> with_key::Decode<'de, Received, ()> for AsBytes {
    fn decode_key_bytes(self, _: &'de [u8], _: Id) -> Result<(), Infallible> {
        Ok(())
    }
}

impl no_key::DefaultDecoder<Received> for AsBytes {
    type Decoder = AsBytes;
    const DECODER: AsBytes = AsBytes;
}

impl with_key::DefaultDecoder<Received> for AsBytes {
    type Decoder = AsBytes;
    const DECODER: AsBytes = AsBytes;
}

impl no_key::SerializerAdapter<Leaving> for AsBytes {
    type Error = Infallible;

    fn output_encoding() -> Id {
        Id::CDR_LE
    }

    fn to_bytes(leaving: &Leaving) -> Result<Bytes, Infallible> {
        Ok(leaving.body.clone())
    }
}

impl with_key::SerializerAdapter<Leaving> for AsBytes {
    fn key_to_bytes(topic: &String) -> Result<Bytes, Infallible> {
        let mut out = Vec::new();
        crate::wire::Writer::new(&mut out).string(topic);
        Ok(out.into())
    }
}
