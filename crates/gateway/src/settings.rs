//! Values of the configuration that mean something: addresses, certificates, what plug-ins take.
//!
//! `weir check` and a start read them by the same functions, so that neither passes what the other
//! refuses. Nothing is opened here but files that are read.

use crate::config::Config;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use weir_binding::{Binding, ConfigFault};
use weir_carrier::tls::{Acceptor, Files};
use weir_registry::{BINDINGS, SERVICES, STORES, check_log};

/// Everything that a start would refuse, but for what only opening tells.
pub(crate) fn faults(config: &Config) -> Vec<ConfigFault> {
    let mut faults = Vec::new();
    for line in BINDINGS {
        match (line.configure)(config.section(line.name)) {
            Ok(binding) => faults.extend(of_transports(line.name, &*binding)),
            Err(fault) => faults.push(fault),
        }
    }
    for line in SERVICES {
        let check = line.check.map(|check| check(config.section(line.name)));
        faults.extend(check.and_then(Result::err));
    }
    faults.extend(acceptor(config, &[]).err());
    faults.extend(check_log(config.section("log")).err());
    faults.extend((STORES[0].check)(config.section("history")).err());
    faults
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

/// The address that a `listen` means.
pub(crate) fn address(listen: &str) -> Result<SocketAddr, String> {
    let mut addresses = listen.to_socket_addrs().map_err(|error| {
        format!("expected an address and port such as 127.0.0.1:8080, found `{listen}` ({error})")
    })?;
    addresses
        .next()
        .ok_or_else(|| format!("`{listen}` has no address"))
}

/// What accepts TLS, where a certificate is set.
pub(crate) fn acceptor(config: &Config, alpn: &[&str]) -> Result<Option<Acceptor>, ConfigFault> {
    let fault = |key: &str, problem: String| ConfigFault {
        key: key.into(),
        problem,
    };
    let together = || "`tls.certificate` and `tls.key` go together".into();
    match (config.text("tls", "certificate"), config.text("tls", "key")) {
        (None, None) => match config.text("tls", "clients") {
            None => Ok(None),
            Some(_) => Err(fault("tls.clients", "needs `tls.certificate`".into())),
        },
        (Some(certificate), Some(key)) => {
            let files = Files {
                certificate: Path::new(certificate),
                key: Path::new(key),
                clients: config.text("tls", "clients").map(Path::new),
            };
            Acceptor::from_files(files, alpn)
                .map(Some)
                .map_err(|error| fault("tls.certificate", error.to_string()))
        }
        (Some(_), None) => Err(fault("tls.certificate", together())),
        (None, Some(_)) => Err(fault("tls.key", together())),
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
}
