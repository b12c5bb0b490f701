//! The bytes of AMQP 0.9.1 (section 4.2): frames, the methods of a client, properties of content.

mod frame;
mod method;
mod properties;
mod reader;
mod writer;

pub use frame::{
    FRAME_BYTES_MIN, Frame, FrameKind, PROTOCOL_HEADER, frame, write_frame, write_heartbeat,
};
pub use method::{Method, Reply};
pub use properties::{BASIC, Header, Properties};
pub use reader::Fault;
pub use writer::Request;
