//! What the bindings' servers are given.

use crate::access::Access;
use crate::clock::now;
use crate::limits::SHORT_PATIENCE;
use crate::traffic::Traffic;
use bytes::Bytes;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use weir_binding::{
    Binding, Caller, Context, Gateway, Identity, LocalFuture, Metric, Over, Service, SharedKey,
    Tally, Workers,
};
use weir_hub::{Hub, Principal};
use weir_model::Time;

/// Hub, services, access and clock of one gateway.
pub(crate) struct House {
    /// What tells it from others that share its log.
    pub(crate) name: String,
    pub(crate) hub: Arc<Hub>,
    pub(crate) services: Vec<Arc<dyn Service>>,
    /// Who takes which WebSockets.
    pub(crate) mounts: Vec<Mount>,
    /// Whose clients speak which schemes.
    pub(crate) bindings: Vec<Arc<dyn Binding>>,
    /// What listens, by its name in the ready line.
    pub(crate) addresses: Vec<(&'static str, SocketAddr)>,
    pub(crate) access: Arc<Access>,
    /// Whether it was said that everybody may come.
    pub(crate) is_open: bool,
    /// What it has a certificate by ACME for.
    pub(crate) names: Vec<String>,
    pub(crate) workers: Arc<dyn Workers>,
    /// Who hash passwords.
    pub(crate) checkers: Arc<dyn Workers>,
    /// For how long a peer is waited for that takes nothing.
    pub(crate) patience: Duration,
    pub(crate) draining: watch::Receiver<bool>,
    pub(crate) traffic: Arc<Traffic>,
}

/// A binding that takes WebSockets at a path.
pub(crate) struct Mount {
    pub(crate) path: &'static str,
    pub(crate) subprotocol: &'static str,
    pub(crate) binding: Arc<dyn Binding>,
}

impl Gateway for House {
    fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    fn now(&self) -> Time {
        now()
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn service(&self, path: &str) -> Option<&Arc<dyn Service>> {
        let holds = |mount: &str| {
            path.strip_prefix(mount)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let mounted =
            |service: &&Arc<dyn Service>| service.mounts().iter().any(|mount| holds(mount));
        self.services.iter().find(mounted).or(self.services.last())
    }

    fn address(&self, listener: &str) -> Option<SocketAddr> {
        let found = self.addresses.iter().find(|(name, _)| *name == listener);
        found.map(|(_, address)| *address)
    }

    fn poster(&self, url: &str, roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
        let scheme = weir_model::url::scheme(url).unwrap_or_default();
        let mut all = self.bindings.iter();
        match all.find(|binding| binding.schemes().contains(&scheme)) {
            Some(binding) => binding.caller(url, roots),
            None => {
                let sentence = format!(
                    "nothing here posts to `{scheme}:`; http, https, smtp and smtps are possible"
                );
                Err(io::Error::new(io::ErrorKind::Unsupported, sentence))
            }
        }
    }

    fn service_of_topic(&self, topic: &str) -> Option<(&Arc<dyn Service>, String)> {
        let below = |at: &str| {
            let rest = topic.strip_prefix(at)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        };
        self.services.iter().find_map(|service| {
            let mut topics = service.topics().iter();
            let path = topics.find_map(|(at, path)| below(at).map(|rest| format!("{path}{rest}")));
            Some((service, path?))
        })
    }

    fn takes_name(&self, host: &str) -> bool {
        let is_own = || self.names.iter().any(|name| name == host);
        self.access.is_restricted() || self.is_open || is_own()
    }

    fn principal(&self, credential: Option<&str>, _local: bool) -> Identity {
        self.access.principal(credential, &*self.checkers)
    }

    fn authenticate(&self, user: &str, password: &[u8]) -> Identity {
        self.access.authenticate(user, password, &*self.checkers)
    }

    fn vouched(&self, name: &str) -> Principal {
        self.access.vouched(name)
    }

    fn named(&self, name: &str) -> Option<Principal> {
        self.access.named(name)
    }

    fn keys(&self) -> Vec<SharedKey> {
        self.access.keys()
    }

    fn tally(&self, binding: &'static str, scheme: &'static str) -> Arc<Tally> {
        let tallies = &self.traffic.tallies;
        let mut tallies = tallies.lock().unwrap_or_else(PoisonError::into_inner);
        tallies.entry((binding, scheme)).or_default().clone()
    }

    fn meter(&self, metric: &'static Metric, labels: &str) -> Arc<AtomicU64> {
        self.traffic.meter(metric, labels)
    }

    fn workers(&self) -> Arc<dyn Workers> {
        self.workers.clone()
    }

    fn patience(&self) -> Duration {
        match self.hub.is_short() {
            true => self.patience.min(SHORT_PATIENCE),
            false => self.patience,
        }
    }

    fn draining(&self) -> LocalFuture<'static, ()> {
        let mut draining = self.draining.clone();
        Box::pin(async move {
            // A sender that is gone means the same: the gateway stops.
            let _stopping = draining.wait_for(|draining| *draining).await;
        })
    }

    fn answered(&self, service: &'static str, status: u16) {
        let mut answers = self
            .traffic
            .answers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *answers.entry((service, status)).or_default() += 1;
    }
}

impl Context for House {
    fn over(&self, path: &str, offered: &[String]) -> Over {
        let mut here = self
            .mounts
            .iter()
            .filter(|mount| mount.path == path)
            .peekable();
        let Some(first) = here.peek().map(|mount| mount.subprotocol) else {
            return Over::Nobody;
        };
        let spoken = here.find(|mount| offered.iter().any(|name| name == mount.subprotocol));
        spoken.map_or(Over::Unspoken(first), |mount| {
            Over::Binding(mount.binding.clone(), mount.subprotocol)
        })
    }
}
