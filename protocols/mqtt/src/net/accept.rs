//! From CONNECT to CONNACK: who it is, whether it may, and what is left of its session.

use super::connection::{Connection, Stage, forget, publish_will};
use super::deliver::{in_flight, retained_token};
use super::filter::Wanted;
use super::member::Member;
use super::record::Stored;
use super::sessions::{Counts, Sessions};
use super::subscribe::{Opener, Subscribed};
use crate::session::{Acceptance, ConnectRequest, Server};
use crate::wire::ReasonCode;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_binding::{Identity, Outcome};
use weir_hub::{ClientId, Exchange, Grants, Item, Principal, Request, Verb};
use weir_sansio::Session;

/// A CONNECT that is looked into.
pub(super) struct Accepting {
    request: ConnectRequest,
    id: Arc<str>,
    who: Who,
}

enum Who {
    Checking(Outcome<Result<Principal, String>>),
    Known(Principal),
    Refused(ReasonCode, String),
}

impl Accepting {
    pub(super) fn new(connection: &Connection, request: ConnectRequest) -> Self {
        let context = &connection.context;
        let identity = match (&request.user_name, &request.password) {
            (None, None) => {
                context.principal(connection.credential.as_deref(), connection.peer_is_local)
            }
            (user, password) => {
                let user = user.as_deref().unwrap_or_default();
                context.authenticate(user, password.as_deref().unwrap_or_default())
            }
        };
        let who = match identity {
            Identity::Known(known) => Who::of(known, &request),
            Identity::Checking(outcome) => Who::Checking(outcome),
            Identity::Busy => {
                let reason = "too many logins wait to be checked: try again";
                Who::Refused(ReasonCode::SERVER_BUSY, reason.into())
            }
        };
        // [MQTT-3.1.3-2] [MQTT-3.1.3-6] [MQTT-3.1.3-7]
        let id = match request.client_id.is_empty() {
            true => connection.house.sessions.assign(context.now()),
            false => request.client_id.as_str().into(),
        };
        Self { request, id, who }
    }

    /// Nobody waits for it any more.
    pub(super) fn give_up(&self, sessions: &Sessions) {
        sessions.put_back(&self.id, None);
    }
}

impl Who {
    /// [MQTT-3.1.4-2]
    fn of(known: Result<Principal, String>, request: &ConnectRequest) -> Self {
        let code = match request.user_name.is_some() || request.password.is_some() {
            true => ReasonCode::BAD_USER_NAME_OR_PASSWORD,
            false => ReasonCode::NOT_AUTHORIZED,
        };
        match known {
            Err(reason) => Who::Refused(code, reason),
            // Whoever may do nothing is told at once.
            Ok(principal) if *principal.grants == Grants::default() => {
                let reason =
                    format!("{principal} may do nothing here: a user name and password are needed");
                Who::Refused(ReasonCode::NOT_AUTHORIZED, reason)
            }
            Ok(principal) => match &request.will {
                Some(will) if !may_publish(&principal, &will.message.topic) => {
                    let reason = format!("{principal} may not publish the will");
                    Who::Refused(ReasonCode::NOT_AUTHORIZED, reason)
                }
                _ => Who::Known(principal),
            },
        }
    }
}

fn may_publish(principal: &Principal, topic: &str) -> bool {
    !topic.starts_with('$') && principal.grants.allow(Verb::Publish, topic)
}

impl Connection {
    /// Goes on with a CONNECT; ready once the stage has changed.
    pub(super) fn poll_accept(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Stage::Accepting(accepting) = &mut self.stage else {
            return Poll::Ready(());
        };
        if let Who::Checking(outcome) = &mut accepting.who {
            let broken = || Err("the check broke off: try again".to_owned());
            let known = ready!(outcome.poll(cx)).unwrap_or_else(broken);
            accepting.who = Who::of(known, &accepting.request);
        }
        let claimed = match &accepting.who {
            Who::Known(principal) => {
                let sessions = &self.house.sessions;
                let claim = sessions.poll_claim(&accepting.id, &principal.name, &self.live, cx);
                ready!(claim).map_err(|_| {
                    let reason = "the client identifier is another user's";
                    (ReasonCode::CLIENT_IDENTIFIER_NOT_VALID, reason.to_owned())
                })
            }
            Who::Refused(code, reason) => Err((*code, reason.clone())),
            Who::Checking(_) => return Poll::Pending,
        };
        let Stage::Accepting(accepting) = std::mem::replace(&mut self.stage, Stage::Open) else {
            return Poll::Ready(());
        };
        match (claimed, accepting.who) {
            (Ok(stored), Who::Known(principal)) => {
                self.open(accepting.request, accepting.id, principal, stored);
            }
            (Err((code, reason)), _) => self.server.refuse(code, &reason),
            _ => {}
        }
        Poll::Ready(())
    }

    fn open(
        &mut self,
        request: ConnectRequest,
        id: Arc<str>,
        principal: Principal,
        stored: Option<Box<Stored>>,
    ) {
        let secs_max = self.house.settings.session_expiry_secs_max;
        let secs = request.session_expiry_secs.min(secs_max);
        let recorded = stored.is_some();
        let session = self.left_over(&request, stored);
        let assigned = request.client_id.is_empty().then(|| id.clone());
        let response = format!("response/{id}");
        let acceptance = Acceptance {
            session: session.as_ref().map(|stored| stored.state.clone()),
            assigned_client_id: assigned.as_deref(),
            session_expiry_secs: (secs != request.session_expiry_secs).then_some(secs),
            response_information: request.wants_response_information.then_some(&*response),
        };
        let now = weir_carrier::clock::now();
        self.server.accept(now, &acceptance);
        let mut member = Box::new(Member {
            id,
            version: request.version,
            principal,
            client: ClientId::new(),
            subscriptions: Vec::new(),
            next_key: 1,
            tickets: VecDeque::new(),
            held: None,
            will: request.will,
            session_expiry_secs: secs,
            recorded,
            changed: false,
            record_at: now,
            tally: self.context.tally("mqtt", self.scheme()),
            turn: 0,
        });
        if let Some(stored) = &session {
            self.take_up(&mut member, stored);
        }
        let counts = &self.house.sessions.counts;
        Counts::add(&counts.subscriptions, member.subscriptions.len() as u64);
        if member.recorded && !member.is_kept() {
            member.recorded = false;
            forget(&*self.context, &member.id);
        }
        let kept = member.is_kept();
        self.member = Some(member);
        if kept {
            drop(self.record());
        }
        // What came meanwhile is read now.
        let Ok(()) = self.server.handle_input(now, &[]);
    }

    /// What is left of the session that the client goes on with, if it does.
    fn left_over(
        &self,
        request: &ConnectRequest,
        stored: Option<Box<Stored>>,
    ) -> Option<Box<Stored>> {
        let now = self.context.now();
        let stored = stored?;
        let ended = stored.ends().is_some_and(|end| end <= now);
        // [MQTT-3.1.2-4] [MQTT-3.1.2-5] [MQTT-3.1.2-6] [MQTT-3.1.4-4]
        if !request.clean_start && !ended {
            // [MQTT-3.1.3-9]: a will that waits is not published.
            return Some(stored);
        }
        if let Some(will) = &stored.will {
            publish_will(&*self.context, &will.message);
        }
        None
    }

    fn take_up(&mut self, member: &mut Member, stored: &Stored) {
        let opener = Opener {
            house: &self.house,
            context: &self.context,
            client_bytes_max: self.server.client_bytes_max(),
        };
        for of in &stored.subscriptions {
            let under_way = in_flight(&stored.state, of.key);
            opener.resume(member, of, under_way, stored.doubtful);
            if let Some(last) = member.subscriptions.last_mut() {
                retained_again(&*self.context, &member.principal, last, &self.server);
            }
            member.next_key = member.next_key.max(of.key + 1);
        }
        // Messages whose subscription is gone cannot be found again.
        let known = |key| member.subscriptions.iter().any(|of| of.key == key);
        self.server.abandon(|token| !known(token.subscription));
    }
}

/// Puts retained messages that are unacknowledged since an earlier connection before what comes.
fn retained_again(
    context: &dyn weir_binding::Context,
    principal: &Principal,
    of: &mut Subscribed,
    server: &Server,
) {
    let Ok(wanted) = Wanted::parse(&of.text) else {
        return;
    };
    if !server.has_unacknowledged() {
        return;
    }
    let request = Request::Retained(vec![wanted.filter]);
    let Ok(Exchange::Retained(messages)) = context.hub().open(context.now(), principal, request)
    else {
        return;
    };
    for message in messages {
        let token = retained_token(&message, of.key);
        if server.is_unacknowledged(&token) {
            let mut item = Item::all(message);
            (item.whole, item.retained) = (true, true);
            of.work.get_or_insert_default().items.push_back(item);
        }
    }
}
