//! Whether the addresses can be listened at.

use super::finding::Finding;
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use weir_gateway::{Config, Listens, listens};

/// Each address, tried for an instant; `runs` says that a gateway has this data, whose they may be.
pub(super) fn look(config: &Config, open: bool, runs: bool) -> Vec<Finding> {
    let restricted = config.text("access", "policy").is_some();
    let mut found = Vec::new();
    let mut free = Vec::new();
    for listener in listens(config) {
        let Listens { key, address, .. } = &listener;
        if !address.ip().is_loopback() && !restricted && !open {
            found.push(Finding::bad(format!(
                "{key}: {address} can be reached from other machines and no policy is set: it will not start"
            )));
            continue;
        }
        match tried(&listener) {
            Ok(()) => free.push(format!("{key} {address}")),
            Err(finding) => found.push(if runs && finding.1 {
                Finding::good(format!(
                    "{key}: {address} is taken, by the gateway that runs, it seems"
                ))
            } else {
                Finding::bad(finding.0)
            }),
        }
    }
    if !free.is_empty() {
        let all = free.join(", ");
        found.push(Finding::good(format!("it can listen at {all}")));
    }
    found
}

/// Why it cannot be listened at, and whether that is because somebody does.
fn tried(listener: &Listens) -> Result<(), (String, bool)> {
    let Listens { key, address, .. } = listener;
    let bound = match listener.is_datagram {
        true => UdpSocket::bind(address).map(drop),
        false => TcpListener::bind(address).map(drop),
    };
    bound.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            let sentence = format!("{key}: {address} is in use by another program");
            (sentence, true)
        }
        ErrorKind::AddrNotAvailable => {
            let sentence = format!("{key}: this machine does not have the address {address}");
            (sentence, false)
        }
        ErrorKind::PermissionDenied => {
            let sentence = format!(
                "{key}: {address}: ports below 1024 need a right (CAP_NET_BIND_SERVICE), or another program \
                 that leads to this one"
            );
            (sentence, false)
        }
        _ => (format!("{key}: {address}: {error}"), false),
    })
}
