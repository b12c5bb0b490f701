//! XMPP by publish-subscribe (XEP-0060): a node a topic, JSON as of XEP-0335, nothing waited for.

use bytes::Bytes;
use weir_bench_peers::unless_silent;
use weir_bench_peers::xmpp::{Account, Xmpp};

use super::super::job::At;
use super::{Client, Part, Protocol};
use weir_bench_lab::targets::prosody::{DOMAIN, SERVICE, USER};

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
    open,
};

/// Begins a session, and subscribes where it listens.
fn open(at: At, part: Part<'_>) -> Result<Box<dyn Client>, String> {
    let account = Account {
        domain: DOMAIN,
        user: USER,
        service: SERVICE,
    };
    let mut xmpp = Xmpp::open(&at.peer(), account)?;
    if let Some(topic) = part.topic() {
        xmpp.subscribe(topic)?;
    }
    Ok(Box::new(xmpp))
}

impl Client for Xmpp {
    fn nodelay(&self) -> Option<bool> {
        self.nodelay()
    }

    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        Ok(self.publish(topic, payload)?)
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        Ok(unless_silent(self.message())?)
    }
}
