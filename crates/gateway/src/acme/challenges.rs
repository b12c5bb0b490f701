//! Where the authority looks: tokens and what proves that the names lead here (RFC 8555 section 8.3).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weir_binding::{Answer, Call, Response, Service};

/// What the authority asks for at the moment: by token, what it is to be answered.
#[derive(Clone, Default)]
pub(crate) struct Challenges(Arc<Mutex<BTreeMap<String, String>>>);

impl Challenges {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn put(&self, token: &str, answer: &str) {
        self.all().insert(token.into(), answer.into());
    }

    pub(super) fn clear(&self) {
        self.all().clear();
    }
}

/// Where the authority looks (RFC 8555 section 8.3).
const MOUNT: &str = "/.well-known/acme-challenge";

impl Service for Challenges {
    fn name(&self) -> &'static str {
        "acme"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &[MOUNT]
    }

    /// Whoever asks is answered: a proof is public.
    fn call(&self, call: Call) -> Answer {
        let below = call.path.strip_prefix(MOUNT).unwrap_or_default();
        let token = below.trim_start_matches('/');
        Answer::Now(match self.all().get(token) {
            Some(answer) if call.method == "GET" => {
                let answer = answer.clone().into_bytes();
                Response::with_body(200, "application/octet-stream", answer)
            }
            _ => Response::text(404, format!("no resource `{}`", call.path)),
        })
    }
}
