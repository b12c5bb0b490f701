//! One connection between a coordinator and an agent: lines of JSON, each of a limited length.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use weir_bench_model::limits::AGENT_LINE_BYTES_MAX;

/// The connection.
pub(super) struct Line {
    input: BufReader<TcpStream>,
    output: TcpStream,
}

impl Line {
    /// On a stream; whoever is silent for longer is gone.
    pub(super) fn new(stream: TcpStream, silence: Duration) -> Result<Self, String> {
        let told = |e: std::io::Error| e.to_string();
        stream.set_nodelay(true).map_err(told)?;
        stream.set_read_timeout(Some(silence)).map_err(told)?;
        let output = stream.try_clone().map_err(told)?;
        Ok(Self {
            input: BufReader::new(stream),
            output,
        })
    }

    /// From now on, whoever is silent for so long is gone.
    pub(super) fn bear(&self, silence: Duration) -> Result<(), String> {
        // Both halves are one socket.
        let set = self.output.set_read_timeout(Some(silence));
        set.map_err(|e| e.to_string())
    }

    /// Says one thing.
    pub(super) fn say<T: Serialize>(&mut self, what: &T) -> Result<(), String> {
        let text = serde_json::to_string(what).map_err(|e| e.to_string())? + "\n";
        let said = self.output.write_all(text.as_bytes());
        said.map_err(|e| format!("the connection: {e}"))
    }

    /// Hears the next; nothing where the other side has closed.
    pub(super) fn hear<T: DeserializeOwned>(&mut self) -> Result<Option<T>, String> {
        let mut text = Vec::new();
        let mut limited = (&mut self.input).take(AGENT_LINE_BYTES_MAX);
        let len = limited.read_until(b'\n', &mut text);
        match len.map_err(|e| format!("the connection: {e}"))? {
            0 => Ok(None),
            _ if text.last() != Some(&b'\n') => Err("a line cut short, or too long".into()),
            _ => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|e| e.to_string()),
        }
    }
}
