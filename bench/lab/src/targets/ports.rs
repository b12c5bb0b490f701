//! Ports for other people's servers, which are told theirs before they listen.
//!
//! The decision worth arguing: they are taken from below what Linux gives to connections and to `:0`, since a port of
//! that range may be some client's own end by the time that the server comes to it. Those from 12,000 to 29,999 are
//! the project's tests' (`conformance/ports.py`).

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

const FIRST: u16 = 30_000;
const COUNT: u16 = 2_768;

/// A port that is free now, at loopback by TCP and by UDP.
pub fn free_port() -> Result<u16, String> {
    free_ports().map(|[port]| port)
}

/// As many, none twice.
pub(super) fn free_ports<const N: usize>() -> Result<[u16; N], String> {
    let mut ports = [0; N];
    let mut all = self::ports();
    for port in &mut ports {
        *port = all.next_free()?;
    }
    Ok(ports)
}

/// Whether a port was given away in this process.
pub(super) fn is_given_port(port: u16) -> bool {
    ports().given.contains(&port)
}

/// Ports that were given away: one comes again only after all others, so that of programs that start side by side
/// none gets the port of another that does not listen yet.
struct Ports {
    given: BTreeSet<u16>,
    next: u16,
}

static PORTS: LazyLock<Mutex<Ports>> = LazyLock::new(|| {
    // Two benches side by side begin at different ones.
    let begin = std::process::id().wrapping_mul(61) % u32::from(COUNT);
    Mutex::new(Ports {
        given: BTreeSet::new(),
        next: begin as u16,
    })
});

fn ports() -> MutexGuard<'static, Ports> {
    PORTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Ports {
    fn next_free(&mut self) -> Result<u16, String> {
        for _ in 0..COUNT {
            let port = FIRST + self.next;
            self.next = (self.next + 1) % COUNT;
            if is_free(port) {
                self.given.insert(port);
                return Ok(port);
            }
        }
        Err(format!(
            "no port from {FIRST} to {} is free",
            FIRST + (COUNT - 1)
        ))
    }
}

fn is_free(port: u16) -> bool {
    let at = (Ipv4Addr::LOCALHOST, port);
    TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_port_is_none_that_a_connection_may_have_and_comes_once() {
        let ports: [u16; 20] = free_ports().unwrap();
        assert_eq!(BTreeSet::from(ports).len(), 20);
        assert!(ports.iter().all(|port| (30_000..32_768).contains(port)));
        assert!(ports.iter().all(|&port| is_given_port(port)));
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, ports[0])).unwrap();
        assert!(!is_free(ports[0]));
        drop(held);
    }
}
