//! The protocol's WebSocket, blocking: one message out, messages in. It serves any other as well.

use std::time::Duration;

use crate::link::End;
use weir_bench_model::limits::DEVTOOLS_SECONDS_MAX;
use weir_bench_peers::Peer;
use weir_bench_peers::sockets::Tcp;
use weir_bench_peers::websocket::WebSocket;

/// An open WebSocket.
pub struct PageSocket(Box<WebSocket>);

impl PageSocket {
    /// Opens one at `ws://authority/path`, from where programs of an end are.
    pub fn open(url: &str, end: &End) -> Result<Self, String> {
        let rest = url
            .strip_prefix("ws://")
            .ok_or_else(|| format!("no ws:// URL: {url}"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = authority.parse().map_err(|e| format!("{authority}: {e}"))?;
        let connected = end.connect(address);
        let connected = connected.map_err(|e| format!("{authority}: {e}"))?;
        let peer = Peer {
            address,
            wait: Duration::from_secs(DEVTOOLS_SECONDS_MAX),
            modem: false,
            certificate: None,
        };
        let tcp = Tcp::over(connected, &peer, None)?;
        let socket = WebSocket::over(tcp, authority, &format!("/{path}"), None)?;
        Ok(Self(Box::new(socket)))
    }

    /// Lets the next answers take so long.
    pub fn wait_at_most(&self, wait: Duration) -> Result<(), String> {
        Ok(self.0.wait_at_most(wait)?)
    }

    /// Sends a text.
    pub fn send(&mut self, text: &str) -> Result<(), String> {
        Ok(self.0.send(text.as_bytes())?)
    }

    /// Waits for the next text.
    pub fn receive(&mut self) -> Result<String, String> {
        let text = self.0.text()?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    #[test]
    fn a_peer_without_websocket_is_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/devtools", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut tcp, _) = listener.accept().unwrap();
            let _ = tcp.read(&mut [0; 1024]).unwrap();
            tcp.write_all(b"HTTP/1.1 404 Not Found\r\n\r\n").unwrap();
        });
        assert!(PageSocket::open(&url, &End::Local).is_err());
        assert!(PageSocket::open("http://127.0.0.1/", &End::Local).is_err());
    }
}
