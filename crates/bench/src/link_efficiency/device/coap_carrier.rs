//! What carries a device's CoAP: the machine of datagrams on UDP, or that of connections on TCP.

use weir_coap::limits::Limits;
use weir_coap::session::{Arrival, CallId, Connection, Endpoint, Event, Parameters};
use weir_coap::wire::{Framing, Message};
use weir_sansio::{Instant, Output, Session};

use super::Peer;
use super::tcp::Tcp;
use super::udp::Udp;
use crate::clock::now_ns;
use crate::limits::READ_BYTES_MAX;
use crate::link_efficiency::job::CoapOver;
use crate::link_efficiency::traffic::Traffic;

/// The name of CoAP in a handshake of TLS (RFC 8323 section 8.2).
const ALPN: &str = "coap";

/// One server, and how it is spoken to.
pub(super) struct Carrier {
    kind: Kind,
    /// When the machine wants to be called again.
    due: Instant,
    buffer: Vec<u8>,
}

enum Kind {
    Datagrams(Udp, Box<Endpoint<()>>),
    Stream(Tcp, Box<Connection>),
}

fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl Carrier {
    pub(super) fn open(peer: &Peer, over: CoapOver) -> Result<Self, String> {
        let limits = Limits::default();
        let kind = match over {
            CoapOver::Stream => {
                let connection = Connection::new(Framing::Stream, limits, now_ns());
                Kind::Stream(Tcp::connect(peer, Some(ALPN))?, Box::new(connection))
            }
            CoapOver::Confirmable | CoapOver::NonConfirmable => {
                let endpoint = Endpoint::new(Parameters::default(), limits, now_ns());
                Kind::Datagrams(Udp::connect(peer)?, Box::new(endpoint))
            }
        };
        Ok(Self {
            kind,
            due: Instant::NEVER,
            buffer: vec![0; READ_BYTES_MAX],
        })
    }

    /// Sends a request; nothing where too many are under way.
    pub(super) fn request(&mut self, message: Message, confirmable: bool) -> Option<CallId> {
        match &mut self.kind {
            Kind::Datagrams(_, endpoint) => endpoint.request(now(), (), message, confirmable),
            Kind::Stream(_, connection) => connection.request(message),
        }
    }

    /// Gives a request or an observation up.
    pub(super) fn cancel(&mut self, call: CallId) {
        match &mut self.kind {
            Kind::Datagrams(_, endpoint) => endpoint.cancel(now(), call),
            Kind::Stream(_, connection) => connection.cancel(call),
        }
    }

    /// Sends what is due; the next event, if there is one.
    pub(super) fn next_event(&mut self) -> Result<Option<Event<()>>, String> {
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
    pub(super) fn receive(&mut self) -> Result<(), String> {
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
            Kind::Stream(tcp, connection) => {
                let length = tcp.receive(&mut self.buffer)?;
                let taken = connection.handle_input(now(), &self.buffer[..length]);
                taken.map_err(|fault| format!("{fault:?}"))
            }
        }
    }

    pub(super) fn traffic(&self) -> Result<Traffic, String> {
        match &self.kind {
            Kind::Datagrams(udp, _) => Ok(udp.traffic()),
            Kind::Stream(tcp, _) => tcp.traffic(),
        }
    }
}
