//! Requests to the service: what is asked, of whom, and what is answered.

use super::answer::{Asked, Refusal};
use super::disco;
use super::feeds::{Feed, Feeds};
use super::fetch::{Fetch, Which};
use super::node::Wanted;
use super::publish::Publication;
use crate::jid;
use crate::limits::{FETCHES_MAX, JID_BYTES_MAX, PENDING_MAX};
use crate::names::{FORMS, INFO, ITEMS, OWNER, PAGES, PING, PUBSUB, STANZAS, SUBSCRIBE_OPTIONS};
use crate::net::settings::ComponentPlan;
use crate::net::told::Told;
use crate::xml::{Element, Skipped};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_hub::{Fault, Grants, Principal, Since, Ticket, Verb};
use weir_model::{Cursor, Datastream};

/// What is under way for users.
pub(super) struct Desk {
    plan: Arc<ComponentPlan>,
    context: Arc<dyn Gateway>,
    pub(super) feeds: Feeds,
    publications: VecDeque<Publication>,
    changes: VecDeque<Change>,
    fetches: Vec<Fetch>,
}

/// A request that is answered once its record is on disk.
struct Change {
    asked: Asked,
    ticket: Ticket,
    answer: Option<Element>,
    /// The subscription that it is about to be.
    subscription: Option<u64>,
}

/// What becomes of a request.
enum Outcome {
    Now(Option<Element>),
    Later,
    /// So many messages are on their way to the disk.
    Published(u64),
}

type Handled = Result<Outcome, Refusal>;

fn now(element: Element) -> Handled {
    Ok(Outcome::Now(Some(element)))
}

impl Desk {
    pub(super) fn new(plan: &Arc<ComponentPlan>, context: &Arc<dyn Gateway>) -> Self {
        Self {
            plan: plan.clone(),
            context: context.clone(),
            feeds: Feeds::new(plan.clone(), context.clone()),
            publications: VecDeque::new(),
            changes: VecDeque::new(),
            fetches: Vec::new(),
        }
    }

    /// The stream is gone, and with it who waited for answers.
    pub(super) fn hang_up(&mut self) {
        self.publications.clear();
        for change in self.changes.drain(..) {
            self.feeds.doubt(change.asked.from());
        }
        self.fetches.clear();
        self.feeds.pause();
    }

    /// Whether as much is under way as may be: then no more is read.
    pub(super) fn is_full(&self) -> bool {
        self.publications.len() + self.changes.len() >= PENDING_MAX
    }

    /// Takes a stanza; says what is answered at once.
    pub(super) fn take(
        &mut self,
        stanza: &Element,
        document: &[u8],
        told: &Told,
    ) -> Option<String> {
        let kind = stanza.attribute("type").unwrap_or_default();
        match (stanza.name.as_str(), kind) {
            ("iq", "get" | "set") => self.answer(stanza, kind == "set", document, told),
            ("presence", "unavailable") | ("message" | "presence", "error") => {
                self.leave(stanza);
                None
            }
            _ => None,
        }
    }

    /// Says what is answered to a request that is over a limit (RFC 6120 section 8.3.3.9).
    pub(super) fn decline(&self, skipped: &Skipped, told: &Told) -> Option<String> {
        let head = skipped.head.as_ref().filter(|head| head.name == "iq")?;
        let asks = matches!(head.attribute("type"), Some("get" | "set"));
        asks.then(|| {
            told.refused();
            let refusal = Refusal::new("modify", "not-acceptable", skipped.fault.text.as_str());
            Asked::of(head).error(&refusal)
        })
    }

    /// An address went away (directed presence, RFC 6121 section 4.6), or cannot be reached: its subscriptions
    /// end, unless it is a user's as such.
    fn leave(&mut self, stanza: &Element) {
        let who = stanza.attribute("from").unwrap_or_default();
        let error = stanza.elements().find(|child| child.name == "error");
        let is_gone = error.is_none_or(|error| {
            [
                "gone",
                "item-not-found",
                "recipient-unavailable",
                "remote-server-not-found",
                "service-unavailable",
            ]
            .iter()
            .any(|condition| error.find(STANZAS, condition).is_some())
        });
        if is_gone && jid::resource(who).is_some() {
            self.feeds.gone(who);
        }
    }

    // [RFC6120-8.2-1]
    fn answer(&mut self, iq: &Element, sets: bool, document: &[u8], told: &Told) -> Option<String> {
        let asked = Asked::of(iq);
        let principal = self.context.vouched(jid::bare(asked.from()));
        match self.handle(iq, sets, document, &asked, &principal) {
            Ok(Outcome::Now(child)) => Some(asked.result(child)),
            Ok(Outcome::Later) => None,
            Ok(Outcome::Published(messages)) => {
                told.tally.receive(messages);
                None
            }
            Err(refusal) => {
                told.refused();
                Some(asked.error(&refusal))
            }
        }
    }

    fn handle(
        &mut self,
        iq: &Element,
        sets: bool,
        document: &[u8],
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        let unserved = || Refusal::new("cancel", "service-unavailable", "not served here");
        let query = iq
            .elements()
            .next()
            .ok_or_else(|| Refusal::bad("an empty request"))?;
        let node = query.attribute("node").map(Wanted::parse).transpose();
        match (sets, query.namespace.as_str(), query.name.as_str()) {
            // [XEP0199-4-1]
            (false, PING, "ping") => Ok(Outcome::Now(None)),
            (false, INFO, "query") => match node? {
                None => now(disco::service()),
                Some(wanted) => now(disco::node(&*self.context, principal, &wanted)?),
            },
            (false, ITEMS, "query") => {
                let page = query.find(PAGES, "set");
                let (gateway, domain) = (&*self.context, &self.plan.domain);
                now(disco::nodes(
                    gateway,
                    principal,
                    domain,
                    node?.as_ref(),
                    page,
                )?)
            }
            (_, PUBSUB, "pubsub") => self.pubsub(query, sets, document, asked, principal),
            (_, OWNER, "pubsub") => self.owner(query, sets, asked, principal),
            _ => Err(unserved()),
        }
    }

    /// XEP-0060 sections 5 to 7.
    fn pubsub(
        &mut self,
        pubsub: &Element,
        sets: bool,
        document: &[u8],
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        let first = pubsub
            .elements()
            .next()
            .ok_or_else(|| Refusal::bad("an empty request"))?;
        match (sets, first.name.as_str()) {
            (true, "publish") => {
                check_options(pubsub.find(PUBSUB, "publish-options"), "publish-options")?;
                let publication =
                    Publication::open(&*self.context, principal, asked.clone(), first, document)?;
                let messages = publication.messages();
                self.publications.push_back(publication);
                Ok(Outcome::Published(messages))
            }
            (true, "subscribe") => self.subscribe(pubsub, first, asked, principal),
            (true, "unsubscribe") => self.unsubscribe(first, asked),
            (true, "create") => {
                check_options(pubsub.find(PUBSUB, "configure"), "config-node")?;
                self.create(first, asked, principal)
            }
            (false, "items") => self.items(pubsub, first, asked, principal),
            (false, "subscriptions") => now(self.subscriptions(first, asked)),
            (false, "affiliations") => now(affiliations(first, principal)),
            (true, "retract") => Err(Refusal::unsupported("retract-items")),
            (false, "default") => Err(Refusal::unsupported("retrieve-default")),
            (_, "options") => Err(Refusal::unsupported("subscription-options")),
            (_, name) => Err(Refusal::bad(format!("`{name}` is no request"))),
        }
    }

    /// Section 6.1, with options as of section 6.3.7.
    // [XEP0060-6.1-1]
    fn subscribe(
        &mut self,
        pubsub: &Element,
        subscribe: &Element,
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        let wanted = Wanted::parse(named(subscribe)?)?;
        let who = addressee(subscribe, asked)?.to_owned();
        let since = match option(pubsub, "weir#since").as_deref() {
            None | Some("") => Since::Now,
            Some("snapshot") => Since::Snapshot,
            Some(text) => {
                let unknown =
                    |_| Refusal::bad(format!("`{text}` is no cursor")).with("invalid-options");
                Since::Cursor(text.parse::<Cursor>().map_err(unknown)?)
            }
        };
        let node = wanted.node.clone();
        let (id, position, ticket) = self.feeds.subscribe(principal, &who, wanted, since)?;
        let answer = Element::new(PUBSUB, "pubsub")
            .child(subscription(&node, &who, id))
            .child(options(position));
        self.changes.push_back(Change {
            asked: asked.clone(),
            ticket,
            answer: Some(answer),
            subscription: Some(id),
        });
        Ok(Outcome::Later)
    }

    /// Section 6.2.
    // [XEP0060-6.2-1]
    fn unsubscribe(&mut self, unsubscribe: &Element, asked: &Asked) -> Handled {
        let node = named(unsubscribe)?;
        let who = addressee(unsubscribe, asked)?;
        let id = match unsubscribe.attribute("subid") {
            None => None,
            Some(text) => {
                let unknown =
                    |_| Refusal::new("modify", "not-acceptable", text).with("invalid-subid");
                Some(text.parse().map_err(unknown)?)
            }
        };
        if self.feeds.unsubscribe(who, node, id) == 0 {
            let text = format!("{who} is not subscribed to `{node}`");
            return Err(Refusal::new("cancel", "unexpected-request", text).with("not-subscribed"));
        }
        match self.feeds.keep(who) {
            Ok(ticket) => Ok(self.later(asked, ticket)),
            // It is over, and tried again until the log says so too.
            Err(_) => Ok(Outcome::Now(None)),
        }
    }

    /// What is answered without a word once it is on disk.
    fn later(&mut self, asked: &Asked, ticket: Ticket) -> Outcome {
        self.changes.push_back(Change {
            asked: asked.clone(),
            ticket,
            answer: None,
            subscription: None,
        });
        Outcome::Later
    }

    /// Section 8.1: the catalog's entry of a datastream that nothing was published to.
    // [XEP0060-8.1-1]
    fn create(&mut self, create: &Element, asked: &Asked, principal: &Principal) -> Handled {
        let node = create.attribute("node");
        let node = node.ok_or_else(|| Refusal::unsupported("instant-nodes"))?;
        let topic = Wanted::parse(node)?.topic()?.to_owned();
        let named: Vec<_> = weir_model::Filter::parse(&topic).into_iter().collect();
        let hub = self.context.hub();
        // Who may not make it, or not read it, is not told whether it is there.
        hub.check(principal, Verb::Change, &topic)?;
        hub.check(principal, Verb::Read, &topic)?;
        if !hub.internal().entries(&named).is_empty() {
            return Err(Refusal::new(
                "cancel",
                "conflict",
                format!("`{node}` is there already"),
            ));
        }
        self.change(topic, Some(Datastream::default()), asked, principal)
    }

    fn change(
        &mut self,
        topic: String,
        datastream: Option<Datastream>,
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        let hub = self.context.hub();
        let caller = hub.caller(self.context.now(), principal)?;
        let ticket = caller.change(&topic, datastream)?;
        Ok(self.later(asked, ticket))
    }

    /// Section 6.5.
    fn items(
        &mut self,
        pubsub: &Element,
        items: &Element,
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        if self.fetches.len() >= FETCHES_MAX {
            let text = format!("more than {FETCHES_MAX} requests for items at once");
            return Err(Refusal::new("wait", "resource-constraint", text));
        }
        let wanted = Wanted::parse(named(items)?)?;
        let which = Which::read(items, pubsub.find(PAGES, "set"))?;
        let format = wanted.format.unwrap_or(self.plan.format);
        let (asked, principal) = (asked.clone(), principal.clone());
        let fetch = Fetch::open(&*self.context, principal, asked, wanted, format, which)?;
        self.fetches.push(fetch);
        Ok(Outcome::Later)
    }

    /// Section 5.6: the requester's own.
    // [XEP0060-5.6-1]
    fn subscriptions(&self, asked_for: &Element, asked: &Asked) -> Element {
        let node = asked_for.attribute("node");
        let own = self.feeds.of(asked.from());
        let own = own.filter(|(_, feed)| node.is_none_or(|node| feed.wanted.node == node));
        let each =
            own.map(|(id, feed): (u64, &Feed)| subscription(&feed.wanted.node, &feed.jid, id));
        let list = Element::new(PUBSUB, "subscriptions").children(each);
        Element::new(PUBSUB, "pubsub").child(list)
    }

    /// Section 8, of which what a node is and who may what are the gateway's own to say.
    fn owner(
        &mut self,
        pubsub: &Element,
        sets: bool,
        asked: &Asked,
        principal: &Principal,
    ) -> Handled {
        let first = pubsub
            .elements()
            .next()
            .ok_or_else(|| Refusal::bad("an empty request"))?;
        match (sets, first.name.as_str()) {
            // [XEP0060-8.4-1]
            (true, "delete") => {
                let topic = Wanted::parse(named(first)?)?.topic()?.to_owned();
                self.change(topic, None, asked, principal)
            }
            (_, "configure") => Err(Refusal::unsupported("config-node")),
            (_, "purge") => Err(Refusal::unsupported("purge-nodes")),
            (_, "subscriptions") => Err(Refusal::unsupported("manage-subscriptions")),
            (_, "affiliations") => Err(Refusal::unsupported("modify-affiliations")),
            (_, "default") => Err(Refusal::unsupported("retrieve-default")),
            (_, name) => Err(Refusal::bad(format!("`{name}` is no request"))),
        }
    }

    /// Answers that have become ready.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Vec<String> {
        let mut answers = Vec::new();
        while let Some(publication) = self.publications.front_mut() {
            let Poll::Ready(answer) = publication.poll(cx) else {
                break;
            };
            answers.push(answer);
            self.publications.pop_front();
        }
        while let Some(change) = self.changes.front() {
            let Poll::Ready(done) = change.ticket.poll(cx) else {
                break;
            };
            let change = self.changes.pop_front();
            answers.extend(change.map(|change| self.done(change, done.err())));
        }
        let gateway = &*self.context;
        self.fetches
            .retain_mut(|fetch| match fetch.poll(cx, gateway) {
                Poll::Pending => true,
                Poll::Ready(answer) => {
                    answers.push(answer);
                    false
                }
            });
        answers
    }

    /// What is answered where a record is on disk, or cannot come there.
    fn done(&mut self, change: Change, fault: Option<Fault>) -> String {
        match (fault, change.subscription) {
            (None, subscription) => {
                subscription.iter().for_each(|id| self.feeds.begin(*id));
                change.asked.result(change.answer)
            }
            (Some(fault), subscription) => {
                subscription.iter().for_each(|id| self.feeds.give_up(*id));
                self.feeds.doubt(change.asked.from());
                change.asked.error(&Refusal::from(fault))
            }
        }
    }
}

fn named(request: &Element) -> Result<&str, Refusal> {
    let node = request.attribute("node").filter(|node| !node.is_empty());
    node.ok_or_else(|| Refusal::bad("no node").with("nodeid-required"))
}

/// Whose subscription it is: the requester's own (section 6.1.3.1).
// [XEP0060-6.1-2]
fn addressee<'a>(request: &'a Element, asked: &Asked) -> Result<&'a str, Refusal> {
    let who = request
        .attribute("jid")
        .ok_or_else(|| Refusal::bad("no jid").with("jid-required"))?;
    let is_address = who.len() <= JID_BYTES_MAX && !who.contains(char::is_control);
    match is_address && jid::bare(who) == jid::bare(asked.from()) {
        true => Ok(who),
        false if !is_address => Err(Refusal::bad("no address").with("invalid-jid")),
        false => Err(Refusal::bad(format!("`{who}` is somebody else")).with("invalid-jid")),
    }
}

/// The value of an option that a subscription comes with (section 6.3.7).
fn option(pubsub: &Element, name: &str) -> Option<String> {
    let form = pubsub.find(PUBSUB, "options")?.find(FORMS, "x")?;
    let field = form
        .elements()
        .find(|field| field.attribute("var") == Some(name))?;
    field.find(FORMS, "value").map(Element::own_text)
}

/// What a node is here, whatever it is asked to be: who may what is the access policy's to say, and all is kept.
const NODE_OPTIONS: &[(&str, &[&str])] = &[
    ("FORM_TYPE", &[NODE_CONFIG, PUBLISH_OPTIONS]),
    ("pubsub#access_model", &["open"]),
    ("pubsub#deliver_notifications", &["1", "true"]),
    ("pubsub#deliver_payloads", &["1", "true"]),
    ("pubsub#max_items", &["max"]),
    ("pubsub#node_type", &["leaf"]),
    ("pubsub#persist_items", &["1", "true"]),
    ("pubsub#send_last_published_item", &["never"]),
];
const NODE_CONFIG: &str = "http://jabber.org/protocol/pubsub#node_config";
const PUBLISH_OPTIONS: &str = "http://jabber.org/protocol/pubsub#publish-options";

/// Refuses a configuration of another node than there is.
// [XEP0060-10-1]
fn check_options(options: Option<&Element>, feature: &'static str) -> Result<(), Refusal> {
    let form = options.and_then(|options| options.find(FORMS, "x"));
    let fields = form.into_iter().flat_map(Element::elements);
    for field in fields.filter(|field| field.is(FORMS, "field")) {
        let name = field.attribute("var").unwrap_or_default();
        let mut values = field.elements().filter(|value| value.is(FORMS, "value"));
        let known = NODE_OPTIONS.iter().find(|(own, _)| *own == name);
        let is_so = known
            .is_some_and(|(_, all)| values.all(|value| all.contains(&value.own_text().trim())));
        if !is_so {
            let first = field.find(FORMS, "value").map(Element::own_text);
            return Err(Refusal::unsupported(match (name, first.as_deref()) {
                ("pubsub#access_model", Some("authorize")) => "access-authorize",
                ("pubsub#access_model", Some("presence")) => "access-presence",
                ("pubsub#access_model", Some("roster")) => "access-roster",
                ("pubsub#access_model", Some("whitelist")) => "access-whitelist",
                _ => feature,
            }));
        }
    }
    Ok(())
}

/// The options that a subscription has: from where on it is, so that who has had nothing yet can come back too.
fn options(since: Cursor) -> Element {
    let field = |name, value: String| {
        let value = Element::new(FORMS, "value").text(value);
        Element::new(FORMS, "field").with("var", name).child(value)
    };
    let form = Element::new(FORMS, "x")
        .with("type", "result")
        .child(field("FORM_TYPE", SUBSCRIBE_OPTIONS.into()).with("type", "hidden"))
        .child(field("weir#since", since.to_string()));
    Element::new(PUBSUB, "options").child(form)
}

fn subscription(node: &str, who: &str, id: u64) -> Element {
    Element::new(PUBSUB, "subscription")
        .with("node", node)
        .with("jid", who)
        .with("subid", id.to_string())
        .with("subscription", "subscribed")
}

/// What the requester may do at a node, as the access policy says it in words of section 4.1.
// [XEP0060-5.7-1]
fn affiliations(asked_for: &Element, principal: &Principal) -> Element {
    let mut list = Element::new(PUBSUB, "affiliations");
    if let Some(node) = asked_for.attribute("node") {
        let affiliation = affiliation(&principal.grants, node);
        list = list.with("node", node).child(
            Element::new(PUBSUB, "affiliation")
                .with("node", node)
                .with("affiliation", affiliation),
        );
    }
    Element::new(PUBSUB, "pubsub").child(list)
}

fn affiliation(grants: &Grants, node: &str) -> &'static str {
    let may = |verb| match Wanted::parse(node) {
        Ok(wanted) if !wanted.is_collection() => grants.allow(verb, wanted.filter.as_str()),
        Ok(wanted) => grants.may_overlap(verb, &wanted.filter),
        Err(_) => false,
    };
    match (may(Verb::Read), may(Verb::Publish), may(Verb::Change)) {
        (_, _, true) => "owner",
        (true, true, false) => "publisher",
        (false, true, false) => "publish-only",
        (true, false, false) => "member",
        (false, false, false) => "outcast",
    }
}
