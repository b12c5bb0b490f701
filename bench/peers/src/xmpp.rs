//! XMPP by publish-subscribe (XEP-0060): a node a topic, JSON as of XEP-0335, nothing waited for.

use std::thread::sleep;
use std::time::Duration;

use bytes::Bytes;
use weir_sansio::{Output, Session as _};
use weir_xmpp::names::{EVENT, JSON};
use weir_xmpp::session::{Client, ClientOptions, SessionEvent};
use weir_xmpp::xml::{Element, escape, escape_content};

use crate::error::{Cause, Doing, Error};
use crate::sockets::Peer;
use crate::sockets::driven::{Driven, now};
use weir_bench_model::clock::now_ns;

/// Who a client is, and whom it publishes to.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// The domain of its server.
    pub domain: &'a str,
    /// Its name there, and its password.
    pub user: (&'a str, &'a str),
    /// The publish-subscribe service.
    pub service: &'static str,
}

/// A session, with a subscription where it listens.
pub struct Xmpp {
    driven: Driven<Client>,
    service: &'static str,
    requests: u64,
}

/// A wait until a component is there, milliseconds, and how often.
const AGAIN_MS: u64 = 50;
const ATTEMPTS_MAX: usize = 200;

const SUBSCRIBING: &str = "subscribing by XMPP";
const PUBLISHING: &str = "publishing by XMPP";

fn over(event: &SessionEvent) -> Option<Cause> {
    match event {
        SessionEvent::Closed(failure) => Some(Cause::Closed(failure.to_string())),
        _ => None,
    }
}

impl Xmpp {
    /// Begins a session.
    pub fn open(peer: &Peer, account: Account<'_>) -> Result<Self, Error> {
        let options = ClientOptions {
            domain: account.domain.into(),
            user: account.user.0.into(),
            password: account.user.1.into(),
            nonce: format!("bench{}", now_ns()),
            may_be_clear: true,
            ..ClientOptions::default()
        };
        let machine = Box::new(Client::new(now(), options));
        let mut client = Self {
            driven: Driven::open(peer, machine, over)?,
            service: account.service,
            requests: 0,
        };
        let ready = |event| matches!(event, SessionEvent::Ready { .. }).then_some(());
        client.wait_for(ready).doing("connecting by XMPP")?;
        Ok(client)
    }

    /// Subscribes as soon as the service is there.
    pub fn subscribe(&mut self, topic: &str) -> Result<(), Error> {
        for _ in 0..ATTEMPTS_MAX {
            match self.refusal(topic)? {
                None => return Ok(()),
                Some(condition) if condition == "service-unavailable" => {
                    sleep(Duration::from_millis(AGAIN_MS));
                }
                Some(condition) => return Err(self.failed(Cause::Refused(condition), SUBSCRIBING)),
            }
        }
        let cause = Cause::Refused("that there is no such service, to the end".into());
        Err(self.failed(cause, SUBSCRIBING))
    }

    /// Subscribes; the condition where it is refused.
    fn refusal(&mut self, topic: &str) -> Result<Option<String>, Error> {
        let jid = self.driven.machine.jid().to_owned();
        let mut inner = "<subscribe node='".to_owned();
        escape(topic, &mut inner);
        inner.push_str("' jid='");
        escape(&jid, &mut inner);
        inner.push_str("'/>");
        let id = self.send(&inner).doing(SUBSCRIBING)?;
        if let Some(event) = self.next_event()? {
            let cause = Cause::Unlike(format!("unexpected: {event:?}"));
            return Err(self.failed(cause, SUBSCRIBING));
        }
        let answer = |event| match event {
            SessionEvent::Stanza(stanza, _) if stanza.attribute("id") == Some(&id) => Some(stanza),
            _ => None,
        };
        let answer = self.wait_for(answer).doing(SUBSCRIBING)?;
        let error = answer.elements().find(|child| child.name == "error");
        let condition = error.and_then(|error| error.elements().next());
        Ok(condition.map(|condition| condition.name.clone()))
    }

    /// Publishes JSON, and does not wait for the answer.
    pub fn publish(&mut self, topic: &str, json: &[u8]) -> Result<(), Error> {
        let text = std::str::from_utf8(json);
        let text = text.map_err(|e| self.failed(Cause::Unsendable(e.to_string()), PUBLISHING))?;
        let mut inner = String::with_capacity(2 * text.len());
        inner.push_str("<publish node='");
        escape(topic, &mut inner);
        inner.push_str("'><item><json xmlns='urn:xmpp:json:0'>");
        escape_content(text, &mut inner);
        inner.push_str("</json></item></publish>");
        self.send(&inner).doing(PUBLISHING).map(drop)
    }

    /// Waits for the JSON of the next notification; an error where a publication was refused.
    pub fn message(&mut self) -> Result<Bytes, Error> {
        let message = self.wait_for(|event| match event {
            SessionEvent::Stanza(stanza, _) => payload(&stanza).transpose(),
            _ => None,
        })?;
        message.map_err(|cause| self.failed(cause, PUBLISHING))
    }

    /// Whether the kernel says that its socket sends at once.
    pub fn nodelay(&self) -> Option<bool> {
        self.driven.tcp.nodelay()
    }

    /// Sends a request and does not wait for its answer; events stay where they are until they are asked for.
    fn send(&mut self, inner: &str) -> Result<String, Error> {
        self.requests += 1;
        let (id, service) = (format!("b{}", self.requests), self.service);
        self.driven.machine.send(format!(
            "<iq type='set' id='{id}' to='{service}'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
             {inner}</pubsub></iq>"
        ));
        match self.driven.machine.poll_output() {
            Output::Transmit(bytes) => {
                self.driven.tcp.send(&bytes)?;
                Ok(id)
            }
            _ => Err(self.failed(
                Cause::Unsendable("the session has ended".into()),
                PUBLISHING,
            )),
        }
    }

    /// Sends what is due; the next event, if there is one.
    fn next_event(&mut self) -> Result<Option<SessionEvent>, Error> {
        let event = self.driven.next_event()?;
        if event.is_some() {
            self.driven.machine.handled();
        }
        Ok(event)
    }

    fn wait_for<T>(
        &mut self,
        mut wanted: impl FnMut(SessionEvent) -> Option<T>,
    ) -> Result<T, Error> {
        loop {
            match self.next_event()? {
                Some(event) => {
                    if let Some(found) = wanted(event) {
                        return Ok(found);
                    }
                }
                None => self.driven.receive()?,
            }
        }
    }

    fn failed(&self, cause: Cause, doing: &'static str) -> Error {
        self.driven.tcp.failed(cause, doing)
    }
}

/// The JSON that a notification carries; an error where a publication was refused.
fn payload(stanza: &Element) -> Result<Option<Bytes>, Cause> {
    if stanza.name == "iq" && stanza.attribute("type") == Some("error") {
        return Err(Cause::Refused(format!("{stanza:?}")));
    }
    let items = stanza
        .find(EVENT, "event")
        .and_then(|event| event.find(EVENT, "items"));
    let item = items.and_then(|items| items.find(EVENT, "item"));
    let json = item.and_then(|item| item.find(JSON, "json"));
    Ok(json.map(|json| json.own_text().into()))
}
