//! Both AMQPs by the machines of the gateway's own client: one connection that publishes and listens.
//!
//! At most once: what is published and what comes is settled when it is sent.

use bytes::Bytes;
use weir_amqp::client::{ClientEvent, Machine, Options, Outgoing, Sent, Settle, v10, v091};

use crate::error::{Cause, Doing, Error};
use crate::sockets::Peer;
use crate::sockets::driven::{Driven, now};

/// A connection, with a subscription where it listens.
pub struct Amqp {
    driven: Driven<dyn Machine>,
    out: Vec<u8>,
}

fn over(event: &ClientEvent) -> Option<Cause> {
    match event {
        ClientEvent::Closed(closed) => Some(Cause::Closed(closed.reason.to_string())),
        ClientEvent::Poison { reason, .. } => {
            Some(Cause::Unlike(format!("a message cannot be read: {reason}")))
        }
        _ => None,
    }
}

fn options(filter: Option<&str>) -> Options {
    Options {
        idle_secs: 0,
        filters: filter.into_iter().map(Into::into).collect(),
        publishes: true,
        confirmed: false,
        ..Options::default()
    }
}

impl Amqp {
    /// AMQP 0.9.1, with a name and a password; subscribed where there is a filter.
    pub fn v091(
        peer: &Peer,
        filter: Option<&str>,
        (user, password): (&str, &str),
    ) -> Result<Self, Error> {
        let options = Options {
            login: Some((user.into(), password.into())),
            ..options(filter)
        };
        Self::open(peer, Box::new(v091::Client::new(now(), options)))
    }

    /// AMQP 1.0, as a container of this name; subscribed where there is a filter.
    pub fn v10(peer: &Peer, filter: Option<&str>, container: String) -> Result<Self, Error> {
        let machine = v10::Client::new(now(), options(filter), container);
        Self::open(peer, Box::new(machine))
    }

    fn open(peer: &Peer, machine: Box<dyn Machine>) -> Result<Self, Error> {
        let mut driven = Driven::open(peer, machine, over)?;
        let ready = |event| matches!(event, ClientEvent::Ready(_)).then_some(());
        driven.wait_for(ready).doing("connecting by AMQP")?;
        let out = Vec::new();
        Ok(Self { driven, out })
    }

    /// Publishes a message as soon as the broker grants credit, and goes on.
    pub fn publish(
        &mut self,
        topic: &str,
        content_type: &str,
        payload: &[u8],
    ) -> Result<(), Error> {
        const DOING: &str = "publishing by AMQP";
        let message = Outgoing {
            topic,
            content_type: Some(content_type),
            headers: &[],
            payload,
            token: 0,
        };
        let driven = &mut self.driven;
        loop {
            self.out.clear();
            match driven.machine.publish(now(), &message, &mut self.out) {
                Sent::Done => return driven.tcp.send(&self.out).doing(DOING),
                Sent::Never(why) => {
                    let cause = Cause::Unsendable(why.to_string());
                    return Err(driven.tcp.failed(cause, DOING));
                }
                Sent::Full => {}
            }
            // Credit comes by what the broker says.
            if driven.next_event()?.is_some() {
                let cause = Cause::Unlike("a message came while credit was awaited".into());
                return Err(driven.tcp.failed(cause, DOING));
            }
            driven.receive().doing(DOING)?;
        }
    }

    /// Waits for the next message.
    pub fn message(&mut self) -> Result<Bytes, Error> {
        let message = self.driven.wait_for(|event| match event {
            ClientEvent::Message(message) => Some(message),
            _ => None,
        })?;
        self.driven.machine.settle(message.tag, Settle::Accept);
        Ok(message.payload)
    }

    /// Whether the kernel says that its socket sends at once.
    pub fn nodelay(&self) -> Option<bool> {
        self.driven.tcp.nodelay()
    }
}
