//! Publishing one message at a time, each once the one before was answered: what prepares a target needs
//! no more.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use super::connect::{Opening, open_all};
use super::http::Responses;
use weir_bench_model::limits::CONNECT_MS_MAX;

/// A connection that publishes by HTTP.
pub(super) struct OneByOne {
    stream: TcpStream,
    responses: Responses,
}

impl OneByOne {
    pub(super) fn open(address: SocketAddr) -> Result<Self, String> {
        Ok(Self {
            stream: connect(address)?,
            responses: Responses::default(),
        })
    }

    /// Sends a whole request; an error unless it is answered with success.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), String> {
        let written = self.stream.write_all(message);
        written.map_err(|e| format!("publishing: {e}"))?;
        let mut buffer = [0u8; 4096];
        let mut answer = None;
        while answer.is_none() {
            let read = self.stream.read(&mut buffer);
            let len = read.map_err(|e| format!("no answer: {e}"))?;
            if len == 0 {
                return Err("closed while publishing".into());
            }
            let take = |r: super::http::Response| answer = Some((r.status, r.summary()));
            self.responses.feed(&buffer[..len], take)?;
        }
        match answer {
            Some((200..300, _)) => Ok(()),
            other => Err(format!("publishing was answered {other:?}")),
        }
    }
}

/// A connection on which nothing was said yet.
pub(super) fn connect(address: SocketAddr) -> Result<TcpStream, String> {
    let mut connected = None;
    let silent = |_| {
        Opening::of_publisher(
            &super::wire::PublishWire::Http {
                head: String::new(),
            },
            0,
        )
    };
    open_all(address, 0..1, silent, |_, stream| {
        connected = Some(stream);
        Ok(())
    })?;
    let stream = connected.ok_or("no connection")?;
    let timeout = Some(Duration::from_millis(CONNECT_MS_MAX));
    stream
        .set_read_timeout(timeout)
        .map_err(|e| e.to_string())?;
    Ok(stream)
}
