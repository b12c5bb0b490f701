//! A CONNECT that is looked into: who it is, and how far it is on its way to its session.

use super::live::Live;
use super::publish::is_own_state;
use super::record::Stored;
use super::sessions::Sessions;
use crate::session::ConnectRequest;
use crate::wire::ReasonCode;
use std::sync::Arc;
use weir_binding::{Gateway, Identity, Outcome};
use weir_hub::{Grants, Principal, Ticket, Verb};
use weir_model::Cursor;
use weir_sansio::Instant;

/// A CONNECT that is looked into.
pub(super) struct Accepting {
    pub(super) request: ConnectRequest,
    pub(super) id: Arc<str>,
    pub(super) who: Who,
    pub(super) step: Step,
}

/// How far a client that is known is on its way to its session.
pub(super) enum Step {
    /// Another connection of this gateway may have it.
    Here,
    /// It is claimed, where another gateway could have it; what is left of it here.
    Claiming(Ticket, Option<Box<Stored>>),
    /// The gateway that has it is to let it go.
    HandedOver(Cursor, Instant),
}

/// What a client is told that does not get its session.
pub(super) type Refused = (ReasonCode, String);

/// Who it is, as far as that is known.
pub(super) enum Who {
    Checking(Outcome<Result<Principal, String>>),
    Known(Principal),
    Refused(ReasonCode, String),
}

impl Accepting {
    /// Begins with who it is, by what it says or what the WebSocket's opening presented.
    pub(super) fn new(
        context: &dyn Gateway,
        sessions: &Sessions,
        (credential, peer_is_local): (Option<&str>, bool),
        request: ConnectRequest,
    ) -> Self {
        let identity = match (&request.user_name, &request.password) {
            (None, None) => context.principal(credential, peer_is_local),
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
        let id = if request.client_id.is_empty() {
            sessions.assign()
        } else {
            request.client_id.as_str().into()
        };
        Self {
            request,
            id,
            who,
            step: Step::Here,
        }
    }

    /// Nobody waits for it any more.
    pub(super) fn give_up(&mut self, sessions: &Sessions, live: &Arc<Live>) {
        match std::mem::replace(&mut self.step, Step::Here) {
            Step::Here => sessions.put_back(&self.id, None),
            Step::Claiming(_, stored) => {
                sessions.release(&self.id, live, stored.map(|stored| *stored));
            }
            Step::HandedOver(..) => sessions.release(&self.id, live, None),
        }
        if let Some(claims) = sessions.claims() {
            claims.abandoned(&self.id);
        }
    }
}

impl Who {
    /// [MQTT-3.1.4-2]
    pub(super) fn of(known: Result<Principal, String>, request: &ConnectRequest) -> Self {
        let code = if request.user_name.is_some() || request.password.is_some() {
            ReasonCode::BAD_USER_NAME_OR_PASSWORD
        } else {
            ReasonCode::NOT_AUTHORIZED
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
                Some(will) if !may_publish(&principal, &request.client_id, &will.message.topic) => {
                    let reason = format!("{principal} may not publish the will");
                    Who::Refused(ReasonCode::NOT_AUTHORIZED, reason)
                }
                _ => Who::Known(principal),
            },
        }
    }
}

fn may_publish(principal: &Principal, client_id: &str, topic: &str) -> bool {
    let is_others = !topic.starts_with('$') && principal.grants.allow(Verb::Publish, topic);
    is_others || is_own_state(principal, client_id, topic)
}
