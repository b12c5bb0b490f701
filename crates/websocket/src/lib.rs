//! WebSocket (RFC 6455) as bytes: handshake key, frames, messages, compression (RFC 7692), both roles.
//!
//! What it deliberately does not do: no timer, no socket, and no answer to a ping; whoever drives it decides. The
//! decision worth arguing: a reader keeps bytes only while a frame is incomplete, so that ten thousand idle sockets
//! hold no buffer.
#![forbid(unsafe_code)]

mod close;
mod deflate;
mod frame;
mod handshake;
pub mod limits;
mod reader;

pub use close::{Close, CloseCode};
pub use deflate::{Deflate, Offer, deflate_message};
pub use frame::{Header, Opcode, mask, write_close, write_frame, write_masked};
pub use handshake::{accept, key};
pub use reader::{Failure, Message, Reader, Role};
