//! A gateway from its configuration to its end.

use crate::access::{Access, Policy};
use crate::assets::Assets;
use crate::config::{Config, Problem};
use crate::context::{House, Traffic, now};
use crate::health::Health;
use crate::limits::{CHECK_THREADS, CHECK_WAITING_MAX, WORK_THREADS, WORK_WAITING_MAX};
use crate::listen::{self, Listener};
use crate::settings;
use crate::timers::{Historian, close_windows};
use crate::workers::WorkThreads;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::watch;
use weir_binding::{Binding, ConfigFault, Transport};
use weir_hub::{Fault, Hub, Log};
use weir_model::Limits;
use weir_registry::{BINDINGS, SERVICES, STORES, open_log};

/// A running gateway.
pub struct Gateway {
    hub: Arc<Hub>,
    log: Arc<dyn Log>,
    addresses: Vec<(&'static str, SocketAddr)>,
    drain: watch::Sender<bool>,
    threads: Vec<JoinHandle<()>>,
    historian: Historian,
}

/// Why a gateway does not start.
#[derive(Debug)]
pub enum RunFault {
    /// The configuration is wrong.
    Config(Problem),
    /// The data cannot be read.
    Hub(Fault),
    /// A socket or thread cannot be had.
    Io(String, std::io::Error),
    /// It would be open to the network without any access rule.
    Exposed(SocketAddr),
}

impl fmt::Display for RunFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFault::Config(problem) => problem.fmt(f),
            RunFault::Hub(fault) => write!(f, "the data cannot be opened: {fault}"),
            RunFault::Io(what, error) => write!(f, "{what}: {error}"),
            RunFault::Exposed(address) => write!(
                f,
                "{address} can be reached from other machines and no access rules are set: \
                 set access.policy to a file, or say --open to let everyone do everything"
            ),
        }
    }
}

impl std::error::Error for RunFault {}

impl Gateway {
    /// Opens the data, listens, and serves from threads of its own.
    pub fn start(config: &Config, open_to_all: bool) -> Result<Self, RunFault> {
        if let Some(problem) = config.check().into_iter().next() {
            return Err(RunFault::Config(problem));
        }
        let access = access(config)?;
        let restricted = matches!(access, Access::Policy(_));
        let bindings = bindings(config)?;
        let listeners = listen_all(config, &bindings, restricted || open_to_all)?;
        let (log, hub) = open_data(config)?;
        let (drain, draining) = watch::channel(false);
        let traffic = Arc::new(Traffic::default());
        let services = services(&hub, &traffic);
        let io = |error| RunFault::Io("work thread".into(), error);
        let workers = WorkThreads::start("work", WORK_THREADS, WORK_WAITING_MAX).map_err(io)?;
        let checkers = WorkThreads::start("check", CHECK_THREADS, CHECK_WAITING_MAX).map_err(io)?;
        let house = Arc::new(House {
            hub: hub.clone(),
            services,
            access,
            workers: Arc::new(workers),
            checkers: Arc::new(checkers),
            draining,
            traffic,
        });
        let addresses = listeners.iter().map(|(name, listener)| {
            let address = listener.socket.local_addr();
            address
                .map(|address| (*name, address))
                .map_err(|e| RunFault::Io((*name).into(), e))
        });
        let addresses = addresses.collect::<Result<_, _>>()?;
        let listeners: Vec<_> = listeners
            .into_iter()
            .map(|(_, listener)| listener)
            .collect();
        let threads = start_threads(config, &listeners, &house)?;
        let historian = Historian::start(hub.clone())
            .map_err(|error| RunFault::Io("thread historian".into(), error))?;
        Ok(Self {
            hub,
            log,
            addresses,
            drain,
            threads,
            historian,
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

    /// Stops: tells readers, answers what was begun, commits what was accepted.
    pub fn stop(self) {
        tracing::info!("stopping");
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
        tracing::info!("stopped");
    }
}

fn access(config: &Config) -> Result<Access, RunFault> {
    match config.text("access", "policy") {
        None => Ok(Access::Open),
        Some(path) => Policy::from_file(Path::new(path))
            .map(|policy| Access::Policy(Arc::new(policy)))
            .map_err(RunFault::Config),
    }
}

/// A binding and its section.
type Named = (&'static str, Arc<dyn Binding>);

fn bindings(config: &Config) -> Result<Vec<Named>, RunFault> {
    let made = BINDINGS.iter().map(|line| {
        let made = (line.configure)(config.section(line.name));
        made.map(|binding| (line.name, binding))
            .map_err(|e| RunFault::Config(config.locate(&e)))
    });
    made.collect()
}

fn listen_all(
    config: &Config,
    bindings: &[Named],
    may_be_exposed: bool,
) -> Result<Vec<(&'static str, Listener)>, RunFault> {
    let certified = config
        .text("tls", "certificate")
        .or(config.text("tls", "key"))
        .is_some();
    let mut listeners = Vec::new();
    for (section, binding) in bindings {
        for transport in binding.transports() {
            let Transport::Stream {
                name,
                key,
                listen,
                tls,
                alpn,
            } = transport;
            if listen.is_empty() || (tls && !certified) {
                continue;
            }
            let fault = |problem: String| {
                let fault = ConfigFault {
                    key: format!("{section}.{key}"),
                    problem,
                };
                RunFault::Config(config.locate(&fault))
            };
            let address = settings::address(&listen).map_err(fault)?;
            if !address.ip().is_loopback() && !may_be_exposed {
                return Err(RunFault::Exposed(address));
            }
            let socket = TcpListener::bind(address)
                .map_err(|error| fault(unable(address, &format!("{section}.{key}"), &error)))?;
            let acceptor = |fault: ConfigFault| RunFault::Config(config.locate(&fault));
            let tls = match tls {
                true => settings::acceptor(config, alpn).map_err(acceptor)?,
                false => None,
            };
            listeners.push((
                name,
                Listener {
                    binding: binding.clone(),
                    socket,
                    tls,
                },
            ));
        }
    }
    Ok(listeners)
}

/// Why nothing listens there, and what to do where another program does.
fn unable(address: SocketAddr, key: &str, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::AddrInUse {
        return format!("cannot listen at {address}: {error}");
    }
    let (ip, next) = (address.ip(), address.port().wrapping_add(1));
    let other = SocketAddr::new(ip, next);
    format!(
        "{address} is in use by another program: stop that one, or take another port, \
         for example --set {key}={other}"
    )
}

fn open_data(config: &Config) -> Result<(Arc<dyn Log>, Arc<Hub>), RunFault> {
    let data = PathBuf::from(config.text("data", "dir").unwrap_or("weir-data"));
    let located = |fault: ConfigFault| RunFault::Config(config.locate(&fault));
    std::fs::create_dir_all(&data)
        .map_err(|error| RunFault::Io(format!("data directory {}", data.display()), error))?;
    let log = open_log(&data, config.section("log")).map_err(located)?;
    let store = &STORES[0];
    let history = (store.open)(&data, config.section("history")).map_err(located)?;
    let hub = Hub::start(log.clone(), history, Limits::default(), now()).map_err(RunFault::Hub)?;
    Ok((log, hub))
}

fn services(hub: &Arc<Hub>, traffic: &Arc<Traffic>) -> Vec<Arc<dyn weir_binding::Service>> {
    let mut services: Vec<_> = SERVICES.iter().map(|line| (line.make)(hub)).collect();
    services.push(Arc::new(Health::new(hub.clone(), traffic.clone())));
    services.push(Arc::new(Assets));
    services
}

fn start_threads(
    config: &Config,
    listeners: &[Listener],
    house: &Arc<House>,
) -> Result<Vec<JoinHandle<()>>, RunFault> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let asked = config.threads().map_err(RunFault::Config)?;
    let count = asked.unwrap_or(cores / 2).max(1);
    let io = |error| RunFault::Io("network thread".into(), error);
    let mut threads = Vec::new();
    for number in 0..count {
        threads.push(listen::start_thread(number, listeners, house).map_err(io)?);
    }
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
                () = weir_binding::Context::draining(&*house) => {}
            }
        });
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_gateway_that_others_can_reach_needs_rules_or_the_word() {
        let mut config = Config::default();
        config.set("http.listen=0.0.0.0:0").unwrap();
        let bindings = bindings(&config).unwrap();
        let refused = listen_all(&config, &bindings, false);
        assert!(matches!(refused, Err(RunFault::Exposed(_))));
        assert_eq!(listen_all(&config, &bindings, true).unwrap().len(), 1);
        config.set("http.listen=127.0.0.1:0").unwrap();
        let bindings = super::bindings(&config).unwrap();
        assert_eq!(listen_all(&config, &bindings, false).unwrap().len(), 1);
    }
}
