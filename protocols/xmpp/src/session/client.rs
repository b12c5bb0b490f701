//! A client's half of a stream: TLS, SASL, resource binding, stream management (RFC 6120, XEP-0198).

use super::conversation::{Conversation, Failure, SessionEvent, said};
use super::management::{Counts, Resumption};
use super::scram::{Channel, HASHES, Scram};
use crate::names::{BIND, CLIENT, MANAGEMENT, SASL, STREAMS, TLS};
use crate::xml::{Element, Frame, escape};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::convert::Infallible;
use weir_sansio::{Instant, Output, Session};

/// Who logs in, and how.
#[derive(Clone, Debug, Default)]
pub struct ClientOptions {
    /// The server's domain.
    pub domain: String,
    /// The name before the `@`.
    pub user: String,
    /// Its password.
    pub password: String,
    /// The resource to ask for; empty to be given one.
    pub resource: String,
    /// Random text for SCRAM.
    pub nonce: String,
    /// Whether TLS is spoken already.
    pub secure: bool,
    /// Whether the stream may stay in the clear: for servers on this machine.
    pub may_be_clear: bool,
    /// The channel that a login is bound to, where there is one.
    pub channel: Option<Channel>,
    /// An earlier stream to go on with.
    pub resume: Option<Resumption>,
}

#[derive(Debug)]
enum State {
    /// The stream's root is awaited, then its features.
    Opening,
    Securing,
    Plain,
    Scram(Box<Scram>, bool),
    Resuming,
    Binding,
    Enabling,
    Ready,
}

/// A client's half of a stream.
#[derive(Debug)]
pub struct Client {
    conversation: Conversation,
    state: State,
    options: ClientOptions,
    authenticated: bool,
    jid: String,
    /// Whether the server offers to manage the stream.
    manageable: bool,
    managed: Option<Counts>,
    resumption_id: Option<String>,
    pings: u64,
}

impl Client {
    /// Begins a stream.
    pub fn new(now: Instant, options: ClientOptions) -> Self {
        let mut conversation = Conversation::new(now);
        conversation.open(CLIENT, &options.domain, true);
        Self {
            conversation,
            state: State::Opening,
            options,
            authenticated: false,
            jid: String::new(),
            manageable: false,
            managed: None,
            resumption_id: None,
            pings: 0,
        }
    }

    /// One that is not connected, with what is left of an earlier stream.
    pub fn interrupted(now: Instant, resume: Option<Resumption>) -> Self {
        let mut client = Self::new(now, ClientOptions::default());
        if let Some(resume) = resume {
            client.resumption_id = Some(resume.id);
            client.jid = resume.jid;
            client.managed = Some(resume.counts);
        }
        client
    }

    /// TLS is spoken from here on; the channel may be bound to the login.
    // [RFC6120-5.4-1]
    pub fn secured(&mut self, channel: Option<Channel>) {
        self.options.secure = true;
        self.options.channel = channel;
        self.restart();
    }

    /// The address that the stream has.
    pub fn jid(&self) -> &str {
        &self.jid
    }

    /// Sends a stanza, which must be whole.
    pub fn send(&mut self, stanza: String) {
        match &mut self.managed {
            Some(counts) => counts.send(stanza, &mut self.conversation.out),
            None => self.conversation.out.push_str(&stanza),
        }
    }

    /// Whether as many stanzas wait for their acknowledgement as may.
    pub fn is_full(&self) -> bool {
        self.managed.as_ref().is_some_and(Counts::is_full)
    }

    /// Stanzas sent and not acknowledged, where the stream is managed.
    pub fn unacknowledged(&self) -> Option<usize> {
        self.managed.as_ref().map(Counts::unacknowledged)
    }

    /// A stanza that was handed over is dealt with: the server need not send it again.
    pub fn handled(&mut self) {
        if let Some(counts) = &mut self.managed {
            counts.handled = counts.handled.wrapping_add(1);
        }
    }

    /// When [`Session::handle_timeout`] is due.
    pub fn deadline(&self) -> Instant {
        self.conversation.timeout()
    }

    /// Ends the stream.
    pub fn close(&mut self) {
        if let Some(counts) = &self.managed {
            counts.answer(&mut self.conversation.out);
        }
        self.resumption_id = None;
        self.conversation.out.push_str("</stream:stream>");
    }

    /// What is left of a stream that broke off, if the server lets it go on.
    pub fn into_resumption(self) -> Option<Resumption> {
        let (id, jid) = (self.resumption_id?, self.jid);
        let counts = self.managed?;
        Some(Resumption { id, jid, counts })
    }

    fn restart(&mut self) {
        self.state = State::Opening;
        let domain = self.options.domain.clone();
        self.conversation.open(CLIENT, &domain, true);
    }

    fn refuse(&mut self, why: impl Into<String>) {
        self.conversation.out.push_str("</stream:stream>");
        self.conversation.end(Failure::Refused(why.into()));
    }

    fn stanza(&mut self, stanza: Element, document: Vec<u8>) {
        if self.conversation.is_error(&stanza) {
            return;
        }
        if stanza.namespace == MANAGEMENT {
            return self.manage(&stanza);
        }
        match std::mem::replace(&mut self.state, State::Opening) {
            State::Opening if stanza.is(STREAMS, "features") => self.features(&stanza),
            State::Securing if stanza.is(TLS, "proceed") => {
                self.state = State::Securing;
                self.conversation.events.push_back(SessionEvent::StartTls);
            }
            State::Securing => self.refuse("STARTTLS fails"),
            State::Plain if stanza.is(SASL, "success") => self.logged_in(),
            // [RFC6120-6.4-1]
            State::Plain | State::Scram(..) if stanza.is(SASL, "failure") => {
                self.refuse(said(&stanza));
            }
            State::Scram(scram, checked) => self.scram(scram, checked, &stanza),
            State::Binding => self.bound(&stanza),
            State::Ready => {
                self.state = State::Ready;
                let event = SessionEvent::Stanza(stanza, document);
                self.conversation.events.push_back(event);
            }
            State::Enabling => {
                // What comes before the answer counts already (XEP-0198 section 3).
                self.state = State::Enabling;
                let event = SessionEvent::Stanza(stanza, document);
                self.conversation.events.push_back(event);
            }
            _ => self.conversation.unexpected(&stanza.name),
        }
    }

    /// What the server offers (RFC 6120 section 4.3.2).
    // [RFC6120-13.8-1]
    fn features(&mut self, features: &Element) {
        let offers_tls = features.find(TLS, "starttls").is_some();
        if !self.options.secure && offers_tls {
            self.state = State::Securing;
            let out = &mut self.conversation.out;
            return out.push_str("<starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>");
        }
        if !self.options.secure && !self.options.may_be_clear {
            return self
                .refuse("it offers no TLS, and in the clear nobody logs in but on this machine");
        }
        if !self.authenticated {
            return self.log_in(features);
        }
        self.manageable = features.find(MANAGEMENT, "sm").is_some();
        if let (true, Some(resume)) = (self.manageable, &self.options.resume) {
            self.state = State::Resuming;
            let out = &mut self.conversation.out;
            out.push_str("<resume xmlns='urn:xmpp:sm:3' previd='");
            escape(&resume.id, out);
            out.push_str(&format!("' h='{}'/>", resume.counts.handled));
            return;
        }
        self.bind();
    }

    /// Picks the best mechanism: bound to the channel, by hash, and PLAIN under TLS only (RFC 6120 section
    /// 13.8.3).
    // [RFC6120-6.3-1]
    fn log_in(&mut self, features: &Element) {
        let offered: Vec<String> = features
            .find(SASL, "mechanisms")
            .into_iter()
            .flat_map(Element::elements)
            .map(Element::own_text)
            .collect();
        let offers = |name: &str| offered.iter().any(|known| known == name);
        let options = &self.options;
        let bound = HASHES
            .iter()
            .find(|hash| offers(&format!("{}-PLUS", hash.name)));
        let hash = HASHES.iter().find(|hash| offers(hash.name));
        let (hash, channel) = match (bound, &options.channel) {
            (Some(hash), Some(channel)) => (Some(hash), Some(channel.clone())),
            _ => (hash, None),
        };
        let (mechanism, first) = if let Some(hash) = hash {
            let plus = if channel.is_some() { "-PLUS" } else { "" };
            let scram = Scram::new(
                hash,
                &options.user,
                &options.password,
                &options.nonce,
                channel,
            );
            let first = scram.first();
            self.state = State::Scram(Box::new(scram), false);
            (format!("{}{plus}", hash.name), first)
        } else if offers("PLAIN") && options.secure {
            self.state = State::Plain;
            let message = format!("\0{}\0{}", options.user, options.password);
            ("PLAIN".to_owned(), message)
        } else {
            let offered = offered.join(", ");
            return self.refuse(format!(
                "no way to log in: it offers {offered}; SCRAM is spoken, and PLAIN under TLS"
            ));
        };
        let out = &mut self.conversation.out;
        out.push_str("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='");
        out.push_str(&mechanism);
        out.push_str("'>");
        out.push_str(&STANDARD.encode(first));
        out.push_str("</auth>");
    }

    fn scram(&mut self, mut scram: Box<Scram>, checked: bool, stanza: &Element) {
        let text = STANDARD.decode(stanza.own_text().trim()).ok();
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        match stanza.name.as_str() {
            "challenge" if !checked && text.contains("s=") => match scram.answer(&text) {
                Ok(answer) => {
                    self.respond(&answer);
                    self.state = State::Scram(scram, false);
                }
                Err(why) => self.refuse(why),
            },
            // The server's proof may come before its success.
            "challenge" => match scram.check(&text) {
                Ok(()) => {
                    self.respond("");
                    self.state = State::Scram(scram, true);
                }
                Err(why) => self.refuse(why),
            },
            "success" if checked => self.logged_in(),
            "success" => match scram.check(&text) {
                Ok(()) => self.logged_in(),
                Err(why) => self.refuse(why),
            },
            name => self.conversation.unexpected(name),
        }
    }

    fn respond(&mut self, answer: &str) {
        let out = &mut self.conversation.out;
        out.push_str("<response xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>");
        out.push_str(&STANDARD.encode(answer));
        out.push_str("</response>");
    }

    fn logged_in(&mut self) {
        self.authenticated = true;
        self.restart();
    }

    // [RFC6120-7.6-1]
    fn bind(&mut self) {
        self.state = State::Binding;
        let mut bind = Element::new(BIND, "bind");
        if !self.options.resource.is_empty() {
            bind = bind.child(Element::new(BIND, "resource").text(self.options.resource.clone()));
        }
        let iq = Element::new(CLIENT, "iq")
            .with("type", "set")
            .with("id", "bind")
            .child(bind);
        iq.write(CLIENT, &mut self.conversation.out);
    }

    fn bound(&mut self, iq: &Element) {
        let jid = iq
            .find(BIND, "bind")
            .and_then(|bind| bind.find(BIND, "jid"));
        match (iq.attribute("type"), jid) {
            (Some("result"), Some(jid)) => self.jid = jid.own_text(),
            _ => return self.refuse(format!("it binds no resource: {}", stanza_error(iq))),
        }
        if !self.manageable {
            return self.ready(false);
        }
        self.state = State::Enabling;
        self.managed = Some(Counts::default());
        let out = &mut self.conversation.out;
        out.push_str("<enable xmlns='urn:xmpp:sm:3' resume='true'/>");
    }

    fn ready(&mut self, resumed: bool) {
        self.state = State::Ready;
        self.conversation.ready = true;
        let jid = self.jid.clone();
        let ready = SessionEvent::Ready { jid, resumed };
        self.conversation.events.push_back(ready);
    }

    /// Elements of stream management (XEP-0198).
    fn manage(&mut self, element: &Element) {
        match (&self.state, element.name.as_str()) {
            // [XEP0198-3-1]
            (State::Enabling, "enabled") => {
                let resumes = matches!(element.attribute("resume"), Some("true" | "1"));
                let id = element.attribute("id").filter(|_| resumes);
                self.resumption_id = id.map(Into::into);
                self.ready(false);
            }
            (State::Enabling, "failed") => {
                self.managed = None;
                self.ready(false);
            }
            (State::Resuming, "resumed") => self.resumed(element),
            (State::Resuming, "failed") => {
                self.options.resume = None;
                self.bind();
            }
            (_, "r") => {
                if let Some(counts) = &self.managed {
                    counts.answer(&mut self.conversation.out);
                }
            }
            (_, "a") => {
                let known = self.managed.as_mut();
                if !known.is_none_or(|counts| counts.acknowledge(element)) {
                    self.conversation
                        .unexpected("acknowledgement of what was not sent");
                }
            }
            (_, name) => self.conversation.unexpected(name),
        }
    }

    // [XEP0198-5-1]
    fn resumed(&mut self, element: &Element) {
        let Some(resume) = self.options.resume.take() else {
            return self.conversation.unexpected("resumed");
        };
        let mut counts = resume.counts;
        if !counts.acknowledge(element) {
            return self
                .conversation
                .unexpected("acknowledgement of what was not sent");
        }
        self.jid = resume.jid;
        self.resumption_id = Some(resume.id);
        counts.send_again(&mut self.conversation.out);
        self.managed = Some(counts);
        self.ready(true);
    }

    fn ask(&mut self) {
        if let Some(counts) = &mut self.managed {
            return counts.ask(&mut self.conversation.out);
        }
        self.pings += 1;
        let ping = format!(
            "<iq type='get' id='alive-{}'><ping xmlns='urn:xmpp:ping'/></iq>",
            self.pings
        );
        self.conversation.out.push_str(&ping);
    }
}

/// What a stanza of type `error` says (RFC 6120 section 8.3).
fn stanza_error(stanza: &Element) -> String {
    let error = stanza.elements().find(|child| child.name == "error");
    error.map_or_else(|| "no reason given".into(), said)
}

impl Session for Client {
    type Transmit = Vec<u8>;
    type Event = SessionEvent;
    type Error = Infallible;

    fn handle_input(&mut self, now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.conversation.take(now, bytes);
        while let Some(frame) = self.conversation.next_frame() {
            match frame {
                Frame::Stanza(stanza, document) => self.stanza(stanza, document),
                Frame::Skipped(skipped) => self.conversation.skipped(skipped),
                Frame::Closed => self.conversation.end(Failure::Ended("it closes".into())),
                Frame::Opened(_) => {}
            }
            // What stands behind `<proceed/>` is not read: it is not of the channel (RFC 6120 section 5.4.3.3).
            if matches!(self.state, State::Securing) && !self.conversation.events.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.conversation.handle_timeout(now) {
            self.ask();
        }
    }

    fn poll_output(&mut self) -> Output<Vec<u8>, SessionEvent> {
        if let Some(bytes) = self.conversation.transmit() {
            return Output::Transmit(bytes);
        }
        match self.conversation.events.pop_front() {
            Some(event) => Output::Event(event),
            None => Output::Timeout(self.conversation.timeout()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ROOT: &str = "<stream:stream xmlns='jabber:client' \
                        xmlns:stream='http://etherx.jabber.org/streams' id='1' version='1.0'>";
    const MECHANISMS: &str = "<stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\
                              <mechanism>PLAIN</mechanism></mechanisms></stream:features>";
    const SUCCESS: &str = "<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>";
    const BINDS: &str = "<stream:features><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/>\
                         <sm xmlns='urn:xmpp:sm:3'/></stream:features>";
    const BOUND: &str = "<iq type='result' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'>\
                         <jid>ann@a/1</jid></bind></iq>";
    const ENABLED: &str = "<enabled xmlns='urn:xmpp:sm:3' id='x' resume='true'/>";

    fn client(secure: bool, resume: Option<Resumption>) -> Client {
        let options = ClientOptions {
            domain: "a".into(),
            user: "ann".into(),
            password: "pw".into(),
            nonce: "n".into(),
            secure,
            may_be_clear: false,
            resume,
            ..ClientOptions::default()
        };
        Client::new(Instant::START, options)
    }

    /// What the client sends and says when the server says this.
    fn told(client: &mut Client, text: &str) -> (String, Vec<SessionEvent>) {
        let Ok(()) = client.handle_input(Instant::START, text.as_bytes());
        let (mut sent, mut events) = (String::new(), Vec::new());
        loop {
            match client.poll_output() {
                Output::Transmit(bytes) => sent += &String::from_utf8(bytes).unwrap(),
                Output::Event(event) => events.push(event),
                Output::Timeout(_) => return (sent, events),
            }
        }
    }

    fn ready(resume: Option<Resumption>) -> Client {
        let mut client = client(true, resume);
        for text in [ROOT, MECHANISMS, SUCCESS, ROOT, BINDS] {
            told(&mut client, text);
        }
        client
    }

    // [RFC6120-6.3-1] [RFC6120-7.6-1] [XEP0198-3-1]
    #[test]
    fn a_login_is_a_mechanism_a_resource_and_a_managed_stream() {
        let mut client = client(true, None);
        told(&mut client, ROOT);
        let (sent, _) = told(&mut client, MECHANISMS);
        assert!(sent.contains("mechanism='PLAIN'>AGFubgBwdw==<"), "{sent}");
        let (sent, _) = told(&mut client, SUCCESS);
        assert!(sent.contains("<stream:stream"), "{sent}");
        let (sent, _) = told(&mut client, &format!("{ROOT}{BINDS}"));
        assert!(sent.contains("<bind xmlns="), "{sent}");
        let (sent, _) = told(&mut client, BOUND);
        assert_eq!(sent, "<enable xmlns='urn:xmpp:sm:3' resume='true'/>");
        let (_, events) = told(&mut client, ENABLED);
        let (jid, resumed) = ("ann@a/1".to_owned(), false);
        assert_eq!(events, [SessionEvent::Ready { jid, resumed }]);
    }

    // [RFC6120-13.8-1]
    #[test]
    fn in_the_clear_no_password_is_sent() {
        let mut client = client(false, None);
        let (sent, events) = told(&mut client, &format!("{ROOT}{MECHANISMS}"));
        assert!(!sent.contains("<auth"), "{sent}");
        assert!(matches!(
            &events[..],
            [SessionEvent::Closed(Failure::Refused(_))]
        ));
    }

    // [XEP0198-4-1] [XEP0198-5-1]
    #[test]
    fn what_was_not_acknowledged_goes_again_on_resumption() {
        let mut client = ready(None);
        told(&mut client, &format!("{BOUND}{ENABLED}"));
        for id in 1..4 {
            client.send(format!("<iq id='{id}'/>"));
        }
        told(&mut client, "<a xmlns='urn:xmpp:sm:3' h='1'/>");
        let mut client = ready(client.into_resumption());
        let (sent, events) = told(
            &mut client,
            "<resumed xmlns='urn:xmpp:sm:3' previd='x' h='2'/>",
        );
        assert_eq!(sent, "<iq id='3'/><r xmlns='urn:xmpp:sm:3'/>");
        assert!(matches!(
            events[..],
            [SessionEvent::Ready { resumed: true, .. }]
        ));
        let (_, events) = told(&mut client, "<a xmlns='urn:xmpp:sm:3' h='9'/>");
        assert!(matches!(
            &events[..],
            [SessionEvent::Closed(Failure::Broken(_))]
        ));
    }

    #[test]
    fn a_stream_that_cannot_go_on_is_bound_anew() {
        let mut client = ready(None);
        told(&mut client, &format!("{BOUND}{ENABLED}"));
        let mut client = ready(client.into_resumption());
        let (sent, _) = told(&mut client, "<failed xmlns='urn:xmpp:sm:3'/>");
        assert!(sent.contains("<bind xmlns="), "{sent}");
    }
}
