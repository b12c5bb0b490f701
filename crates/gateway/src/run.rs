//! A gateway from its configuration to its end.

use crate::access::Access;
use crate::acme::{self, Challenges};
use crate::assets::Assets;
use crate::audit::Audit;
use crate::clock::now;
use crate::config::Config;
use crate::context::House;
use crate::fault::{Problem, RunFault};
use crate::health::{self, Health};
use crate::identity::{self, NameFault};
use crate::keeper::{CERTIFICATE_ENDS, Keeper, Keeping};
use crate::limits::{CHECK_THREADS, CHECK_WAITING_MAX, LOOK_WAIT, WORK_THREADS, WORK_WAITING_MAX};
use crate::listen::{self, Listener, Share, Socket};
use crate::memory;
use crate::problems;
use crate::settings;
use crate::sockets::{Named, Opened};
use crate::timers::{Historian, close_windows};
use crate::trace::{self, Traces};
use crate::traffic::Traffic;
use crate::workers::WorkThreads;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::watch;
use weir_binding::{Binding, ConfigFault, Endpoint, Place, Premises};
use weir_hub::{Hub, Log};
use weir_model::Limits;
use weir_registry::{BINDINGS, SERVICES, Sections, open_history, open_log};

/// A running gateway.
pub struct Gateway {
    hub: Arc<Hub>,
    log: Arc<dyn Log>,
    addresses: Vec<(&'static str, SocketAddr)>,
    drain: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    historian: Historian,
    keeping: Keeping,
    audit: Arc<Audit>,
    traces: Option<Traces>,
    /// Goes when no certificate is to be asked for any more.
    _renewing: Option<Sender<()>>,
}

impl Gateway {
    /// Opens the data, listens, and serves from threads of its own.
    pub fn start(config: &Config, open_to_all: bool) -> Result<Self, RunFault> {
        if let Some(problem) = settings::check(config).into_iter().next() {
            return Err(RunFault::Config(problem));
        }
        Self::start_with(config, bindings(config)?, open_to_all)
    }

    /// The same with these bindings.
    pub(crate) fn start_with(
        config: &Config,
        bindings: Vec<Named>,
        open_to_all: bool,
    ) -> Result<Self, RunFault> {
        let (audit, access) = access(config)?;
        let acme = prepare_acme(config)?;
        let threads = threads(config)?;
        let may_be_exposed = access.is_restricted() || open_to_all;
        let opened = Opened::of(config, &bindings, threads, may_be_exposed)?;
        let addresses = addresses(&opened, &bindings, may_be_exposed)?;
        let (log, hub) = open_data(config)?;
        let (drain, draining) = watch::channel(false);
        let traffic = Arc::<Traffic>::default();
        let traces = start_traces(config, &hub, &traffic)?;
        let premises = Premises {
            endpoints: [opened.endpoints()?, named(&bindings)].concat(),
            logins: access.logins(),
            ..premises(hub.clone(), &bindings)
        };
        let challenges = Challenges::default();
        let services = services(config, &premises, &traffic, &challenges)?;
        let (workers, checkers) = start_workers(&hub)?;
        let beside: Vec<_> = bindings.into_iter().map(|(_, it)| it).collect();
        let keeper = Keeper {
            config: config.clone(),
            access: access.clone(),
            audit: audit.clone(),
            hub: hub.clone(),
            acceptors: opened.acceptors(),
            certificate_ends: traffic.meter(&CERTIFICATE_ENDS, ""),
        };
        note_refusals(&hub, audit.clone());
        warn_of(&addresses, &opened, &access);
        let house = Arc::new(House {
            name: name_of(config)?,
            bindings: beside.clone(),
            hub: hub.clone(),
            services,
            mounts: opened.mounts,
            addresses: addresses.clone(),
            access,
            is_open: open_to_all,
            names: acme.as_ref().map_or_else(Vec::new, |it| it.names.clone()),
            workers,
            checkers,
            patience: patience(config)?,
            draining,
            traffic,
        });
        let threads = start_threads(&opened.listeners, opened.datagrams, &beside, &house)?;
        let historian = Historian::start(hub.clone())
            .map_err(|error| RunFault::Io("thread historian".into(), error))?;
        let keeping = keep(keeper)?;
        let renewing = start_renewing(acme, challenges)?;
        Ok(Self {
            hub,
            log,
            addresses,
            drain,
            threads,
            historian,
            keeping,
            audit,
            traces,
            _renewing: renewing,
        })
    }

    /// `{"ready":true,"http":"127.0.0.1:8080"}`.
    pub fn ready_line(&self) -> String {
        let mut line = serde_json::Map::new();
        line.insert("ready".into(), true.into());
        for (name, address) in &self.addresses {
            line.insert((*name).into(), address.to_string().into());
        }
        serde_json::Value::Object(line).to_string()
    }

    /// The hub.
    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// The address of a listener by its name in the ready line.
    pub fn address(&self, listener: &str) -> Option<SocketAddr> {
        self.addresses
            .iter()
            .find(|(name, _)| *name == listener)
            .map(|(_, address)| *address)
    }

    /// Reads the policy and the certificate again; what is wrong with one leaves it as it was.
    pub fn reload(&self) {
        self.keeping.reload();
    }

    /// Stops: tells readers, answers what was begun, commits what was accepted.
    pub fn stop(self) {
        tracing::info!("stopping");
        self.keeping.finish();
        // Links first, so that streams end with a farewell; then who waits for a message is answered.
        // No receiver left means that the threads have ended already.
        let _ended_already = self.drain.send(true);
        self.hub.stop();
        for thread in self.threads {
            if thread.join().is_err() {
                tracing::error!("a network thread ended early");
            }
        }
        self.historian.finish(&self.hub, &*self.log);
        self.audit.flush();
        if let Some(traces) = self.traces {
            traces.finish();
        }
        tracing::info!("stopped");
    }
}

/// Makes what TLS is spoken with until an authority has given a certificate, where one is to be asked.
fn prepare_acme(config: &Config) -> Result<Option<acme::Settings>, RunFault> {
    let located = |fault: ConfigFault| RunFault::Config(config.locate(&fault));
    let settings = acme::Settings::read(config.section("tls")).map_err(located)?;
    if let Some(settings) = &settings {
        let fault = |problem| ConfigFault {
            key: "tls.acme.storage".into(),
            problem,
        };
        acme::prepare(settings).map_err(|problem| located(fault(problem)))?;
    }
    Ok(settings)
}

/// Has the way of messages traced, where the configuration says where to.
fn start_traces(config: &Config, hub: &Hub, traffic: &Traffic) -> Result<Option<Traces>, RunFault> {
    let settings = trace::Settings::read(config.section("trace"));
    let settings = settings.map_err(|fault| RunFault::Config(config.locate(&fault)))?;
    let Some(settings) = settings else {
        return Ok(None);
    };
    let io = |error| RunFault::Io("thread traces".into(), error);
    let traces = Traces::start(settings, traffic).map_err(io)?;
    hub.trace(traces.tracer());
    Ok(Some(traces))
}

/// Has bindings open what the gateway cannot open for them; says where all listen.
fn addresses(
    opened: &Opened,
    bindings: &[Named],
    may_be_exposed: bool,
) -> Result<Vec<(&'static str, SocketAddr)>, RunFault> {
    let mut addresses = opened.addresses()?;
    for (name, binding) in bindings {
        let opened = binding.open();
        let opened = opened.map_err(|error| RunFault::Io((*name).into(), error))?;
        let mut beyond = opened.iter().filter(|(_, it)| !it.ip().is_loopback());
        if let (Some((_, address)), false) = (beyond.next(), may_be_exposed) {
            return Err(RunFault::Exposed(*address));
        }
        addresses.extend(opened);
    }
    Ok(addresses)
}

/// Who may do what, and where it is noted who did.
fn access(config: &Config) -> Result<(Arc<Audit>, Arc<Access>), RunFault> {
    let file = |key| config.text("access", key).map(Path::new);
    let audit = Arc::new(Audit::of(file("audit")).map_err(RunFault::Config)?);
    let access = Access::of(file("policy"), audit.clone()).map_err(RunFault::Config)?;
    Ok((audit, Arc::new(access)))
}

fn patience(config: &Config) -> Result<Duration, RunFault> {
    settings::patience(config).map_err(|fault| RunFault::Config(config.locate(&fault)))
}

/// Threads that read files, and those that hash passwords.
fn start_workers(hub: &Hub) -> Result<(Arc<WorkThreads>, Arc<WorkThreads>), RunFault> {
    let io = |error| RunFault::Io("work thread".into(), error);
    let start = |name, count, waiting_max, memory| {
        WorkThreads::start(name, count, waiting_max, memory).map_err(io)
    };
    let workers = start(
        "work",
        WORK_THREADS,
        WORK_WAITING_MAX,
        hub.answers().clone(),
    )?;
    let checkers = start("check", CHECK_THREADS, CHECK_WAITING_MAX, Arc::default())?;
    Ok((Arc::new(workers), Arc::new(checkers)))
}

/// Has an authority asked for certificates, where one is named.
fn start_renewing(
    acme: Option<acme::Settings>,
    challenges: Challenges,
) -> Result<Option<Sender<()>>, RunFault> {
    let started = acme.map(|settings| acme::start(settings, challenges));
    let io = |error| RunFault::Io("thread acme".into(), error);
    started.transpose().map_err(io)
}

/// Looks after files that may change while the gateway runs.
fn keep(keeper: Keeper) -> Result<Keeping, RunFault> {
    let io = |error| RunFault::Io("thread keeper".into(), error);
    keeper.start().map_err(io)
}

/// What the hub refuses stands in the audit log, and what it does not keep as it was meant in the program's.
fn note_refusals(hub: &Hub, audit: Arc<Audit>) {
    hub.audit(move |principal, fault| audit.refused(principal, fault));
    problems::tell(hub);
}

/// Says what is open to more than this machine.
fn warn_of(addresses: &[(&'static str, SocketAddr)], opened: &Opened, access: &Access) {
    let beyond = addresses
        .iter()
        .filter(|(_, address)| !address.ip().is_loopback());
    let beyond: Vec<_> = beyond.collect();
    if beyond.is_empty() {
        return;
    }
    if !access.is_restricted() {
        tracing::warn!("--open: everyone who reaches this machine may read and publish everything");
    }
    for warning in access.warnings() {
        tracing::warn!("{warning}");
    }
    for (name, address) in beyond {
        let plain = |it: &Listener| it.name == *name && it.tls.is_none();
        if access.is_restricted() && opened.listeners.iter().any(plain) {
            tracing::warn!(
                "{name} at {address} has no TLS: passwords and tokens cross it readable"
            );
        }
    }
}

pub(crate) fn bindings(config: &Config) -> Result<Vec<Named>, RunFault> {
    let made = BINDINGS.iter().map(|line| {
        let made = (line.configure)(config.section(line.name));
        made.map(|binding| (line.name, binding))
            .map_err(|e| RunFault::Config(config.locate(&e)))
    });
    made.collect()
}

/// What tells this gateway from others; the data directory is there.
fn name_of(config: &Config) -> Result<String, RunFault> {
    let data = data_dir(config);
    identity::name(config, &data).map_err(|fault| match fault {
        NameFault::Config(problem) => RunFault::Config(problem),
        NameFault::Io(error) => RunFault::Io(
            format!("{}/gateway, the gateway's name", data.display()),
            error,
        ),
    })
}

fn data_dir(config: &Config) -> PathBuf {
    PathBuf::from(config.text("data", "dir").unwrap_or("weir-data"))
}

pub(crate) fn open_data(config: &Config) -> Result<(Arc<dyn Log>, Arc<Hub>), RunFault> {
    let data = data_dir(config);
    let located = |fault: ConfigFault| RunFault::Config(config.locate(&fault));
    std::fs::create_dir_all(&data)
        .map_err(|error| RunFault::Io(format!("data directory {}", data.display()), error))?;
    let memory = memory::of_messages(config).map_err(located)?;
    let catalog = memory::of_catalog(config).map_err(located)?;
    let mut log = config.section("log");
    if config.text("log", "pending_bytes").is_none() {
        log.set("pending_bytes", &memory::pending(memory).to_string());
    }
    tell_of_waiting(config);
    let log = open_log(&data, log, config.section("bus")).map_err(located)?;
    let mut stored = sections(config);
    if config.text("history", "unwritten_bytes").is_none() {
        let bytes = memory::pending(memory).to_string();
        stored.history.set("unwritten_bytes", &bytes);
    }
    let history = open_history(&data, stored).map_err(located)?;
    let hub = Hub::start(log.clone(), history, Limits::default(), now()).map_err(|fault| {
        // Else the next start would take the epoch of this one for one that the history is of.
        let _as_it_was = log.close();
        RunFault::Hub(fault)
    })?;
    hub.limit_memory(memory);
    hub.limit_catalog(catalog);
    Ok((log, hub))
}

/// Says at once whom a start waits for, and why: they are given a while to come up.
fn tell_of_waiting(config: &Config) {
    let bus = weir_registry::reach_bus(config.section("bus"), LOOK_WAIT);
    let store = weir_registry::reach_store(config.section("store"), LOOK_WAIT);
    let away = [bus, store.map(|reached| reached.map(drop))];
    for fault in away.into_iter().flatten().filter_map(Result::err) {
        tracing::warn!("not ready yet: {}", config.locate(&fault));
    }
}

fn sections(config: &Config) -> Sections {
    Sections {
        store: config.section("store"),
        history: config.section("history"),
        bus: config.section("bus"),
    }
}

/// Moves the history in the data directory to where `store.url` says; says how many observations that were.
pub fn move_history(
    config: &Config,
    told: impl Fn(u64) + Send + Sync + 'static,
) -> Result<u64, Problem> {
    let (data, log) = (data_dir(config), config.section("log"));
    let moved = weir_registry::move_history(&data, log, sections(config), told);
    moved.map_err(|fault| config.locate(&fault))
}

fn services(
    config: &Config,
    on: &Premises,
    traffic: &Arc<Traffic>,
    challenges: &Challenges,
) -> Result<Vec<Arc<dyn weir_binding::Service>>, RunFault> {
    let made = SERVICES.iter().map(|line| {
        let made = (line.make)(on, config.section(line.name));
        made.map_err(|fault| RunFault::Config(config.locate(&fault)))
    });
    let mut services: Vec<_> = made.collect::<Result<_, _>>()?;
    services.push(Arc::new(challenges.clone()));
    services.push(Arc::new(Health::new(on.hub.clone(), traffic.clone())));
    services.push(Arc::new(Assets));
    Ok(services)
}

/// What clients find by a name: behind somebody's server, in a domain.
fn named(bindings: &[Named]) -> Vec<Endpoint> {
    let of = |binding: &Arc<dyn Binding>| {
        let ways = binding.ways();
        let endpoint = move |(transport, name): (&str, String)| Endpoint {
            transport: transport.into(),
            place: Place::Name(name),
            is_web: false,
            ways,
        };
        binding
            .names()
            .into_iter()
            .map(endpoint)
            .collect::<Vec<_>>()
    };
    bindings
        .iter()
        .flat_map(|(_, binding)| of(binding))
        .collect()
}

/// What services and bindings say of themselves.
fn premises(hub: Arc<Hub>, bindings: &[Named]) -> Premises {
    let said = || bindings.iter().map(|(_, binding)| binding);
    Premises {
        links: said().flat_map(|it| it.links()).collect(),
        schemas: said().flat_map(|it| it.schemas()).copied().collect(),
        parts: parts(),
        ..Premises::of(hub)
    }
}

/// What each service serves, as it says itself.
fn parts() -> Vec<&'static str> {
    let listed = SERVICES.iter().map(|line| line.openapi);
    listed.chain([health::OPENAPI]).collect()
}

/// How many network threads there are.
fn threads(config: &Config) -> Result<usize, RunFault> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let asked = config.threads().map_err(RunFault::Config)?;
    Ok(asked.unwrap_or(cores / 2).max(1))
}

/// One thread for each share of the datagrams' sockets; the first has what runs beside them.
fn start_threads(
    listeners: &[Listener],
    datagrams: Vec<Vec<Socket>>,
    beside: &[Arc<dyn Binding>],
    house: &Arc<House>,
) -> Result<Vec<JoinHandle<()>>, RunFault> {
    let io = |error| RunFault::Io("network thread".into(), error);
    let mut threads = Vec::new();
    let (begun, all_begun) = std::sync::mpsc::channel();
    for (number, datagrams) in datagrams.into_iter().enumerate() {
        let share = Share::of(listeners, datagrams);
        let mut share = share.map_err(io)?;
        if number == 0 {
            share.run_beside(beside, &house.services);
        }
        threads.push(listen::start_thread(number, share, house, begun.clone()).map_err(io)?);
    }
    drop(begun);
    // Nothing is sent: it ends once every thread has let go.
    let _all_serve = all_begun.recv();
    threads.push(start_ticker(house).map_err(io)?);
    Ok(threads)
}

/// The thread that closes windows: it must not wait behind a network thread's work.
fn start_ticker(house: &Arc<House>) -> std::io::Result<JoinHandle<()>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    let house = house.clone();
    thread::Builder::new().name("ticker".into()).spawn(move || {
        runtime.block_on(async {
            tokio::select! {
                () = close_windows(house.hub.clone()) => {}
                () = weir_binding::Gateway::draining(&*house) => {}
            }
        });
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_services_say_of_themselves_is_json_with_own_paths() {
        let mut known = std::collections::BTreeSet::new();
        for part in parts() {
            let part: serde_json::Value = serde_json::from_str(part).unwrap();
            for path in part["paths"].as_object().unwrap().keys() {
                assert!(known.insert(path.clone()), "{path} twice");
            }
        }
        assert!(known.contains("/live/{topic}") && known.contains("/metrics"));
    }
}
