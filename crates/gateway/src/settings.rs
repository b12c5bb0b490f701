//! Values of the configuration that mean something: addresses, certificates, what plug-ins take.
//!
//! `weir check` and a start read them by the same functions, so that neither passes what the other
//! refuses. Nothing is opened here but files that are read.

use crate::acme;
use crate::config::Config;
use crate::fault::Problem;
use crate::memory;
use crate::policy::Policy;
use crate::trace;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;
use weir_binding::{Binding, ConfigFault, Section};
use weir_carrier::tls::{Acceptor, Files};
use weir_registry::{BINDINGS, SERVICES, check_bus, check_history, check_log, check_store};

/// Unless the configuration says otherwise.
const STALL_SECS: u64 = 60;

/// Everything that is wrong before anything is opened.
pub fn check(config: &Config) -> Vec<Problem> {
    let mut problems = config.unknown();
    problems.extend(config.threads().err());
    let policy = config.text("access", "policy").map(Path::new);
    problems.extend(policy.and_then(|path| Policy::from_file(path, None).err()));
    problems.extend(faults(config).iter().map(|fault| config.locate(fault)));
    problems
}

/// Everything that a start would refuse, but for what only opening tells.
fn faults(config: &Config) -> Vec<ConfigFault> {
    let mut faults = Vec::new();
    for line in BINDINGS {
        let binding = all(config.section(line.name), line.configure, &mut faults);
        faults.extend(binding.map_or(Vec::new(), |it| of_transports(line.name, &*it)));
    }
    for line in SERVICES {
        let check = line.check.unwrap_or(|_| Ok(()));
        all(config.section(line.name), check, &mut faults);
    }
    faults.extend(acceptor_once_there(config).err());
    faults.extend(memory::of_messages(config).err());
    faults.extend(patience(config).err());
    all(config.section("trace"), trace::Settings::read, &mut faults);
    all(config.section("log"), check_log, &mut faults);
    all(config.section("bus"), check_bus, &mut faults);
    let store = config.section("store");
    all(store.clone(), check_store, &mut faults);
    let check = |history| check_history(history, &store);
    all(config.section("history"), check, &mut faults);
    faults
}

/// Reads a section; where that fails, again without what is at fault, so that all faults of it are told.
fn all<T>(
    mut section: Section,
    read: impl Fn(Section) -> Result<T, ConfigFault>,
    faults: &mut Vec<ConfigFault>,
) -> Option<T> {
    let before = faults.len();
    loop {
        let fault = match read(section.clone()) {
            Ok(value) => return Some(value),
            Err(fault) => fault,
        };
        let goes_on = section.leave_out(&fault);
        // What is left out may be missed then, by itself and by what belongs to it.
        let is_missed = fault.is_idle_key() && faults.len() > before;
        if !is_missed && faults.iter().all(|known| known.key != fault.key) {
            faults.push(fault);
        }
        if !goes_on {
            return None;
        }
    }
}

fn of_transports(section: &str, binding: &dyn Binding) -> Vec<ConfigFault> {
    let faults = binding.transports().into_iter().filter_map(|transport| {
        let (key, listen) = transport.listens()?;
        let problem = address(listen).err()?;
        let key = format!("{section}.{key}");
        Some(ConfigFault { key, problem })
    });
    faults.collect()
}

/// For how long a peer is waited for that takes nothing of what is sent to it.
pub(crate) fn patience(config: &Config) -> Result<Duration, ConfigFault> {
    let mut section = config.section("gateway");
    match section.parsed("stall_secs", STALL_SECS, "a number of seconds")? {
        0 => Err(section.fault("stall_secs", "expected 1 or more, found `0`")),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// The address that a `listen` means.
pub(crate) fn address(listen: &str) -> Result<SocketAddr, String> {
    let mut addresses = listen.to_socket_addrs().map_err(|error| {
        format!("expected an address and port such as 127.0.0.1:8080, found `{listen}` ({error})")
    })?;
    addresses
        .next()
        .ok_or_else(|| format!("`{listen}` has no address"))
}

fn fault(key: &str, problem: impl Into<String>) -> ConfigFault {
    ConfigFault {
        key: key.into(),
        problem: problem.into(),
    }
}

/// The files that TLS is spoken with, as they are now.
pub(crate) struct Tls {
    /// The chain, and where it is an authority's by ACME, the key too.
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) clients: Option<PathBuf>,
}

/// Which files TLS is spoken with, where it is.
pub(crate) fn tls(config: &Config) -> Result<Option<Tls>, ConfigFault> {
    let acme = acme::Settings::read(config.section("tls"))?;
    let given = acme.map(|settings| acme::file(&settings.storage));
    let set = |key: &str| config.text("tls", key).map(PathBuf::from);
    let certificate = given.clone().or_else(|| set("certificate"));
    let together = "`tls.certificate` and `tls.key` go together";
    match (certificate, given.or_else(|| set("key")), set("clients")) {
        (None, None, None) => Ok(None),
        (None, None, Some(_)) => Err(fault("tls.clients", "needs `tls.certificate`")),
        (Some(certificate), Some(key), clients) => Ok(Some(Tls {
            certificate,
            key,
            clients,
        })),
        (Some(_), None, _) => Err(fault("tls.certificate", together)),
        (None, Some(_), _) => Err(fault("tls.key", together)),
    }
}

/// What accepts TLS, where a certificate is set.
pub(crate) fn acceptor(config: &Config, alpn: &[&str]) -> Result<Option<Acceptor>, ConfigFault> {
    let Some(tls) = tls(config)? else {
        return Ok(None);
    };
    let files = Files {
        certificate: &tls.certificate,
        key: &tls.key,
        clients: tls.clients.as_deref(),
    };
    let acceptor = Acceptor::from_files(files, alpn);
    acceptor
        .map(Some)
        .map_err(|error| fault("tls.certificate", error.to_string()))
}

/// The same before a start, which makes a certificate where an authority has not given one yet.
fn acceptor_once_there(config: &Config) -> Result<(), ConfigFault> {
    let by_acme = acme::Settings::read(config.section("tls"))?;
    match by_acme.is_some_and(|settings| !acme::file(&settings.storage).exists()) {
        true => Ok(()),
        false => acceptor(config, &[]).map(drop),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_certificate_needs_its_key() {
        let mut config = Config::default();
        config.set("tls.certificate=x.pem").unwrap();
        let Err(fault) = acceptor(&config, &[]) else {
            panic!("accepted")
        };
        assert!(fault.to_string().contains("go together"), "{fault}");
    }

    #[test]
    fn every_fault_of_every_bridge_is_told() {
        let mut config = Config::default();
        for key in [
            "mqtt.bridge.a.url=nonsense",
            "mqtt.bridge.a.version=9",
            "mqtt.bridge.a.colour=red",
            "mqtt.bridge.a.in.0=a/#/b",
            "mqtt.bridge.b.version=5",
            "mqtt.bridge.c.url=mqtt://127.0.0.1",
            "mqtt.bridge.c.keep_alive=long",
            "coap.plugtest=perhaps",
            // Left out, it leaves the others without it.
            "xmpp.url=nonsense:",
            "xmpp.component=weir.example.org",
            "xmpp.password=x",
            "xmpp.colour=red",
        ] {
            config.set(key).unwrap();
        }
        let mut keys: Vec<String> = faults(&config).into_iter().map(|it| it.key).collect();
        keys.sort();
        let expected = [
            "coap.plugtest",
            "mqtt.bridge.a.colour",
            "mqtt.bridge.a.in.0.filter",
            "mqtt.bridge.a.url",
            "mqtt.bridge.a.version",
            "mqtt.bridge.b.url",
            "mqtt.bridge.c.keep_alive",
            "xmpp.colour",
            "xmpp.url",
        ];
        assert_eq!(keys, expected);
    }
}
