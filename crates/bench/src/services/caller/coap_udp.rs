//! CoAP over UDP, confirmable: the machine of our protocol on a socket of its own.
//!
//! With more than one call under way NSTART is as many: a client that speaks for several devices.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::Duration;

use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, CallId, Endpoint, Event, Parameters};
use weir_coap::wire::{Code, Message, Number as OptionNumber, set_path};
use weir_sansio::{Instant, Output};

use super::{Caller, Ended, Number, Service};
use crate::clock::now_ns;
use crate::limits::{ECHO_TICK_MS, READ_BYTES_MAX};
use crate::link_efficiency::traffic::{Traffic, UDP_HEADER_BYTES};

/// An endpoint that knows one server.
pub(super) struct CoapUdp {
    socket: UdpSocket,
    endpoint: Endpoint<()>,
    request: Message,
    calls: BTreeMap<CallId, Number>,
    ended: VecDeque<Ended>,
    /// When the machine wants to be called again.
    due: Instant,
    wait_ns: u64,
    buffer: Vec<u8>,
    traffic: Traffic,
}

/// A request without its payload.
pub(super) fn request(path: &str, put: bool) -> Result<Message, String> {
    let mut message = Message::new(if put { Code::PUT } else { Code::POST });
    let set = set_path(&mut message.options, OptionNumber::URI_PATH, path);
    set.map_err(|_| format!("`{path}` is no path"))?;
    // Protobuf has no number among the Content-Formats; the gateway is told by the query.
    if !put {
        message
            .options
            .push(OptionNumber::URI_QUERY, b"as=protobuf");
    }
    Ok(message)
}

/// The bytes of an answer, or what it says instead of success.
pub(super) fn body(answer: &Message) -> Result<Vec<u8>, String> {
    match answer.code.is_success() {
        true => Ok(answer.payload.to_vec()),
        false => Err(format!(
            "answered {}.{:02} {}",
            answer.code.class(),
            answer.code.detail(),
            String::from_utf8_lossy(&answer.payload)
        )),
    }
}

pub(super) fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl CoapUdp {
    pub(super) fn open(service: &Service<'_>, put: bool) -> Result<Self, String> {
        let any: IpAddr = match service.address {
            std::net::SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            std::net::SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let opened = || -> std::io::Result<UdpSocket> {
            let socket = UdpSocket::bind((any, 0))?;
            socket.connect(service.address)?;
            socket.set_read_timeout(Some(Duration::from_millis(ECHO_TICK_MS)))?;
            Ok(socket)
        };
        let parameters = Parameters {
            nstart: service.depth as u16,
            ..Parameters::default()
        };
        Ok(Self {
            socket: opened().map_err(|e| format!("{}: {e}", service.address))?,
            endpoint: Endpoint::new(parameters, Limits::default(), now_ns()),
            request: request(service.path, put)?,
            calls: BTreeMap::new(),
            ended: VecDeque::new(),
            due: Instant::NEVER,
            wait_ns: service.wait.as_nanos() as u64,
            buffer: vec![0; READ_BYTES_MAX],
            traffic: Traffic::default(),
        })
    }

    /// Sends what is due and takes what was told.
    fn turn(&mut self) -> Result<(), String> {
        loop {
            match self.endpoint.poll() {
                Output::Transmit(datagram) => {
                    let sent = self.socket.send(&datagram.bytes);
                    sent.map_err(|e| format!("sending: {e}"))?;
                    self.count(datagram.bytes.len());
                }
                Output::Event(event) => self.take(&event)?,
                Output::Timeout(due) => {
                    self.due = due;
                    return Ok(());
                }
            }
        }
    }

    fn receive(&mut self) -> Result<(), String> {
        match self.socket.recv(&mut self.buffer) {
            Ok(length) => {
                self.count(length);
                let datagram = &self.buffer[..length];
                self.endpoint
                    .receive(now(), (), Arrival::default(), datagram);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(format!("receiving: {error}")),
        }
        if now() >= self.due {
            self.endpoint.timeout(now());
        }
        Ok(())
    }

    fn count(&mut self, length: usize) {
        self.traffic.application_bytes += length as u64;
        self.traffic.packets += 1;
        self.traffic.header_bytes += UDP_HEADER_BYTES;
    }

    fn take(&mut self, event: &Event<()>) -> Result<(), String> {
        let ended = match event {
            Event::Response(call, (), answer) => match self.calls.remove(call) {
                Some(number) => Some(Ended::Answered(number, body(answer)?)),
                None => None,
            },
            Event::Failed(call, _) => self.calls.remove(call).map(Ended::Lost),
            _ => None,
        };
        self.ended.extend(ended);
        Ok(())
    }
}

impl Caller for CoapUdp {
    fn call(&mut self, number: Number, message: &[u8]) -> Result<(), String> {
        let request = self.request.clone().with_payload(message.to_vec());
        let call = self.endpoint.request(now(), (), request, true);
        let call = call.ok_or("too many requests are under way")?;
        self.calls.insert(call, number);
        self.turn()
    }

    fn next(&mut self) -> Result<Ended, String> {
        let end = now_ns() + self.wait_ns;
        while now_ns() < end {
            self.turn()?;
            if let Some(ended) = self.ended.pop_front() {
                return Ok(ended);
            }
            self.receive()?;
        }
        let first = self
            .calls
            .iter()
            .next()
            .map(|(call, number)| (*call, *number));
        let (call, number) = first.ok_or("no call is under way")?;
        self.calls.remove(&call);
        self.endpoint.cancel(now(), call);
        Ok(Ended::Lost(number))
    }

    fn traffic(&self) -> Result<Traffic, String> {
        Ok(self.traffic)
    }
}
