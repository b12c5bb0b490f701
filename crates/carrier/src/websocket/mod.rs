//! WebSockets as streams of bytes, and how a client opens one.

mod opening;
mod stream;

pub use opening::{Opening, open};
pub use stream::WebSocketStream;
pub use weir_websocket::*;
