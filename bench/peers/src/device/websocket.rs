//! WebSocket: a text message each way (RFC 6455).

use super::{Device, Times};
use crate::sockets::{Peer, Traffic};
use crate::websocket::WebSocket;
use weir_bench_model::clock::now_ns;

/// A client's end.
pub(super) struct Echo {
    socket: WebSocket,
    /// Whether the server says that it has kept a message.
    commits: bool,
}

impl Echo {
    pub(super) fn open(
        peer: &Peer,
        target: &str,
        subprotocol: Option<&str>,
        commits: bool,
    ) -> Result<Self, String> {
        let socket = WebSocket::open(peer, target, subprotocol)?;
        Ok(Self { socket, commits })
    }
}

/// What a text of the server is.
enum Said {
    Echo,
    Committed,
    Refused(String),
    Other,
}

impl Said {
    fn of(text: &[u8], payload: &[u8]) -> Self {
        match text {
            text if text == payload => Self::Echo,
            text if text.starts_with(br#"{"weir":{"committed""#) => Self::Committed,
            text if text.starts_with(br#"{"weir":{"error""#) => {
                Self::Refused(String::from_utf8_lossy(text).into_owned())
            }
            _ => Self::Other,
        }
    }
}

impl Device for Echo {
    fn exchange(&mut self, payload: &[u8]) -> Result<Option<Times>, String> {
        self.socket.send(payload)?;
        let (mut echo_ns, mut committed) = (None, !self.commits);
        loop {
            match Said::of(&self.socket.text()?, payload) {
                Said::Echo => echo_ns = Some(now_ns()),
                Said::Committed => committed = true,
                Said::Refused(reason) => return Err(reason),
                Said::Other => {}
            }
            if let Some(echo_ns) = echo_ns.filter(|_| committed) {
                let settled_ns = now_ns();
                return Ok(Some(Times {
                    echo_ns,
                    settled_ns,
                }));
            }
        }
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.socket.traffic()?)
    }
}
