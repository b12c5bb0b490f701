//! Types, frames, performatives and message sections: bytes to values and back.
//!
//! What it deliberately does not do: no order of frames, no state; that is `session`. Values are owned
//! but for payloads, which are slices of what came; numbers of a frame's fields are read where they lie.

mod condition;
mod fields;
mod frame;
mod message;
mod performative;
mod properties;
mod reader;
mod sasl;
mod state;
mod terminus;
mod transfer;
mod value;
mod writer;

pub use condition::{Condition, Fault};
pub use frame::{FrameHeader, Framed, HEADER_BYTES, ProtocolHeader, ProtocolId, frame};
pub use message::{Body, Header, Message};
pub use performative::{
    Attach, Begin, Detach, Flow, Open, Performative, ReceiverSettles, Role, SenderSettles,
};
pub use properties::{MessageId, Properties};
pub use reader::{Decode, Reader};
pub use sasl::{Sasl, SaslCode};
pub use state::{DeliveryState, Disposition, Error};
pub use terminus::{Source, Target, TargetKind};
pub use transfer::{Tag, Transfer};
pub use value::{Map, Symbol, Value};
pub use writer::Encode;
