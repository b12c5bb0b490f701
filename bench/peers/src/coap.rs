//! A client of CoAP that knows one server: the machine of datagrams on UDP, in the clear or secret by OSCORE, or that
//! of connections on TCP.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use weir_coap::limits::Limits;
use weir_coap::secure::{ContextId, Guard, Opened, Remote};
use weir_coap::session::{Arrival, CallId, Connection, Endpoint, Event, Parameters};
use weir_coap::wire::{Framing, Message, Number};
use weir_sansio::{Instant, Output, Session};

use crate::error::{Cause, Error};
use crate::oscore;
use crate::sockets::driven::now;
use crate::sockets::{Peer, Tcp, Traffic, Udp};
use weir_bench_load::datagrams::{challenge, refusal};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::READ_BYTES_MAX;

/// Packets to and fro from one port, half of which have message identifiers of the client, before another is taken:
/// of the 65,536 of a port none may come again within 247 s (RFC 7252 section 4.4), and a server that remembers
/// them, as Californium does, takes one that does for a duplicate.
const PORT_PACKETS_MAX: u64 = 60_000;
/// The name of CoAP in a handshake of TLS (RFC 8323 section 8.2).
const ALPN: &str = "coap";

/// What carries messages of CoAP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CoapOver {
    /// Datagrams that are acknowledged (RFC 7252 section 4.2).
    Confirmable,
    /// Datagrams that are not (section 4.3).
    NonConfirmable,
    /// Datagrams that are acknowledged and, by OSCORE, secret.
    Secured,
    /// A connection (RFC 8323).
    Stream,
}

/// A client, what carries its messages, and one server.
pub struct Coap {
    kind: Kind,
    address: SocketAddr,
    /// How long an answer may take.
    wait: Duration,
    /// When the machine wants to be called again.
    due: Instant,
    /// Events that nobody has asked for yet.
    told: VecDeque<Event<()>>,
    buffer: Vec<u8>,
    /// Packets that had gone to and fro when the port was taken.
    port_began: u64,
}

enum Kind {
    Datagrams(Udp, Box<Endpoint<()>>),
    Secured(Udp, Box<Endpoint<Remote<()>>>, Box<Guard<()>>),
    Stream(Tcp, Box<Connection>),
}

/// The one server, by the one set of keys.
const SERVER: Remote<()> = Remote {
    address: (),
    context: Some(ContextId(0)),
};

impl Coap {
    /// Opens it; `depth` requests may be under way at once (NSTART, RFC 7252 section 4.7).
    pub fn open(peer: &Peer, over: CoapOver, depth: u16) -> Result<Self, Error> {
        let limits = Limits::default();
        let parameters = Parameters {
            nstart: depth,
            ..Parameters::default()
        };
        let kind = match over {
            CoapOver::Stream => {
                let connection = Connection::new(Framing::Stream, limits, now_ns());
                Kind::Stream(Tcp::connect(peer, Some(ALPN))?, Box::new(connection))
            }
            CoapOver::Secured => {
                let endpoint = Endpoint::new(parameters, limits, now_ns());
                let guard = Box::new(oscore::guard()?);
                Kind::Secured(Udp::connect(peer)?, Box::new(endpoint), guard)
            }
            CoapOver::Confirmable | CoapOver::NonConfirmable => {
                let endpoint = Endpoint::new(parameters, limits, now_ns());
                Kind::Datagrams(Udp::connect(peer)?, Box::new(endpoint))
            }
        };
        Ok(Self {
            kind,
            address: peer.address,
            wait: peer.wait,
            due: Instant::NEVER,
            told: VecDeque::new(),
            buffer: vec![0; READ_BYTES_MAX],
            port_began: 0,
        })
    }

    /// Takes another port where the message identifiers of this one are nearly used up. Nothing may be under way.
    pub fn renew_port(&mut self) -> Result<(), Error> {
        let (Kind::Datagrams(udp, _) | Kind::Secured(udp, ..)) = &mut self.kind else {
            return Ok(());
        };
        let packets = udp.traffic().packets;
        if packets - self.port_began >= PORT_PACKETS_MAX {
            udp.change_port()?;
            self.port_began = packets;
        }
        Ok(())
    }

    /// Sends a request; an error where too many are under way.
    pub fn request(&mut self, message: Message, confirmable: bool) -> Result<CallId, Error> {
        let call = match &mut self.kind {
            Kind::Datagrams(_, endpoint) => endpoint.request(now(), (), message, confirmable),
            Kind::Secured(_, endpoint, _) => endpoint.request(now(), SERVER, message, confirmable),
            Kind::Stream(_, connection) => connection.request(message),
        };
        call.ok_or_else(|| self.failed(Cause::Full, "asking by CoAP"))
    }

    /// Sends a request that is acknowledged, and waits for its answer, whatever its code is.
    pub fn ask(&mut self, message: Message) -> Result<(CallId, Message), Error> {
        const DOING: &str = "waiting for an answer by CoAP";
        let asked = self.request(message, true)?;
        let end = now() + self.wait;
        while now() < end {
            while let Some(event) = self.next_event()? {
                match event {
                    Event::Response(call, (), answer) | Event::Notification(call, answer)
                        if call == asked =>
                    {
                        return Ok((asked, answer));
                    }
                    Event::Failed(call, failure) if call == asked => {
                        return Err(self.failed(Cause::Unlike(failure.to_string()), DOING));
                    }
                    _ => {}
                }
            }
            self.receive()?;
        }
        Err(self.failed(Cause::Silent, DOING))
    }

    /// The same, and again with what the server wants back, so that it believes what follows (RFC 9175 section 2.3, RFC
    /// 8613 appendix B.1.2).
    pub fn ask_fresh(&mut self, message: Message) -> Result<Message, Error> {
        let (_, answer) = self.ask(message.clone())?;
        let Some(echo) = challenge(&answer) else {
            return Ok(answer);
        };
        let mut again = message;
        again.options.push(Number::ECHO, &echo);
        let (_, answer) = self.ask(again)?;
        match challenge(&answer) {
            None => Ok(answer),
            Some(_) => {
                let cause = Cause::Refused("that the client is not fresh".into());
                Err(self.failed(cause, "showing freshness by CoAP"))
            }
        }
    }

    /// Gives a request or an observation up.
    pub fn cancel(&mut self, call: CallId) {
        match &mut self.kind {
            Kind::Datagrams(_, endpoint) => endpoint.cancel(now(), call),
            Kind::Secured(_, endpoint, _) => endpoint.cancel(now(), call),
            Kind::Stream(_, connection) => connection.cancel(call),
        }
    }

    /// Sends what is due, and leaves events to whom asks for the next.
    pub fn send_due(&mut self) -> Result<(), Error> {
        while let Some(event) = self.turn()? {
            self.told.push_back(event);
        }
        Ok(())
    }

    /// Sends what is due; the next event, if there is one.
    pub fn next_event(&mut self) -> Result<Option<Event<()>>, Error> {
        match self.told.pop_front() {
            Some(event) => Ok(Some(event)),
            None => self.turn(),
        }
    }

    fn turn(&mut self) -> Result<Option<Event<()>>, Error> {
        loop {
            let output = match &mut self.kind {
                Kind::Datagrams(udp, endpoint) => match endpoint.poll() {
                    Output::Transmit(datagram) => {
                        udp.send(&datagram.bytes)?;
                        continue;
                    }
                    Output::Event(event) => return Ok(Some(event)),
                    Output::Timeout(due) => due,
                },
                Kind::Secured(udp, endpoint, guard) => match endpoint.poll() {
                    Output::Transmit(datagram) => {
                        if let Some(closed) = guard.close(datagram.peer, &datagram.bytes) {
                            udp.send(&closed)?;
                        }
                        continue;
                    }
                    Output::Event(event) => match plain(event) {
                        Some(event) => return Ok(Some(event)),
                        None => continue,
                    },
                    Output::Timeout(due) => due,
                },
                Kind::Stream(tcp, connection) => match connection.poll_output() {
                    Output::Transmit(bytes) => {
                        tcp.send(&bytes)?;
                        continue;
                    }
                    Output::Event(event) => return Ok(Some(event)),
                    Output::Timeout(due) => due,
                },
            };
            self.due = output;
            return Ok(None);
        }
    }

    /// Waits for something from the server; of datagrams only a little.
    pub fn receive(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            Kind::Datagrams(udp, endpoint) => {
                if let Some(length) = udp.receive(&mut self.buffer)? {
                    let bytes = &self.buffer[..length];
                    endpoint.receive(now(), (), Arrival::default(), bytes);
                }
                if now() >= self.due {
                    endpoint.timeout(now());
                }
                Ok(())
            }
            Kind::Secured(udp, endpoint, guard) => {
                if let Some(length) = udp.receive(&mut self.buffer)? {
                    let arrival = Arrival::default();
                    match guard.open((), &self.buffer[..length]) {
                        Opened::Taken(peer, bytes) => {
                            endpoint.receive(now(), peer, arrival, &bytes);
                        }
                        Opened::Untouched(peer) => {
                            endpoint.receive(now(), peer, arrival, &self.buffer[..length]);
                        }
                        Opened::Answer(bytes) => udp.send(&bytes)?,
                        Opened::Dropped => {}
                    }
                }
                if now() >= self.due {
                    endpoint.timeout(now());
                }
                Ok(())
            }
            Kind::Stream(tcp, connection) => {
                let length = tcp.receive(&mut self.buffer)?;
                let taken = connection.handle_input(now(), &self.buffer[..length]);
                taken.map_err(|fault| {
                    let cause = Cause::Unlike(format!("{fault:?}"));
                    tcp.failed(cause, "reading CoAP")
                })
            }
        }
    }

    /// Whether an answer is a success; an error is what the server says instead.
    pub fn check(&self, answer: &Message) -> Result<(), Error> {
        let refused = |said| Err(self.failed(Cause::Refused(said), "asking by CoAP"));
        refusal(answer).map_or(Ok(()), refused)
    }

    fn failed(&self, cause: Cause, doing: &'static str) -> Error {
        cause.of(self.address, doing)
    }

    /// What went over the link since it was opened.
    pub fn traffic(&self) -> Result<Traffic, Error> {
        match &self.kind {
            Kind::Datagrams(udp, _) | Kind::Secured(udp, ..) => Ok(udp.traffic()),
            Kind::Stream(tcp, _) => tcp.traffic(),
        }
    }
}

/// An event of a secured endpoint as one of an endpoint that knows one peer; a device serves no requests.
fn plain(event: Event<Remote<()>>) -> Option<Event<()>> {
    match event {
        Event::Response(call, _, message) => Some(Event::Response(call, (), message)),
        Event::Notification(call, message) => Some(Event::Notification(call, message)),
        Event::Failed(call, failure) => Some(Event::Failed(call, failure)),
        Event::Request(_) | Event::Ended(_) => None,
    }
}
