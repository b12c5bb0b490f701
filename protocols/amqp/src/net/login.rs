//! Who a client is.

use super::connection::Connection;
use crate::session::Login;
use crate::wire::SaslCode;
use std::task::{Context, Poll, ready};
use weir_binding::{Identity, Outcome};
use weir_hub::{Grants, Principal};

/// A login that is looked into.
pub(super) enum Who {
    Checking(Outcome<Result<Principal, String>>, Login),
    Known(Result<Principal, String>),
    Busy,
}

impl Connection {
    pub(super) fn look_up(&self, login: Login) -> Who {
        let context = &self.host.context;
        let identity = match &login {
            Login::Plain(user, password) => context.authenticate(user, password),
            // [AMQP-5.3.3-3]
            // The certificate of TLS or what the WebSocket's opening presented says who it is, or nobody does.
            Login::Unsaid | Login::Anonymous | Login::External(_) => {
                context.principal(self.credential.as_deref(), self.peer_is_local)
            }
        };
        match identity {
            Identity::Known(known) => Who::Known(known.and_then(|known| claimed(known, &login))),
            Identity::Checking(outcome) => Who::Checking(outcome, login),
            Identity::Busy => Who::Busy,
        }
    }

    /// Goes on with a login; ready once there is none.
    pub(super) fn poll_login(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(who) = &mut self.login else {
            return Poll::Ready(());
        };
        if let Who::Checking(outcome, login) = &mut **who {
            let broken = || Err("the check broke off: try again".to_owned());
            let known = ready!(outcome.poll(cx)).unwrap_or_else(broken);
            **who = Who::Known(known.and_then(|known| claimed(known, login)));
        }
        let Some(who) = self.login.take() else {
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
            Who::Busy | Who::Checking(..) => {
                let reason = "too many logins wait to be checked: try again";
                self.server.admit(Err((SaslCode::SYS_TEMP, reason)));
            }
        }
        Poll::Ready(())
    }
}

// [AMQP-5.3.3-4]
/// Whether who is known is who the client wants to be: EXTERNAL takes nobody, and nobody for somebody else (RFC
/// 4422 appendix A.1). Where everybody may do everything, no name is asked for.
fn claimed(known: Principal, login: &Login) -> Result<Principal, String> {
    let Login::External(act_as) = login else {
        return Ok(known);
    };
    match &*known.name {
        "anonymous" if *known.grants == Grants::all() => Ok(known),
        "anonymous" => Err("EXTERNAL: the policy does not know the client's certificate".into()),
        name if act_as.is_empty() || name == act_as => Ok(known),
        name => Err(format!("EXTERNAL: {name} may not act as `{act_as}`")),
    }
}
