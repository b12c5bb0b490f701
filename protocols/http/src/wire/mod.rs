//! HTTP/1.1 (RFC 9112) as bytes: heads, bodies and answers read and written.

pub mod answers;
pub mod body;
pub mod events;
pub mod head;
pub mod response;
pub mod target;

pub use head::{Refusal, Request, Version};
