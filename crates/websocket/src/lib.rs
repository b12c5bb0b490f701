//! WebSocket (RFC 6455) as bytes: handshake key, frames, messages, compression (RFC 7692), both roles.
//!
//! What it deliberately does not do: no timer, no socket, and no answer to a ping; whoever drives it decides. The
//! decision worth arguing: a reader keeps bytes only while a frame is incomplete, so that ten thousand idle sockets
//! hold no buffer.
//!
//! It touches nothing but memory.
//!
//! ```
//! use weir_websocket::{Message, Opcode, Reader, Role, accept, write_masked};
//!
//! // The example of RFC 6455 section 1.3.
//! let answer = accept("dGhlIHNhbXBsZSBub25jZQ==");
//! assert_eq!(answer.as_deref(), Some("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
//!
//! let mut wire = Vec::new();
//! write_masked(Opcode::TEXT, b"hello", [1, 2, 3, 4], &mut wire);
//! let (mut reader, mut messages) = (Reader::new(Role::Server, false, 1024), Vec::new());
//! // It may come in pieces.
//! for piece in wire.chunks(3) {
//!     reader.read(piece, &mut messages).unwrap();
//! }
//! assert!(matches!(&messages[..], [Message::Text(text)] if **text == *b"hello"));
//! assert!(reader.is_idle());
//! ```
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
