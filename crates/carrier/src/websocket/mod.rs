//! WebSocket (RFC 6455) as bytes: handshake key, frames, messages, both roles; and a byte stream inside.
//!
//! What it deliberately does not do: no timer, and but for [`WebSocketStream`] no socket and no answer to
//! a ping; whoever drives it decides. The decision worth arguing: a reader keeps bytes only while a frame
//! is incomplete, so that ten thousand idle sockets hold no buffer.

mod close;
mod deflate;
mod frame;
mod handshake;
mod opening;
mod reader;
mod stream;

pub use close::{Close, CloseCode};
pub use deflate::{Deflate, Offer, deflate_message};
pub use frame::{Header, Opcode, write_close, write_frame, write_masked};
pub use handshake::{accept, key};
pub use opening::{Opening, open};
pub use reader::{Failure, Message, Reader, Role};
pub use stream::WebSocketStream;
