//! The keys of the policy file, and the row of our sequence numbers on disk.
//!
//! One row serves all contexts: it is one record, and numbers may have gaps. It begins behind what was
//! reserved by the last run, and not before the milliseconds since 2025: if the data is lost, the clock
//! still keeps numbers from being used twice (RFC 8613 appendix B.1.1).

use super::path::Path;
use crate::secure::{Context as Derived, ContextId, Contexts, Guard, Material, Numbers};
use bytes::Bytes;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use weir_binding::{Gateway, LocalFuture, SharedKey};
use weir_carrier::clock::pause;
use weir_hub::Principal;

/// Where the hub keeps up to which number they are reserved.
const RECORD: &str = "coap/oscore";
/// Numbers reserved at once.
const RESERVED: u64 = 65_536;
/// Milliseconds of the epoch at the beginning of 2025.
const START_MS: i64 = 1_735_689_600_000;
/// Before numbers are asked for again where the log took none.
const RETRY_TIME: Duration = Duration::from_secs(1);

/// What is shared with devices, and who they are.
pub(super) struct Keys {
    contexts: Arc<Contexts>,
    /// By context.
    shared: Mutex<Vec<SharedKey>>,
    numbers: Arc<Numbers>,
    wanted: Notify,
    /// Whether numbers were asked for, so that none is wanted before the first are there.
    begun: watch::Sender<bool>,
}

impl Keys {
    /// Those of the policy file.
    pub(super) fn of(context: &dyn Gateway) -> Self {
        let numbers = Arc::new(Numbers::default());
        let pairs = context.keys().into_iter().filter_map(derived);
        let (keys, shared): (_, Vec<SharedKey>) = pairs.unzip();
        Self {
            contexts: Arc::new(Contexts::new(keys, numbers.clone())),
            shared: Mutex::new(shared),
            numbers,
            wanted: Notify::new(),
            begun: watch::Sender::new(false),
        }
    }

    /// Says whether there is anybody to talk to in secret.
    pub(super) fn are_any(&self) -> bool {
        !self.held().is_empty()
    }

    fn held(&self) -> MutexGuard<'_, Vec<SharedKey>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the first numbers are on disk, for a second at most: what a device asks before that
    /// could not be answered, and would be asked again after two.
    pub(super) async fn begun(&self) {
        let mut begun = self.begun.subscribe();
        if self.are_any() {
            tokio::select! {
                _ = begun.wait_for(|begun| *begun) => {}
                () = pause(RETRY_TIME) => {}
            }
        }
    }

    /// What a socket needs to open and close messages; none where nobody has keys.
    pub(super) fn guard(&self) -> Option<Guard<Path>> {
        self.are_any().then(|| Guard::new(self.contexts.clone()))
    }

    /// Whose keys these are. Where the policy took that standing, it is asked whether it has the same keys
    /// still, under another role or name.
    pub(super) fn principal(&self, id: ContextId, context: &dyn Gateway) -> Option<Principal> {
        let mut held = self.held();
        let key = held.get_mut(id.0 as usize)?;
        if key.principal.standing.is_revoked() {
            let now = context.keys();
            if let Some(same) = now.into_iter().find(|other| is_same(key, other)) {
                *key = same;
            }
        }
        Some(key.principal.clone())
    }

    /// Has more numbers reserved before there are none.
    pub(super) fn look(&self) {
        if self.numbers.left() < RESERVED / 2 {
            self.wanted.notify_one();
        }
    }
}

/// Whether two are keys of the same device, whoever that is.
fn is_same(one: &SharedKey, other: &SharedKey) -> bool {
    let secrets = one.secret == other.secret && one.salt == other.salt;
    let ids = one.own == other.own && one.peer == other.peer;
    secrets && ids && one.id_context == other.id_context
}

fn derived(key: SharedKey) -> Option<((Derived, [u8; 8]), SharedKey)> {
    let material = Material {
        secret: key.secret.clone(),
        salt: key.salt.clone(),
        own: key.own.clone(),
        peer: key.peer.clone(),
        id_context: key.id_context.clone(),
    };
    let echo = weir_random::bytes().ok()?;
    // What the policy file may hold always makes keys.
    let context = Derived::derive(&material).ok()?;
    Some(((context, echo), key))
}

/// Reserves sequence numbers, and more whenever they run low.
pub(super) fn reserve(keys: Arc<Keys>, context: Arc<dyn Gateway>) -> LocalFuture<'static, ()> {
    Box::pin(async move {
        let stored = context.hub().consumer(RECORD);
        let stored = stored.and_then(|bytes| Some(u64::from_be_bytes(bytes[..].try_into().ok()?)));
        let mut below = stored.unwrap_or(0).max(milliseconds(&*context));
        keys.numbers.begin(below);
        loop {
            below += RESERVED;
            if written(&*context, below).await {
                keys.numbers.reserve(below);
                keys.begun.send_replace(true);
            } else {
                pause(RETRY_TIME).await
            }
            if keys.numbers.left() >= RESERVED / 2 {
                keys.wanted.notified().await;
            }
        }
    })
}

fn milliseconds(context: &dyn Gateway) -> u64 {
    let now = context.now().nanos() / 1_000_000;
    u64::try_from(now - START_MS).unwrap_or(0)
}

/// Has it written how far numbers are reserved; says whether it is on disk.
async fn written(context: &dyn Gateway, below: u64) -> bool {
    let state = Bytes::copy_from_slice(&below.to_be_bytes());
    let gateway = context.hub().internal();
    let Ok(ticket) = gateway.remember(context.now(), RECORD, state) else {
        return false;
    };
    poll_fn(|cx| ticket.poll(cx)).await.is_ok()
}
