//! The participants: the binding `dds`, server and client.

mod adapter;
mod client;
mod exchange;
mod inward;
mod outward;
mod pair;
mod participant;
mod place;
mod quality;
mod settings;
mod told;
mod ways;

pub use exchange::Exchange;

use inward::Inward;
use outward::Outward;
use pair::Pair;
use rustdds::StatusEvented;
use settings::Settings;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use told::Told;
use weir_binding::{
    ConfigFault, Connect, Context, Describe, Gateway, Identity, LocalFuture, Publisher, Schema,
    Section, Server, Subscriber, Target, Transport, Way,
};
use weir_carrier::Link;
use weir_hub::{Ending, Principal};
use weir_model::{Cursor, Filter};

/// How often it is looked at who came and went.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// Looks a second.
const LOOKS_PER_SECOND: u32 = 10;
/// How long to wait before a credential that does not hold is tried again.
const ASK_AGAIN: Duration = Duration::from_secs(1);

/// DDS as a binding: participants of a domain.
pub struct Dds {
    settings: Arc<Settings>,
    /// The participants, from when they are opened until their background runs.
    opened: Mutex<Option<Pair>>,
}

impl Dds {
    /// The binding as its section of the configuration wants it.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        Ok(Self {
            settings: Arc::new(Settings::read(section)?),
            opened: Mutex::default(),
        })
    }
}

impl Server for Dds {
    fn name(&self) -> &'static str {
        "dds"
    }

    /// None that the gateway could open: the stack has sockets and threads of its own.
    fn transports(&self) -> Vec<Transport> {
        Vec::new()
    }

    fn open(&self) -> io::Result<Vec<(&'static str, SocketAddr)>> {
        let Some(place) = &self.settings.place else {
            return Ok(Vec::new());
        };
        let pair = Pair::open(place)?;
        let address = pair.address();
        if address.ip().is_loopback() {
            let (first, last) = place.ports();
            tracing::warn!(
                "DDS announces itself at {address} alone, but its sockets take datagrams at every address: \
                 who reaches UDP ports {first} to {last} from elsewhere may publish what its domain may; \
                 close them in the firewall"
            );
        }
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        *opened = Some(pair);
        Ok(vec![("dds", address)])
    }

    fn serve(&self, _: Link, _: Arc<dyn Context>) -> LocalFuture<'static, io::Result<()>> {
        let refused = io::Error::new(io::ErrorKind::Unsupported, "dds takes no links");
        Box::pin(std::future::ready(Err(refused)))
    }

    fn background(&self, context: Arc<dyn Context>) -> Option<LocalFuture<'static, ()>> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let pair = opened.take()?;
        let settings = self.settings.clone();
        let context: Arc<dyn Gateway> = context;
        Some(Box::pin(async move {
            serve(&settings, &pair, &context).await;
        }))
    }
}

impl Describe for Dds {
    /// None in an encoding that a client picks: its type is its encoding.
    fn deliveries(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    fn ways(&self) -> &'static [Way] {
        ways::WAYS
    }

    fn names(&self) -> Vec<(&'static str, String)> {
        let place = self.settings.place.iter();
        place
            .map(|place| ("dds", format!("//{}", place.domain)))
            .collect()
    }

    fn schemas(&self) -> &'static [Schema] {
        &[Schema {
            name: "Observation.idl",
            media: "text/plain; charset=utf-8",
            text: crate::wire::IDL,
        }]
    }
}

impl Connect for Dds {
    fn schemes(&self) -> &'static [&'static str] {
        &["dds"]
    }

    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        Box::pin(client::publisher(target))
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<Cursor>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        Box::pin(client::subscriber(target, filters, since))
    }
}

/// Serves a domain until the hub stops; rests while the credential does not hold, or when the stack fails.
async fn serve(settings: &Settings, pair: &Pair, context: &Arc<dyn Gateway>) {
    let own = [pair.reading.guid(), pair.writing.guid()];
    let told = Told::new(context.clone(), pair.reading.domain.domain_id(), own);
    let told = Rc::new(RefCell::new(told));
    let mut is_resting = false;
    loop {
        match principal(settings, &**context).await {
            Ok(principal) => {
                if is_resting {
                    tracing::info!("the credential of the DDS domain holds again");
                }
                is_resting = false;
                match run(settings, pair, (context, &told), principal).await {
                    Ok(Ending::Revoked) => {}
                    Ok(_) => return,
                    Err(error) => tracing::error!(%error, "DDS failed, and is begun again"),
                }
            }
            Err(reason) if !is_resting => {
                tracing::error!(%reason, "nothing goes to the DDS domain or comes from it yet");
                is_resting = true;
            }
            Err(_) => {}
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Serves a domain with the rights of a principal, for as long as those are there.
async fn run(
    settings: &Settings,
    pair: &Pair,
    (context, told): (&Arc<dyn Gateway>, &Rc<RefCell<Told>>),
    principal: Principal,
) -> io::Result<Ending> {
    // Of every gateway in the domain, should several share a log.
    let origin: Arc<str> = format!("dds/{}", pair.reading.domain.domain_id()).into();
    let inward = Inward {
        context: context.clone(),
        principal: principal.clone(),
        origin: origin.clone(),
        told: told.clone(),
    };
    let outward = Outward {
        context: context.clone(),
        principal: principal.clone(),
        origin,
        told: told.clone(),
    };
    let reader = pair.reader(&settings.requested)?;
    let writer = pair.writer(&settings.offered)?;
    tokio::select! {
        ended = inward.run(reader) => ended,
        ending = outward.run(settings, writer) => Ok(ending),
        () = changed(settings, &**context, &principal) => Ok(Ending::Revoked),
        never = watch(pair, told) => never,
    }
}

/// Waits until the domain has other rights: who reads nothing is not told that by a subscription's end.
async fn changed(settings: &Settings, context: &dyn Gateway, before: &Principal) {
    loop {
        tokio::time::sleep(ASK_AGAIN).await;
        let now = principal(settings, context).await;
        let is_other = now.is_ok_and(|now| now.grants != before.grants);
        if is_other || before.standing.is_revoked() {
            return;
        }
    }
}

/// Tells who comes and goes.
async fn watch(pair: &Pair, told: &RefCell<Told>) -> ! {
    // Who reads knows of writers, who writes of readers.
    let listeners = [&pair.reading, &pair.writing].map(|it| it.domain.status_listener());
    let mut looks = 0;
    loop {
        for listener in &listeners {
            while let Some(seen) = listener.try_recv_status() {
                told.borrow_mut().of_domain(&seen);
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
        looks += 1;
        if looks % LOOKS_PER_SECOND == 0 {
            told.borrow_mut().tick();
        }
    }
}

/// Whose rights the domain's participants have: RTPS says nothing of who somebody is.
async fn principal(settings: &Settings, context: &dyn Gateway) -> Result<Principal, String> {
    let known = match context.principal(settings.credential.as_deref(), true) {
        Identity::Known(known) => known,
        Identity::Checking(mut outcome) => poll_fn(|cx| outcome.poll(cx))
            .await
            .unwrap_or_else(|| Err("the credential could not be checked".into())),
        Identity::Busy => Err("too many credentials wait to be checked".into()),
    };
    known.map_err(|sentence| format!("dds.credential: {sentence}"))
}
