//! XMPP by publish-subscribe (XEP-0060): a node a topic, JSON as of XEP-0335, nothing waited for.

use bytes::Bytes;
use weir_sansio::{Instant, Output, Session as _};
use weir_xmpp::names::{EVENT, JSON};
use weir_xmpp::session::{Client as Session, ClientOptions, SessionEvent};
use weir_xmpp::xml::{Element, escape, escape_content};

use super::super::job::At;
use super::tcp::Tcp;
use super::{Client, Protocol};
use weir_bench_lab::targets::prosody::{DOMAIN, SERVICE, USER};
use weir_bench_model::clock::now_ns;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "xmpp",
    title: "XMPP",
    published: Some("XMPP"),
    ours: Some("weir_xmpp"),
    others: &["prosody"],
    apart: &[],
    takes_given: false,
    about: "XMPP: a publish-subscribe service behind Prosody, its own or the gateway as its component; a \
            message is an item with JSON, and nobody waits for the answer to a publication. The native client is \
            the gateway's; in pages it is strophe.js through Prosody's WebSocket. Prosody leaves Nagle's \
            algorithm on, which costs 40 to 60 ms a round trip, and writes a node's items to their file twice a \
            publication: here `nagle = false` is set, and its own service \
            keeps items in memory.",
    open: |at, part| Ok(Box::new(Xmpp::open(at, part.topic())?)),
};

/// A session, with a subscription where it listens.
struct Xmpp {
    tcp: Tcp,
    session: Session,
    requests: u64,
}

fn now() -> Instant {
    Instant::from_nanos(now_ns())
}

/// A wait until a component is there, milliseconds, and how often.
const AGAIN_MS: u64 = 50;
const ATTEMPTS_MAX: usize = 200;

impl Xmpp {
    fn open(at: At, topic: Option<&str>) -> Result<Self, String> {
        let tcp = Tcp::open(at)?;
        let options = ClientOptions {
            domain: DOMAIN.into(),
            user: USER.0.into(),
            password: USER.1.into(),
            nonce: format!("bench{}", now_ns()),
            may_be_clear: true,
            ..ClientOptions::default()
        };
        let mut client = Self {
            tcp,
            session: Session::new(now(), options),
            requests: 0,
        };
        while !matches!(client.wait()?, SessionEvent::Ready { .. }) {}
        topic.map_or(Ok(()), |topic| client.listen(topic))?;
        Ok(client)
    }

    /// Subscribes as soon as the service is there.
    fn listen(&mut self, topic: &str) -> Result<(), String> {
        for _ in 0..ATTEMPTS_MAX {
            match self.subscribe(topic)? {
                None => return Ok(()),
                Some(condition) if condition == "service-unavailable" => {
                    std::thread::sleep(std::time::Duration::from_millis(AGAIN_MS));
                }
                Some(condition) => return Err(format!("no subscription: {condition}")),
            }
        }
        Err("the publish-subscribe service does not come".into())
    }

    /// Subscribes; the condition where it is refused.
    fn subscribe(&mut self, topic: &str) -> Result<Option<String>, String> {
        let jid = self.session.jid().to_owned();
        let mut inner = "<subscribe node='".to_owned();
        escape(topic, &mut inner);
        inner.push_str("' jid='");
        escape(&jid, &mut inner);
        inner.push_str("'/>");
        let id = self.request(&inner)?;
        loop {
            let SessionEvent::Stanza(stanza, _) = self.wait()? else {
                continue;
            };
            if stanza.attribute("id") != Some(&id) {
                continue;
            }
            let error = stanza.elements().find(|child| child.name == "error");
            let condition = error.and_then(|error| error.elements().next());
            return Ok(condition.map(|condition| condition.name.clone()));
        }
    }

    /// Sends a request and does not wait for its answer; events stay where they are until they are asked for.
    fn send(&mut self, inner: &str) -> Result<String, String> {
        self.requests += 1;
        let id = format!("b{}", self.requests);
        self.session.send(format!(
            "<iq type='set' id='{id}' to='{SERVICE}'><pubsub xmlns='http://jabber.org/protocol/pubsub'>\
             {inner}</pubsub></iq>"
        ));
        match self.session.poll_output() {
            Output::Transmit(bytes) => {
                self.tcp.send(&bytes)?;
                Ok(id)
            }
            _ => Err("nothing to send".into()),
        }
    }

    /// Sends a request where nothing else is under way.
    fn request(&mut self, inner: &str) -> Result<String, String> {
        let id = self.send(inner)?;
        match self.next_event()? {
            Some(event) => Err(format!("unexpected: {event:?}")),
            None => Ok(id),
        }
    }

    fn wait(&mut self) -> Result<SessionEvent, String> {
        loop {
            if let Some(event) = self.next_event()? {
                return Ok(event);
            }
            if !self.read()? {
                return Err("the server was silent for too long".into());
            }
        }
    }

    /// Sends what is due; the next event, if there is one.
    fn next_event(&mut self) -> Result<Option<SessionEvent>, String> {
        loop {
            match self.session.poll_output() {
                Output::Transmit(bytes) => {
                    self.tcp.send(&bytes)?;
                }
                Output::Event(SessionEvent::Closed(failure)) => return Err(failure.to_string()),
                Output::Event(event) => {
                    self.session.handled();
                    return Ok(Some(event));
                }
                Output::Timeout(_) => return Ok(None),
            }
        }
    }

    /// Waits for bytes; false where none come in time.
    fn read(&mut self) -> Result<bool, String> {
        let Some(bytes) = self.tcp.read()? else {
            return Ok(false);
        };
        let Ok(()) = self.session.handle_input(now(), bytes);
        Ok(true)
    }
}

/// The JSON that a notification carries; an error where a publication was refused.
fn payload(stanza: &Element) -> Result<Option<Bytes>, String> {
    if stanza.name == "iq" && stanza.attribute("type") == Some("error") {
        return Err(format!("a publication is refused: {stanza:?}"));
    }
    let items = stanza
        .find(EVENT, "event")
        .and_then(|event| event.find(EVENT, "items"));
    let item = items.and_then(|items| items.find(EVENT, "item"));
    let json = item.and_then(|item| item.find(JSON, "json"));
    Ok(json.map(|json| json.own_text().into()))
}

impl Client for Xmpp {
    fn nodelay(&self) -> Option<bool> {
        self.tcp.nodelay()
    }

    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(payload).map_err(|e| e.to_string())?;
        let mut inner = String::with_capacity(2 * text.len());
        inner.push_str("<publish node='");
        escape(topic, &mut inner);
        inner.push_str("'><item><json xmlns='urn:xmpp:json:0'>");
        escape_content(text, &mut inner);
        inner.push_str("</json></item></publish>");
        self.send(&inner).map(drop)
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            match self.next_event()? {
                Some(SessionEvent::Stanza(stanza, _)) => {
                    if let Some(message) = payload(&stanza)? {
                        return Ok(Some(message));
                    }
                }
                Some(_) => {}
                None if self.read()? => {}
                None => return Ok(None),
            }
        }
    }
}
