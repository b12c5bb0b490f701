//! Giving way: a listener whose address nobody chose takes a free port where another program has its own.
//!
//! For trying things out only: what serves others must be found where it was, so `weir serve` refuses
//! to start instead. Another program may still take the port between this look and the start, which
//! then tells so.

use crate::config::Config;
use crate::fault::Problem;
use crate::fault::RunFault;
use crate::run::bindings;
use crate::settings;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use weir_binding::Transport;

/// A listener that gave way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GaveWay {
    /// `section.key` of its address.
    pub key: String,
    /// The address that another program has.
    pub taken: SocketAddr,
}

/// Sets port 0 for each listener that stands at its default address and finds it in use.
pub fn give_way(config: &mut Config) -> Result<Vec<GaveWay>, Problem> {
    let mut all = Vec::new();
    for (section, binding) in bindings(config).map_err(problem)? {
        let transports = binding.transports();
        let found = transports
            .iter()
            .filter_map(|transport| taken(config, section, transport));
        all.extend(found);
    }
    for GaveWay { key, taken } in &all {
        config.set(&format!("{key}={}", SocketAddr::new(taken.ip(), 0)))?;
    }
    Ok(all)
}

/// The default address of a transport, where nobody set another and it is in use.
fn taken(config: &Config, section: &str, transport: &Transport) -> Option<GaveWay> {
    let (key, listen) = transport.listens()?;
    let taken = settings::address(listen).ok()?;
    let free = config.text(section, key).is_some() || !is_in_use(transport, taken);
    let key = format!("{section}.{key}");
    (!free).then_some(GaveWay { key, taken })
}

fn is_in_use(transport: &Transport, address: SocketAddr) -> bool {
    let tried = match transport {
        Transport::Datagram { .. } => UdpSocket::bind(address).map(drop),
        _ => TcpListener::bind(address).map(drop),
    };
    tried.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn problem(fault: RunFault) -> Problem {
    match fault {
        RunFault::Config(problem) => problem,
        other => Problem {
            place: "configuration".into(),
            problem: other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn stream(listen: SocketAddr) -> Transport {
        Transport::Stream {
            name: "echo",
            key: "listen",
            listen: listen.to_string(),
            tls: false,
            alpn: &[],
        }
    }

    fn datagram(listen: SocketAddr) -> Transport {
        Transport::Datagram {
            name: "echo",
            key: "listen",
            listen: listen.to_string(),
        }
    }

    #[test]
    fn a_default_address_in_use_gives_way_and_a_chosen_one_does_not() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let mut config = Config::default();
        let key = "echo.listen".to_owned();
        let gave = Some(GaveWay {
            key,
            taken: address,
        });
        assert_eq!(taken(&config, "echo", &stream(address)), gave);
        config.set(&format!("echo.listen={address}")).unwrap();
        assert_eq!(taken(&config, "echo", &stream(address)), None);
    }

    #[test]
    fn a_free_address_stays_and_a_port_of_datagrams_is_another() {
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = other.local_addr().unwrap();
        let config = Config::default();
        assert!(taken(&config, "echo", &datagram(address)).is_some());
        drop(other);
        assert_eq!(taken(&config, "echo", &datagram(address)), None);
    }
}
