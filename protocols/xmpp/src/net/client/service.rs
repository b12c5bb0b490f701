//! A publish-subscribe service, as a client asks it.

use super::connection::{Came, Connection};
use crate::jid;
use crate::names::{CLIENT, INFO, MESSAGE, STANZAS};
use crate::xml::{Element, Skipped, escape};
use std::collections::VecDeque;
use std::io;

/// A service, reached through a server.
pub(super) struct Service {
    pub(super) connection: Connection,
    pub(super) jid: String,
    /// Whether it is a gateway of our kind: its nodes are topics and filters, its items have cursors.
    pub(super) is_weir: bool,
    /// What came while an answer was awaited.
    pub(super) aside: VecDeque<Came>,
}

/// What a request comes to.
pub(super) enum Answer {
    Result(Element),
    /// A condition, and what the service says.
    Error(String, String),
    /// The stream began anew before there was an answer.
    Anew,
}

impl Service {
    /// The service that a URL names, `pubsub` of the server's domain where it names none.
    pub(super) async fn open(connection: Connection) -> io::Result<Self> {
        let url = &connection.url;
        let jid = url
            .service
            .clone()
            .unwrap_or_else(|| format!("pubsub.{}", url.domain));
        let mut service = Self {
            connection,
            jid,
            is_weir: false,
            aside: VecDeque::new(),
        };
        service.discover().await?;
        Ok(service)
    }

    pub(super) async fn discover(&mut self) -> io::Result<()> {
        let request = format!("<query xmlns='{INFO}'/>");
        match self.ask("get", &request).await? {
            Answer::Result(iq) => {
                let query = iq.find(INFO, "query");
                let mut features = query.into_iter().flat_map(Element::elements);
                self.is_weir = features.any(|feature| feature.attribute("var") == Some(MESSAGE));
                Ok(())
            }
            Answer::Error(condition, text) => {
                let sentence = format!(
                    "no publish-subscribe service at {}: {condition}: {text}",
                    self.jid
                );
                Err(io::Error::new(io::ErrorKind::NotFound, sentence))
            }
            Answer::Anew => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Asks and waits for the answer; what comes meanwhile is kept.
    pub(super) async fn ask(&mut self, kind: &str, request: &str) -> io::Result<Answer> {
        let id = self.connection.next_id();
        let mut iq = format!("<iq type='{kind}' id='{id}' to='");
        escape(&self.jid, &mut iq);
        iq.push_str("'>");
        iq.push_str(request);
        iq.push_str("</iq>");
        self.connection.send(iq).await?;
        loop {
            match self.connection.next().await? {
                Came::Anew => return Ok(Answer::Anew),
                Came::Stanza(stanza, _) if self.answers(&stanza, &id) => return Ok(answer(stanza)),
                Came::Skipped(Skipped {
                    head: Some(head),
                    fault,
                }) if self.answers(&head, &id) => {
                    return Ok(Answer::Error(fault.condition.into(), fault.text));
                }
                other => self.set_aside(other).await?,
            }
        }
    }

    /// Whether it is the answer from the service itself (RFC 6120 section 8.1.2.1).
    // [RFC6120-8.1-1]
    fn answers(&self, stanza: &Element, id: &str) -> bool {
        stanza.is(CLIENT, "iq")
            && stanza.attribute("id") == Some(id)
            && stanza.attribute("from") == Some(&self.jid)
            && matches!(stanza.attribute("type"), Some("result" | "error"))
    }

    /// Keeps what is for later; a request of somebody else gets its answer (RFC 6120 section 8.2.3).
    pub(super) async fn set_aside(&mut self, came: Came) -> io::Result<()> {
        match &came {
            Came::Stanza(stanza, _) if stanza.is(CLIENT, "iq") => self.decline(stanza).await,
            Came::Skipped(skipped) => self.pass_over(skipped).await,
            _ => {
                self.aside.push_back(came);
                Ok(())
            }
        }
    }

    /// Tells of what is over a limit, in which an item may have been; a request gets its answer all the same.
    async fn pass_over(&mut self, skipped: &Skipped) -> io::Result<()> {
        let head = skipped.head.as_ref();
        let from = head.and_then(|head| head.attribute("from"));
        let (from, fault) = (from.unwrap_or("somebody"), &skipped.fault);
        tracing::warn!("XMPP: a stanza of {from} is set aside: {fault}");
        match head.filter(|head| head.is(CLIENT, "iq")) {
            Some(iq) => self.decline(iq).await,
            None => Ok(()),
        }
    }

    async fn decline(&mut self, iq: &Element) -> io::Result<()> {
        if !matches!(iq.attribute("type"), Some("get" | "set")) {
            return Ok(());
        }
        let is_ping = iq.elements().any(|child| child.name == "ping");
        let kind = if is_ping { "result" } else { "error" };
        let mut answer = Element::new(CLIENT, "iq").with("type", kind);
        for (name, from) in [("id", "id"), ("to", "from")] {
            if let Some(value) = iq.attribute(from) {
                answer = answer.with(name, value);
            }
        }
        if !is_ping {
            let condition = Element::new(STANZAS, "service-unavailable");
            answer = answer.child(
                Element::new(CLIENT, "error")
                    .with("type", "cancel")
                    .child(condition),
            );
        }
        let mut text = String::new();
        answer.write(CLIENT, &mut text);
        self.connection.send(text).await
    }

    /// Whether a stanza comes from the service.
    pub(super) fn is_from(&self, stanza: &Element) -> bool {
        stanza
            .attribute("from")
            .is_some_and(|from| jid::bare(from) == self.jid)
    }
}

fn answer(stanza: Element) -> Answer {
    if stanza.attribute("type") == Some("result") {
        return Answer::Result(stanza);
    }
    let error = stanza.elements().find(|child| child.name == "error");
    let conditions = error.into_iter().flat_map(Element::elements);
    let of_stanzas = conditions.filter(|condition| condition.namespace == STANZAS);
    let (mut condition, mut text) = ("undefined-condition".to_owned(), String::new());
    for child in of_stanzas {
        match child.name.as_str() {
            "text" => text = child.own_text(),
            name => condition = name.to_owned(),
        }
    }
    Answer::Error(condition, text)
}
