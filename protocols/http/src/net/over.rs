//! A connection that another binding takes over, as a WebSocket.

use super::route::Shared;
use bytes::Bytes;
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use weir_binding::Binding;
use weir_carrier::outbox::poll_write;
use weir_carrier::websocket::{Role, WebSocketStream};
use weir_carrier::{Link, Stream};

/// Who takes a WebSocket over.
pub(super) struct Handover {
    pub(super) binding: Arc<dyn Binding>,
    pub(super) subprotocol: &'static str,
    /// What the upgrade's request presented.
    pub(super) credential: Option<String>,
}

/// Room for what goes with a message in one packet: topic, properties, other packets.
const BESIDE_BYTES: usize = 256 << 10;

/// Sends what is left of HTTP, the handshake's answer last, and hands the stream over.
pub(super) async fn serve(
    handover: Handover,
    mut stream: Stream,
    mut last: Bytes,
    shared: Shared,
) -> io::Result<()> {
    poll_fn(|cx| poll_write(&mut stream, cx, &mut last)).await?;
    let peer = stream.tcp().peer_addr()?;
    let limit = shared.context.hub().limits().message_bytes + BESIDE_BYTES;
    let socket = WebSocketStream::new(stream, Role::Server, b"", limit)?;
    let link = Link {
        stream: Stream::WebSocket(Box::new(socket)),
        peer,
        alpn: None,
        certificate: None,
        credential: handover.credential,
    };
    handover.binding.serve(link, shared.context).await
}
