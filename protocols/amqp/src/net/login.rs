//! Who a client is.

use super::connection::{Connection, Stage};
use crate::session::Login;
use crate::wire::SaslCode;
use std::task::{Context, Poll, ready};
use weir_binding::{Identity, Outcome};
use weir_hub::{Grants, Principal};

/// A login that is looked into.
pub(super) enum Who {
    Checking(Outcome<Result<Principal, String>>),
    Known(Result<Principal, String>),
    Busy,
}

impl Connection {
    pub(super) fn look_up(&self, login: Login) -> Who {
        let context = &self.context;
        let identity = match login {
            Login::Plain(user, password) => context.authenticate(&user, &password),
            // What the WebSocket's opening presented says who it is, or nobody does.
            Login::Unsaid | Login::Anonymous | Login::External => {
                context.principal(self.credential.as_deref(), self.peer_is_local)
            }
        };
        match identity {
            Identity::Known(known) => Who::Known(known),
            Identity::Checking(outcome) => Who::Checking(outcome),
            Identity::Busy => Who::Busy,
        }
    }

    /// Goes on with a login; ready once the stage has changed.
    pub(super) fn poll_login(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Stage::LoggingIn(who) = &mut self.stage else {
            return Poll::Ready(());
        };
        if let Who::Checking(outcome) = &mut **who {
            let broken = || Err("the check broke off: try again".to_owned());
            let known = ready!(outcome.poll(cx)).unwrap_or_else(broken);
            **who = Who::Known(known);
        }
        let Stage::LoggingIn(who) = std::mem::replace(&mut self.stage, Stage::Open) else {
            return Poll::Ready(());
        };
        match *who {
            // Whoever may do nothing is told at once.
            Who::Known(Ok(principal)) if *principal.grants == Grants::default() => {
                let reason =
                    format!("{principal} may do nothing here: a user name and password are needed");
                self.server.admit(Err((SaslCode::AUTH, &reason)));
            }
            Who::Known(Ok(principal)) => self.enter(principal),
            Who::Known(Err(reason)) => self.server.admit(Err((SaslCode::AUTH, &reason))),
            Who::Busy | Who::Checking(_) => {
                let reason = "too many logins wait to be checked: try again";
                self.server.admit(Err((SaslCode::SYS_TEMP, reason)));
            }
        }
        Poll::Ready(())
    }
}
