//! Opening connections, thousands of them, in waves that no accept queue overflows.
//!
//! A wave's connections are under way together, so that it takes the link's time once; what follows is
//! blocking on purpose: nothing is measured yet, and a failure is told with the answer that caused it.
//! Sockets are closed by reset, so that no port stays occupied after a cell. An address has 65,535 ports
//! and the kernel gives fewer: connections to this machine beyond the first thousands leave from further
//! addresses of 127.0.0.0/8, all of which are this machine (RFC 1122 section 3.2.1.3).

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::ops::Range;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::sockopt::{set_socket_linger, socket_error};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use super::http;
use super::mqtt;
use super::wire::{PublishWire, SubscribeWire};
use weir_bench_model::limits::{CONNECT_MS_MAX, CONNECT_WAVE, CONNECTIONS_AN_ADDRESS_MAX};

/// The second thousands leave from here, the third from the address behind it.
const SOURCES: u32 = u32::from_be_bytes([127, 2, 0, 0]);

/// What is sent on a fresh connection and when it counts as open.
pub(super) struct Opening {
    pub(super) request: Vec<u8>,
    opened: fn(&[u8]) -> Result<bool, String>,
}

impl Opening {
    /// How a publisher's connection is opened; `number` tells clients apart.
    pub(super) fn of_publisher(wire: &PublishWire, number: usize) -> Self {
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
    pub(super) fn of_subscriber(wire: &SubscribeWire, number: usize) -> Self {
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

/// Opens one connection a number, and hands each on with its index, which is 0 of the first.
pub(super) fn open_all(
    address: SocketAddr,
    numbers: Range<usize>,
    opening: impl Fn(usize) -> Opening,
    mut each: impl FnMut(usize, TcpStream) -> Result<(), String>,
) -> Result<(), String> {
    let first = numbers.start;
    let mut next = first;
    while next < numbers.end {
        let wave = next..numbers.end.min(next + CONNECT_WAVE);
        let mut begun = Vec::with_capacity(wave.len());
        for number in wave.clone() {
            begun.push(begin(address, number).map_err(|e| at(number, &e))?);
        }
        let mut opened = Vec::with_capacity(wave.len());
        for (number, stream) in wave.clone().zip(begun) {
            let asked = ask(stream, opening(number));
            opened.push(asked.map_err(|e| at(number, &e))?);
        }
        for (number, (stream, opening)) in wave.clone().zip(opened) {
            finish(&stream, &opening).map_err(|e| at(number, &e))?;
            each(number - first, stream)?;
        }
        next = wave.end;
    }
    Ok(())
}

/// Puts the number of a connection, counted from one, before what went wrong with it.
pub(super) fn at(number: usize, error: &str) -> String {
    format!("connection {}: {error}", number + 1)
}

/// Waits until it is connected, and sends what opens it.
fn ask(stream: TcpStream, opening: Opening) -> Result<(TcpStream, Opening), String> {
    let mut stream = connected(stream)?;
    stream
        .write_all(&opening.request)
        .map_err(|e| format!("request: {e}"))?;
    Ok((stream, opening))
}

/// A connected socket on which nothing was sent yet, with the options that all have, from the address of its number.
pub(super) fn dial(address: SocketAddr, number: usize) -> Result<TcpStream, String> {
    connected(begin(address, number)?)
}

/// A socket that is connecting, from the address of its number.
fn begin(address: SocketAddr, number: usize) -> Result<TcpStream, String> {
    connecting(source_of(address.ip(), number), address).map_err(refused)
}

/// Waits for it, at most [`CONNECT_MS_MAX`], and sets the options that all have.
fn connected(stream: TcpStream) -> Result<TcpStream, String> {
    let timeout = Duration::from_millis(CONNECT_MS_MAX);
    await_connection(&stream, timeout).map_err(refused)?;
    let options = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| stream.set_read_timeout(Some(timeout)))
        .and_then(|()| Ok(set_socket_linger(&stream, Some(Duration::ZERO))?));
    options.map_err(|e| format!("socket options: {e}"))?;
    Ok(stream)
}

fn refused(error: io::Error) -> String {
    format!("connect: {error}")
}

/// From where a connection to this machine leaves; of the first thousands, and to other machines, the kernel says.
fn source_of(to: IpAddr, number: usize) -> Option<Ipv4Addr> {
    let thousands = (number / CONNECTIONS_AN_ADDRESS_MAX) as u32;
    let is_here = matches!(to, IpAddr::V4(to) if to.is_loopback());
    (is_here && thousands > 0).then(|| Ipv4Addr::from(SOURCES + thousands))
}

fn connecting(source: Option<Ipv4Addr>, address: SocketAddr) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(source) = source {
        rustix::net::bind(&socket, &SocketAddr::from((source, 0)))?;
    }
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(TcpStream::from(socket)),
        Err(error) => Err(error.into()),
    }
}

/// Until the kernel says that it is connected, or why not (connect(2), EINPROGRESS).
fn await_connection(stream: &TcpStream, timeout: Duration) -> io::Result<()> {
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    let mut waiting = [PollFd::new(stream, PollFlags::OUT)];
    if retry_on_intr(|| poll(&mut waiting, Some(&timeout)))? == 0 {
        return Err(io::ErrorKind::TimedOut.into());
    }
    Ok(socket_error(stream)??)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::net::TcpListener;

    const AN_ADDRESS: usize = CONNECTIONS_AN_ADDRESS_MAX;

    fn silent(_: usize) -> Opening {
        Opening {
            request: Vec::new(),
            opened: |_| Ok(true),
        }
    }

    #[test]
    fn connections_beyond_the_first_thousands_leave_from_addresses_of_their_own() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut held = Vec::new();
        for first in [0, AN_ADDRESS - 1, 3 * AN_ADDRESS] {
            let each = |index, stream| {
                held.push((index, stream));
                Ok(())
            };
            open_all(address, first..first + 2, silent, each).unwrap();
        }
        let from = |_| listener.accept().unwrap().1.ip().to_string();
        let sources: Vec<_> = (0..6).map(from).collect();
        let [here, second, fourth] = ["127.0.0.1", "127.2.0.1", "127.2.0.3"];
        assert_eq!(sources, [here, here, here, second, fourth, fourth]);
        let indices: Vec<_> = held.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn all_of_a_wave_are_begun_before_one_is_asked() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // Were the second begun behind the first one's request, this would not return.
        let opening = |number| {
            if number == 0 {
                listener.accept().unwrap();
                listener.accept().unwrap();
            }
            silent(number)
        };
        let mut opened = Vec::new();
        let each = |index, _| {
            opened.push(index);
            Ok(())
        };
        open_all(address, 0..2, opening, each).unwrap();
        assert_eq!(opened, [0, 1]);
    }

    #[test]
    fn connections_to_other_machines_leave_from_where_the_kernel_says() {
        let elsewhere = [IpAddr::from([10, 0, 0, 1]), IpAddr::from([0; 16])];
        assert!(
            elsewhere
                .iter()
                .all(|to| source_of(*to, 1_000_000).is_none())
        );
        let here = Ipv4Addr::LOCALHOST.into();
        assert_eq!(source_of(here, AN_ADDRESS - 1), None);
        let last = source_of(here, 99_999).unwrap();
        assert_eq!(last, Ipv4Addr::new(127, 2, 0, 19));
    }

    #[test]
    fn a_connection_from_an_address_of_its_own_says_when_nobody_listens() {
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr();
        let refused = dial(nobody.unwrap(), AN_ADDRESS).unwrap_err();
        assert!(refused.starts_with("connect: "), "{refused}");
    }
}
