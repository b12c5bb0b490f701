//! `ubjson` and `amf3`: trees as those of [`crate::formats`].
//!
//! `amf3` is one AMF 3 value, as it stands in the body of a message of BlazeDS; not the envelope
//! around it.

use crate::format::{Carries, Format};
use crate::formats::trees::tree;

tree!("ubjson" UBJSON legacy ubjson Ubjson UbjsonEmit "application/ubjson",
    ["application/x-ubjson"], None, Carries::TREE);
// Integers have 29 bits; longer ones are doubles.
tree!("amf3" AMF3 legacy amf3 Amf3 Amf3Emit "application/x-amf", ["application/amf"], None,
    Carries { integers: false, ..Carries::TREE });
