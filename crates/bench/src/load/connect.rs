//! Opening connections, thousands of them, in waves that no accept queue overflows.
//!
//! Blocking on purpose: nothing is measured yet, and a failure is told with the answer that
//! caused it. Sockets are closed by reset, so that no port stays occupied after a cell.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;

use super::http;
use super::mqtt;
use super::wire::{PublishWire, SubscribeWire};
use crate::limits::{CONNECT_MS_MAX, CONNECT_WAVE};

/// What is sent on a fresh connection and when it counts as open.
pub(crate) struct Opening {
    pub(super) request: Vec<u8>,
    opened: fn(&[u8]) -> Result<bool, String>,
}

impl Opening {
    /// How a publisher's connection is opened; `number` tells clients apart.
    pub(crate) fn of_publisher(wire: &PublishWire, number: usize) -> Self {
        match wire {
            PublishWire::Http { .. } => Self {
                request: Vec::new(),
                opened: |_| Ok(true),
            },
            PublishWire::Mqtt { .. } => {
                let request = mqtt::connect(&client('p', number));
                Self {
                    request,
                    opened: mqtt_connected,
                }
            }
        }
    }

    /// How a subscriber's connection is opened.
    pub(crate) fn of_subscriber(wire: &SubscribeWire, number: usize) -> Self {
        match wire {
            SubscribeWire::Stream { request } => Self {
                request: request.clone().into_bytes(),
                opened: http_accepted,
            },
            SubscribeWire::Poll { .. } => Self {
                request: Vec::new(),
                opened: |_| Ok(true),
            },
            SubscribeWire::LongPoll { request, .. } => Self {
                request: request.clone().into_bytes(),
                opened: |_| Ok(true),
            },
            SubscribeWire::Observe { .. } => Self {
                request: Vec::new(),
                opened: |_| Err("an observer by CoAP has no connection".into()),
            },
            SubscribeWire::Mqtt { filter, qos } => {
                let mut request = mqtt::connect(&client('s', number));
                request.extend_from_slice(&mqtt::subscribe(filter, *qos));
                Self {
                    request,
                    opened: mqtt_subscribed,
                }
            }
        }
    }
}

/// A client identifier that no other load process has, on whichever machine: at most 23 characters,
/// which every server takes (MQTT 3.1.1 section 3.1.3.1).
fn client(side: char, number: usize) -> String {
    use std::hash::{BuildHasher, RandomState};
    static INSTANCE: std::sync::OnceLock<u64> = std::sync::OnceLock::new();
    let instance = INSTANCE.get_or_init(|| RandomState::new().hash_one(std::process::id()) >> 16);
    format!("{side}{instance:012x}-{number}")
}

/// Opens one connection an opening, and hands each on with its index.
pub(crate) fn open_all(
    address: SocketAddr,
    count: usize,
    opening: impl Fn(usize) -> Opening,
    mut each: impl FnMut(usize, TcpStream) -> Result<(), String>,
) -> Result<(), String> {
    let mut index = 0;
    while index < count {
        let wave = CONNECT_WAVE.min(count - index);
        let mut opened = Vec::with_capacity(wave);
        for number in index..index + wave {
            opened.push(begin(address, opening(number)).map_err(|e| at(number, &e))?);
        }
        for (offset, (stream, opening)) in opened.into_iter().enumerate() {
            finish(&stream, &opening).map_err(|e| at(index + offset, &e))?;
            each(index + offset, stream)?;
        }
        index += wave;
    }
    Ok(())
}

/// Puts the number of a connection, counted from one, before what went wrong with it.
pub(super) fn at(number: usize, error: &str) -> String {
    format!("connection {}: {error}", number + 1)
}

fn begin(address: SocketAddr, opening: Opening) -> Result<(TcpStream, Opening), String> {
    let mut stream = dial(address)?;
    stream
        .write_all(&opening.request)
        .map_err(|e| format!("request: {e}"))?;
    Ok((stream, opening))
}

/// A connected socket on which nothing was sent yet, with the options that all have.
pub(super) fn dial(address: SocketAddr) -> Result<TcpStream, String> {
    let timeout = Duration::from_millis(CONNECT_MS_MAX);
    let stream =
        TcpStream::connect_timeout(&address, timeout).map_err(|e| format!("connect: {e}"))?;
    let options = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(Some(timeout)))
        .and_then(|()| Ok(set_socket_linger(&stream, Some(Duration::ZERO))?));
    options.map_err(|e| format!("socket options: {e}"))?;
    Ok(stream)
}

/// Reads until the connection counts as open.
pub(super) fn finish(mut stream: impl Read, opening: &Opening) -> Result<(), String> {
    let mut answer = Vec::new();
    let mut buffer = [0u8; 4096];
    while !(opening.opened)(&answer)? {
        let len = stream
            .read(&mut buffer)
            .map_err(|e| format!("no answer: {e}"))?;
        if len == 0 {
            let got = String::from_utf8_lossy(&answer[..answer.len().min(200)]).into_owned();
            return Err(format!("closed after {} bytes: {got}", answer.len()));
        }
        answer.extend_from_slice(&buffer[..len]);
    }
    Ok(())
}

fn http_accepted(answer: &[u8]) -> Result<bool, String> {
    if http::head_len(answer).is_none() {
        return Ok(false);
    }
    match http::status(answer) {
        Some(101 | 200) => Ok(true),
        _ => {
            let text = String::from_utf8_lossy(&answer[..answer.len().min(300)]).into_owned();
            Err(format!("answered {}", text.trim()))
        }
    }
}

fn mqtt_connected(answer: &[u8]) -> Result<bool, String> {
    granted(mqtt::connected(answer), "CONNECT refused")
}

fn mqtt_subscribed(answer: &[u8]) -> Result<bool, String> {
    granted(mqtt::subscribed(answer), "SUBSCRIBE refused")
}

fn granted(answer: Option<bool>, refusal: &str) -> Result<bool, String> {
    match answer {
        Some(false) => Err(refusal.into()),
        other => Ok(other.is_some()),
    }
}
