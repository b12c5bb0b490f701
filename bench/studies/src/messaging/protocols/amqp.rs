//! The native client of both AMQPs: the machines of the gateway's own client, a socket, one thread.
//!
//! At most once, as the other protocols here: what is published and what comes is settled when it is sent. The
//! socket has TCP_NODELAY, without which a client waits 40 ms for the acknowledgment of a segment before it
//! sends the next small one.

use bytes::Bytes;
use weir_amqp::client::{ClientEvent, Machine, Options, Outgoing, Sent, Settle};
use weir_sansio::{Instant, Output};

use super::super::job::At;
use super::Client;
use super::tcp::Tcp;
use weir_bench_model::clock::now_ns;

/// The format of messages.
const JSON: &str = "application/json";

/// A connection with a subscription.
pub(super) struct Amqp {
    tcp: Tcp,
    machine: Box<dyn Machine>,
    out: Vec<u8>,
}

/// Makes a machine.
type Make = fn(Instant, Options) -> Box<dyn Machine>;

fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

impl Amqp {
    /// Connects, and subscribes where there is a filter.
    pub(super) fn open(
        at: At,
        filter: Option<&str>,
        login: Option<(&str, &str)>,
        make: Make,
    ) -> Result<Self, String> {
        let tcp = Tcp::open(at)?;
        let options = Options {
            login: login.map(|(user, password)| (user.into(), password.into())),
            idle_secs: 0,
            filters: filter.into_iter().map(Into::into).collect(),
            publishes: true,
            confirmed: false,
            ..Options::default()
        };
        let mut client = Self {
            tcp,
            machine: make(now(), options),
            out: Vec::new(),
        };
        loop {
            match client.next_event()? {
                Some(ClientEvent::Ready(_)) => return Ok(client),
                Some(_) => {}
                None if client.read()? => {}
                None => return Err("the broker was silent for too long".into()),
            }
        }
    }

    /// Sends what is due; the next event, if there is one.
    fn next_event(&mut self) -> Result<Option<ClientEvent>, String> {
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => self.tcp.send(&bytes)?,
                Output::Event(ClientEvent::Closed(closed)) => {
                    return Err(format!("the connection is over: {}", closed.reason));
                }
                Output::Event(ClientEvent::Poison { reason, .. }) => {
                    return Err(format!("a message cannot be read: {reason}"));
                }
                Output::Event(event) => return Ok(Some(event)),
                Output::Timeout(_) => return Ok(None),
            }
        }
    }

    /// Waits for bytes; false where none come in time.
    fn read(&mut self) -> Result<bool, String> {
        let Some(bytes) = self.tcp.read()? else {
            return Ok(false);
        };
        let Ok(()) = self.machine.handle_input(now(), bytes);
        Ok(true)
    }
}

impl Client for Amqp {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        let message = Outgoing {
            topic,
            content_type: Some(JSON),
            headers: &[],
            payload,
            token: 0,
        };
        loop {
            self.out.clear();
            match self.machine.publish(now(), &message, &mut self.out) {
                Sent::Done => return self.tcp.send(&self.out),
                Sent::Never(reason) => return Err(format!("a message cannot be sent: {reason}")),
                Sent::Full => {}
            }
            // Credit comes by what the broker says.
            if self.next_event()?.is_some() {
                return Err("a message came while credit was awaited".into());
            }
            if !self.read()? {
                return Err("the broker grants nothing for too long".into());
            }
        }
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match self.next_event()? {
                Some(ClientEvent::Message(message)) => {
                    self.machine.settle(message.tag, Settle::Accept);
                    return Ok(Some(message.payload));
                }
                Some(_) => {}
                None if self.read()? => {}
                None => return Ok(None),
            }
        }
    }

    fn nodelay(&self) -> Option<bool> {
        self.tcp.nodelay()
    }
}
