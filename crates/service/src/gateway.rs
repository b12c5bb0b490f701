//! What the gateway gives those who serve.

use crate::client::{Caller, LocalFuture};
use crate::keys::SharedKey;
use crate::service::Service;
use crate::tally::{Metric, Tally};
use crate::work::{Outcome, Workers};
use bytes::Bytes;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use weir_hub::{Hub, Principal};
use weir_model::Time;

/// What the gateway gives its services and the servers of bindings.
pub trait Gateway: Send + Sync {
    /// The hub.
    fn hub(&self) -> &Arc<Hub>;

    /// The gateway's clock.
    fn now(&self) -> Time;

    /// What tells this gateway from others that share its log, in this run and the next.
    fn name(&self) -> &str {
        "only"
    }

    /// The service whose mount holds this path.
    fn service(&self, path: &str) -> Option<&Arc<dyn Service>>;

    /// Where a listener of this name listens ([`Transport`]), for who tells others of it.
    fn address(&self, _listener: &str) -> Option<SocketAddr> {
        None
    }

    /// What posts to a URL that is no gateway's, and trusts these roots (PEM) beside the Web's.
    fn poster(&self, url: &str, _roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
        let sentence = format!("nothing here posts to `{url}`");
        Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
    }

    /// The service whose topic this is, and the path that the topic stands for.
    fn service_of_topic(&self, _topic: &str) -> Option<(&Arc<dyn Service>, String)> {
        None
    }

    /// Whether requests for this name are taken: for any, unless everybody is let in because nobody but this machine
    /// should reach it (there is no policy, and nobody said that it is to be open); then for those that it has a
    /// certificate by ACME for.
    fn takes_name(&self, _host: &str) -> bool {
        true
    }

    /// Threads for work that takes a while.
    fn workers(&self) -> Arc<dyn Workers>;

    /// Who presents this credential (`Basic ...` or `Bearer ...`, RFC 9110 section 11.4), or nobody's
    /// rights without one.
    fn principal(&self, credential: Option<&str>, peer_is_local: bool) -> Identity;

    /// Who logs in with this name and password; a token may stand in the place of the password, whatever
    /// the name.
    fn authenticate(&self, user: &str, password: &[u8]) -> Identity;

    /// Who a user is that another server has let in, by the name that it vouches for (`ann@example.org`):
    /// what the policy says of the name, else of its domain, else of anybody.
    fn vouched(&self, name: &str) -> Principal {
        Principal {
            name: name.into(),
            grants: Arc::default(),
            standing: Default::default(),
        }
    }

    /// Who has a principal's name now, for what was left to be done in that name; none where the policy knows it no
    /// more.
    fn named(&self, _name: &str) -> Option<Principal> {
        Some(Principal::unrestricted())
    }

    /// Secrets that devices share with the gateway, for protocols that need them as they are.
    fn keys(&self) -> Vec<SharedKey> {
        Vec::new()
    }

    /// Where a binding counts its messages of one scheme (`mqtt`, `mqtt+ws`), for metrics; to be asked
    /// for once a link.
    fn tally(&self, _binding: &'static str, _scheme: &'static str) -> Arc<Tally> {
        Arc::default()
    }

    /// Where a binding shows a number, with labels as they stand between braces (`bridge="site"`).
    fn meter(&self, _metric: &'static Metric, _labels: &str) -> Arc<AtomicU64> {
        Arc::default()
    }

    /// For how long a peer is waited for that takes nothing of what is sent to it: less where memory is short.
    fn patience(&self) -> Duration {
        Duration::from_secs(60)
    }

    /// Ready once the gateway wants the link closed: answer what was begun, then end.
    fn draining(&self) -> LocalFuture<'static, ()>;

    /// Notes an answer, for metrics: service, status.
    fn answered(&self, service: &'static str, status: u16);
}

/// Who presents a credential.
pub enum Identity {
    /// Known at once; an error is a sentence.
    Known(Result<Principal, String>),
    /// Found out on another thread: hashing a password takes as long as thousands of messages.
    Checking(Outcome<Result<Principal, String>>),
    /// Not found out: too many credentials wait to be checked.
    Busy,
}
