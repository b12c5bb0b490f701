//! From the first byte to links that are attached (sections 5.3.2, 2.4.1, 2.5.1, 2.6.3).

use super::peer::{self, Peer};
use super::{Client, TAKEN_BYTES_MAX};
use crate::client::{ClientEvent, ClosedKind};
use crate::limits::{
    FRAME_BYTES_MIN, FRAME_BYTES_SENT_MAX, IDLE_MILLIS_MIN, INCOMING_WINDOW, MESSAGE_BYTES_MAX,
};
use crate::wire::{
    Attach, Begin, Open, Performative, ProtocolHeader, Role, Sasl, SaslCode, SenderSettles, Symbol,
    Value,
};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use weir_sansio::Duration;

/// Mechanisms of SASL.
const PLAIN: &str = "PLAIN";
const ANONYMOUS: &str = "ANONYMOUS";

/// What is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    SaslHeader,
    Mechanisms,
    Outcome,
    Header,
    Open,
    Begin,
    Attach,
    Ready,
    Over,
}

impl Phase {
    pub(super) fn is_opening(self) -> bool {
        !matches!(self, Self::Ready | Self::Over)
    }

    /// Whether eight bytes of a protocol header come next.
    pub(super) fn is_header(self) -> bool {
        matches!(self, Self::SaslHeader | Self::Header)
    }
}

impl Client {
    pub(super) fn header(&mut self, header: Option<ProtocolHeader>) {
        match (self.phase, header) {
            (Phase::SaslHeader, Some(ProtocolHeader::SASL)) => self.phase = Phase::Mechanisms,
            (Phase::Header, Some(ProtocolHeader::AMQP)) => self.phase = Phase::Open,
            _ => self.end(
                ClosedKind::Version,
                "the peer wants another protocol than AMQP 1.0",
            ),
        }
    }

    pub(super) fn sasl(&mut self, sasl: Sasl) {
        match (self.phase, sasl) {
            (Phase::Mechanisms, Sasl::Mechanisms(known)) => self.login(&known),
            (Phase::Outcome, Sasl::Outcome(SaslCode::OK, _)) => {
                self.out.extend_from_slice(&ProtocolHeader::AMQP.bytes());
                self.write(&Performative::Open(Box::new(self.open())));
                self.phase = Phase::Header;
            }
            (Phase::Outcome, Sasl::Outcome(code, _)) => {
                let user = self.options.login.as_ref();
                let user = user.map_or_else(
                    || "who has no login".into(),
                    |(user, _)| format!("`{user}`"),
                );
                let reason = format!("SASL refuses {user} (code {})", code.0);
                self.end(ClosedKind::Refused, &reason);
            }
            _ => self.end(ClosedKind::Refused, "SASL asks for more than PLAIN"),
        }
    }

    /// PLAIN (RFC 4616) with a login, else ANONYMOUS (RFC 4505), else PLAIN as `guest`, as brokers know nobody.
    fn login(&mut self, known: &[Symbol]) {
        let is_known = |name: &'static str| known.contains(&Symbol::new(name));
        let (mechanism, response) = match &self.options.login {
            Some((user, password)) if is_known(PLAIN) => (PLAIN, format!("\0{user}\0{password}")),
            None if is_known(ANONYMOUS) => (ANONYMOUS, String::from("weir")),
            None if is_known(PLAIN) => (PLAIN, String::from("\0guest\0guest")),
            _ => {
                let names = known.iter().map(Symbol::as_str).collect::<Vec<_>>();
                let reason = format!("the peer takes only {}", names.join(" "));
                return self.end(ClosedKind::Refused, &reason);
            }
        };
        let init = Sasl::Init {
            mechanism: Symbol::new(mechanism),
            initial_response: Some(Bytes::from(response)),
            hostname: None,
        };
        init.write(&mut self.out);
        self.phase = Phase::Outcome;
    }

    fn open(&self) -> Open {
        let idle_secs = u32::from(self.options.idle_secs);
        let mut open = Open {
            container_id: self.name.clone(),
            hostname: (self.options.host != "/").then(|| self.options.host.clone()),
            max_frame_size: TAKEN_BYTES_MAX,
            channel_max: 0,
            // Half of what is really granted, as section 2.4.5 advises.
            idle_time_out: (idle_secs > 0).then_some(idle_secs * 500),
            ..Open::default()
        };
        open.properties
            .push("product", Value::String("weir".into()));
        open
    }

    pub(super) fn opened(&mut self, open: &Open) {
        let theirs = open.max_frame_size as usize;
        self.frame_bytes_max = theirs.clamp(FRAME_BYTES_MIN, FRAME_BYTES_SENT_MAX);
        let theirs = open.idle_time_out.map(|millis| millis.max(IDLE_MILLIS_MIN));
        let ours = u64::from(self.options.idle_secs);
        self.idle = (
            theirs.map(|millis| Duration::from_millis(millis.into())),
            (ours > 0).then(|| Duration::from_secs(ours)),
        );
        self.peer = Peer::of(open);
        self.product = peer::product(open);
        let begin = Begin {
            incoming_window: INCOMING_WINDOW,
            outgoing_window: INCOMING_WINDOW,
            ..Begin::default()
        };
        self.write(&Performative::Begin(Box::new(begin)));
        self.phase = Phase::Begin;
    }

    /// The link out has the handle behind those of the links in.
    pub(super) fn begun(&mut self, begin: &Begin) {
        self.next_incoming = (begin.next_outgoing_id, 0);
        self.way.window(begin.incoming_window);
        self.links.truncate(self.peer.links_max(&self.options));
        for handle in 0..self.links.len() {
            let attach = self.attach_in(handle);
            self.write(&Performative::Attach(Box::new(attach)));
        }
        self.awaited = self.links.len();
        if self.options.publishes {
            self.awaited += 1;
            let attach = self.attach_out();
            self.write(&Performative::Attach(Box::new(attach)));
        }
        self.attach_ended();
        self.phase = Phase::Attach;
        self.is_ready();
    }

    /// What a link in is called: a subscription that is kept is known by it and the container's name (section
    /// 2.6.1), so it goes with the filter and not with its place.
    fn name_in(&self, handle: usize) -> String {
        match &self.options.queue {
            Some(_) => self.name_of(&self.options.filters[handle]),
            None => format!("{}-in-{handle}", self.name),
        }
    }

    /// What a subscription that is kept is called.
    pub(super) fn name_of(&self, filter: &str) -> String {
        let queue = self.options.queue.as_deref().unwrap_or_default();
        format!("{queue}-{filter}")
    }

    fn attach_in(&self, handle: usize) -> Attach {
        let filter = &self.options.filters[handle];
        self.attach_to(filter, self.name_in(handle), handle as u32)
    }

    pub(super) fn attach_to(&self, filter: &str, name: String, handle: u32) -> Attach {
        let mut attach = Attach::new(name, handle, Role::Receiver);
        attach.source = Some(Box::new(self.peer.source(&self.options, filter)));
        attach.target = Some(crate::wire::TargetKind::Node(Box::default()));
        attach.max_message_size = Some(MESSAGE_BYTES_MAX as u64);
        attach.snd_settle_mode = if self.options.confirmed {
            SenderSettles::Unsettled
        } else {
            SenderSettles::Settled
        };
        attach
    }

    fn attach_out(&mut self) -> Attach {
        let handle = self.links.len() as u32;
        self.way.handle = handle;
        let mut attach = Attach::new(format!("{}-out", self.name), handle, Role::Sender);
        attach.source = Some(Box::default());
        attach.target = Some(self.peer.target(&self.options));
        attach.snd_settle_mode = if self.options.confirmed {
            SenderSettles::Unsettled
        } else {
            SenderSettles::Settled
        };
        attach
    }

    /// The peer attaches what was asked for; one that refuses says so by a detach that follows.
    pub(super) fn attached(&mut self, attach: &Attach) {
        if attach.role == Role::Sender && self.attached_to_end(attach) {
            return;
        }
        let refused = match attach.role {
            Role::Sender => attach.source.is_none(),
            Role::Receiver => attach.target.is_none(),
        };
        if refused {
            return;
        }
        match attach.role {
            Role::Receiver => {
                self.way.bytes_max = attach.max_message_size.filter(|bytes| *bytes > 0);
                self.way.theirs = attach.handle;
            }
            Role::Sender => {
                let own = self.link_named(&attach.name);
                let Some(link) = own else {
                    return self.end(
                        ClosedKind::Lost,
                        "the peer attaches a link that nobody asked for",
                    );
                };
                self.links[link].attached(attach);
                self.grant(link);
            }
        }
        self.awaited = self.awaited.saturating_sub(1);
        self.is_ready();
    }

    fn link_named(&self, name: &str) -> Option<usize> {
        (0..self.links.len()).find(|handle| self.name_in(*handle) == name)
    }

    pub(super) fn is_ready(&mut self) {
        if self.awaited == 0 && self.phase == Phase::Attach {
            self.phase = Phase::Ready;
            self.events
                .push_back(ClientEvent::Ready(self.product.to_string()));
        }
    }
}
