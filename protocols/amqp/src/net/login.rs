//! Who a client is.

use crate::session::Login;
use crate::wire::SaslCode;
use std::task::{Context, Poll, ready};
use weir_binding::{Gateway, Identity, Outcome};
use weir_hub::{Grants, Principal};

/// A login that is looked into.
pub(super) enum Who {
    Checking(Outcome<Result<Principal, String>>, Login),
    Known(Result<Principal, String>),
    Busy,
}

impl Who {
    /// Looks a client up by what it says, or by what the WebSocket's opening presented and where it is.
    pub(super) fn look_up(
        context: &dyn Gateway,
        (credential, peer_is_local): (Option<&str>, bool),
        login: Login,
    ) -> Self {
        let identity = match &login {
            Login::Plain(user, password) => context.authenticate(user, password),
            // [AMQP-5.3.3-3]
            // The certificate of TLS or what the WebSocket's opening presented says who it is, or nobody does.
            Login::Unsaid | Login::Anonymous | Login::External(_) => {
                context.principal(credential, peer_is_local)
            }
        };
        match identity {
            Identity::Known(known) => Self::Known(known.and_then(|known| claimed(known, &login))),
            Identity::Checking(outcome) => Self::Checking(outcome, login),
            Identity::Busy => Self::Busy,
        }
    }

    /// Ready once it is known who comes in, or why nobody does.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Principal, (SaslCode, String)>> {
        let known = match self {
            Self::Known(known) => known.clone(),
            Self::Checking(outcome, login) => {
                let broken = || Err("the check broke off: try again".to_owned());
                let known = ready!(outcome.poll(cx)).unwrap_or_else(broken);
                known.and_then(|known| claimed(known, login))
            }
            Self::Busy => {
                let reason = "too many logins wait to be checked: try again";
                return Poll::Ready(Err((SaslCode::SYS_TEMP, reason.to_owned())));
            }
        };
        Poll::Ready(match known {
            // Whoever may do nothing is told at once.
            Ok(principal) if *principal.grants == Grants::default() => {
                let reason =
                    format!("{principal} may do nothing here: a user name and password are needed");
                Err((SaslCode::AUTH, reason))
            }
            known => known.map_err(|reason| (SaslCode::AUTH, reason)),
        })
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
