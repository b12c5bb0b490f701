//! From CONNECT to CONNACK: who it is, whether it may, and what is left of its session.

use super::Connection;
use crate::net::accepting::{Refused, Step, Who};
use crate::net::deliver::{in_flight, retained_token};
use crate::net::filter::Wanted;
use crate::net::member::Member;
use crate::net::record::Stored;
use crate::net::remember::{claim, forget};
use crate::net::sessions::Counts;
use crate::net::subscribe::Opener;
use crate::net::subscription::Subscribed;
use crate::session::{Acceptance, ConnectRequest, Server};
use crate::wire::ReasonCode;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use weir_binding::Gateway;
use weir_carrier::clock::Timer;
use weir_hub::{Item, Principal};
use weir_model::Cursor;
use weir_sansio::{Duration, Instant, Session};

/// For how long the gateway that has a session may say what is left of it. One that is paused says nothing.
const HAND_OVER: Duration = Duration::from_secs(5);

/// What is left of a session and where it was claimed, or why a client does not get it.
type Claimed = Result<(Option<Box<Stored>>, Cursor), Refused>;

fn not_yours() -> Refused {
    let reason = "the client identifier is another user's";
    let code = ReasonCode::CLIENT_IDENTIFIER_NOT_VALID;
    (code, reason.to_owned())
}

impl Connection {
    /// Goes on with a CONNECT; ready once there is none.
    pub(super) fn poll_accept(&mut self, timer: &mut Timer, cx: &mut Context<'_>) -> Poll<()> {
        let Some(accepting) = &mut self.accepting else {
            return Poll::Ready(());
        };
        if let Who::Checking(outcome) = &mut accepting.who {
            let broken = || Err("the check broke off: try again".to_owned());
            let known = ready!(outcome.poll(cx)).unwrap_or_else(broken);
            accepting.who = Who::of(known, &accepting.request);
        }
        let claimed = match &accepting.who {
            Who::Known(principal) => {
                let name = principal.name.clone();
                ready!(self.poll_session(&name, timer, cx))
            }
            Who::Refused(code, reason) => Err((*code, reason.clone())),
            Who::Checking(_) => return Poll::Pending,
        };
        let Some(accepting) = self.accepting.take() else {
            return Poll::Ready(());
        };
        match (claimed, accepting.who) {
            (Ok((stored, claim)), Who::Known(principal)) => {
                self.open(accepting.request, accepting.id, principal, (stored, claim));
            }
            (Err((code, reason)), _) => {
                let thrown = &self.house.thrown;
                thrown.note(&*self.host.context, &accepting.id, code, &reason);
                self.server.refuse(code, &reason);
            }
            _ => {}
        }
        Poll::Ready(())
    }

    /// What is left of the client's session, once nobody else has it, and where the log says so.
    fn poll_session(
        &mut self,
        owner: &Arc<str>,
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Claimed> {
        loop {
            let Some(accepting) = &mut self.accepting else {
                return Poll::Pending;
            };
            let (sessions, id) = (&self.house.sessions, &accepting.id);
            match &mut accepting.step {
                Step::Here => {
                    let anothers = sessions
                        .claims()
                        .is_some_and(|of| of.is_anothers(id, owner));
                    if anothers {
                        return Poll::Ready(Err(not_yours()));
                    }
                    let claim = sessions.poll_claim(id, owner, &self.live, cx);
                    let Ok(stored) = ready!(claim) else {
                        return Poll::Ready(Err(not_yours()));
                    };
                    match self.begin_claim(owner, stored) {
                        Ok(step) => self.step(step),
                        Err(known) => return Poll::Ready(known),
                    }
                }
                Step::Claiming(ticket, stored) => {
                    let at = ready!(ticket.poll(cx));
                    // What is here counts if no other gateway had it meanwhile.
                    let here = |_: &_| sessions.is_latest_here(id);
                    let stored = stored.take().filter(here);
                    let held = sessions.claims().and_then(|of| of.held_since(id));
                    match (at, held) {
                        (Ok(at), Some(_)) if stored.is_some() => {
                            return Poll::Ready(Ok((stored, at)));
                        }
                        (Ok(at), Some(_)) => {
                            let until = weir_carrier::clock::now() + HAND_OVER;
                            self.step(Step::HandedOver(at, until));
                        }
                        (Ok(_), None) => return Poll::Ready(Err(self.claimed_meanwhile())),
                        (Err(fault), _) => {
                            sessions.release(id, &self.live, stored.map(|stored| *stored));
                            let code = ReasonCode::SERVER_UNAVAILABLE;
                            return Poll::Ready(Err((code, fault.to_string())));
                        }
                    }
                }
                Step::HandedOver(at, until) => {
                    let (at, until) = (*at, *until);
                    return self.poll_hand_over((at, until), timer, cx);
                }
            }
        }
    }

    fn step(&mut self, step: Step) {
        if let Some(accepting) = &mut self.accepting {
            accepting.step = step;
        }
    }

    /// Claims the session where another gateway could have it; else it is known what is left of it.
    fn begin_claim(&mut self, owner: &str, stored: Option<Box<Stored>>) -> Result<Step, Claimed> {
        let Some(accepting) = &self.accepting else {
            return Err(Ok((stored, Cursor::START)));
        };
        let secs_max = self.house.settings.session_expiry_secs_max;
        let kept = accepting.request.session_expiry_secs.min(secs_max) > 0;
        let claims = self.house.sessions.claims();
        let claims = claims.filter(|claims| kept || claims.is_known(&accepting.id));
        let Some(claims) = claims else {
            return Err(Ok((stored, Cursor::START)));
        };
        match claim(claims, &*self.host.context, &accepting.id, owner) {
            Some(ticket) => Ok(Step::Claiming(ticket, stored)),
            None => {
                let reason = "the log takes no claim of the session now: try again".to_owned();
                let why = (ReasonCode::SERVER_UNAVAILABLE, reason);
                if let Some(stored) = stored {
                    let sessions = &self.house.sessions;
                    sessions.release(&accepting.id, &self.live, Some(*stored));
                    return Err(Err(why));
                }
                Err(Err(self.without(why)))
            }
        }
    }

    fn poll_hand_over(
        &mut self,
        (at, until): (Cursor, Instant),
        timer: &mut Timer,
        cx: &mut Context<'_>,
    ) -> Poll<Claimed> {
        let overdue = timer.poll_due(cx, until);
        let Some(accepting) = &self.accepting else {
            return Poll::Pending;
        };
        let Some(claims) = self.house.sessions.claims() else {
            return Poll::Ready(Ok((None, at)));
        };
        if claims.held_since(&accepting.id).is_none() {
            return Poll::Ready(Err(self.claimed_meanwhile()));
        }
        let left = match claims.poll_left(&accepting.id, cx) {
            Poll::Pending if overdue => claims.latest(&accepting.id),
            left => ready!(left),
        };
        let mut stored = left.as_ref().and_then(|of| of.stored());
        if let (Some(of), Some(stored)) = (&left, &mut stored) {
            let last = claims.last_sign(&of.gateway);
            let last = last.unwrap_or_else(|| self.host.context.now());
            stored.leave_at(last, self.host.context.hub().positions().0);
        }
        Poll::Ready(Ok((stored, at)))
    }

    /// Lets go of the client identifier.
    fn without(&self, why: Refused) -> Refused {
        if let Some(accepting) = &self.accepting {
            let sessions = &self.house.sessions;
            sessions.release(&accepting.id, &self.live, None);
        }
        why
    }

    fn claimed_meanwhile(&self) -> Refused {
        let reason = "the client has connected to another gateway meanwhile".to_owned();
        self.without((ReasonCode::SERVER_BUSY, reason))
    }

    fn open(
        &mut self,
        request: ConnectRequest,
        id: Arc<str>,
        principal: Principal,
        (stored, claim): (Option<Box<Stored>>, Cursor),
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
        let mut member = Box::new(Member::new(id, principal, claim, request));
        member.session_expiry_secs = secs;
        member.recorded = recorded || claim != Cursor::START;
        if let Some(stored) = &session {
            self.take_up(&mut member, stored);
        }
        let counts = &self.house.sessions.counts;
        Counts::add(&counts.subscriptions, member.subscriptions.len() as u64);
        if member.recorded && !member.is_kept() {
            member.recorded = false;
            forget(&self.house, &*self.host.context, &member.id);
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
        let now = self.host.context.now();
        let stored = stored?;
        let ended = stored.ends().is_some_and(|end| end <= now);
        // [MQTT-3.1.2-4] [MQTT-3.1.2-5] [MQTT-3.1.2-6] [MQTT-3.1.4-4]
        let goes_on = !request.clean_start && !ended;
        // [MQTT-3.1.3-9]: a will that waits for its delay is not published; one that waits for the log is.
        let was_due = stored.put_off.is_some();
        if let Some(will) = stored.will.as_ref().filter(|_| !goes_on || was_due) {
            let id: Arc<str> = request.client_id.as_str().into();
            let wills = &self.house.wills;
            wills.publish_stored(&*self.host.context, &id, &stored, will);
        }
        goes_on.then_some(stored)
    }

    fn take_up(&mut self, member: &mut Member, stored: &Stored) {
        member.take_up_keys(stored);
        let opener = Opener {
            house: &self.house,
            context: &self.host.context,
            client_bytes_max: self.server.client_bytes_max(),
        };
        for of in &stored.subscriptions {
            let under_way = in_flight(&stored.state, of.key);
            opener.resume(member, of, under_way, stored.doubtful);
            if let Some(last) = member.subscriptions.last_mut() {
                retained_again(&*self.host.context, &member.principal, last, &self.server);
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
    context: &dyn Gateway,
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
    let caller = context.hub().caller(context.now(), principal);
    let Ok(messages) = caller.and_then(|caller| caller.retained(&[wanted.filter])) else {
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
