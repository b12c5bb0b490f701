//! Where a participant is: its domain, and the interface that it is known by there.

use crate::limits::DOMAIN_MAX;
use nix::ifaddrs::getifaddrs;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

/// A domain on an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) domain: u16,
    /// Name of an interface or an IPv4 address of one; `*` for all.
    pub(super) interface: String,
}

/// The interface where none is set: nobody but this machine.
pub(super) const LOOPBACK: &str = "127.0.0.1";

impl Place {
    /// A domain by its number as text.
    pub(super) fn parse(domain: &str, interface: &str) -> Result<Self, String> {
        let number = domain.parse().ok().filter(|number| *number <= DOMAIN_MAX);
        let sentence =
            || format!("expected the number of a domain, 0 to {DOMAIN_MAX}, found `{domain}`");
        Ok(Self {
            domain: number.ok_or_else(sentence)?,
            interface: interface.into(),
        })
    }

    /// The first and the last UDP port of the domain (DDSI-RTPS 2.5 section 9.6.2.3).
    pub(super) fn ports(&self) -> (u16, u16) {
        let first = 7400 + 250 * self.domain;
        (first, first.saturating_add(249))
    }

    /// The IPv4 addresses of the interface; `None` for those of all.
    pub(super) fn addresses(&self) -> io::Result<Option<Vec<IpAddr>>> {
        if self.interface == "*" {
            return Ok(None);
        }
        if let Ok(address) = self.interface.parse::<Ipv4Addr>() {
            return Ok(Some(vec![address.into()]));
        }
        let of_name = getifaddrs()?.filter(|it| it.interface_name == self.interface);
        let addresses = of_name.filter_map(|it| it.address?.as_sockaddr_in().map(|v4| v4.ip()));
        let found: Vec<IpAddr> = addresses.map(IpAddr::from).collect();
        if found.is_empty() {
            let name = &self.interface;
            let sentence = format!("`{name}` is no interface with an IPv4 address");
            Err(io::Error::new(io::ErrorKind::AddrNotAvailable, sentence))
        } else {
            Ok(Some(found))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_domain_has_its_ports_up_to_the_last() {
        let ports = |domain| Place::parse(domain, "*").unwrap().ports();
        assert_eq!(ports("0"), (7400, 7649));
        assert_eq!(ports("232"), (65400, 65535));
    }

    #[test]
    fn an_interface_is_named_or_addressed() {
        let at = |interface| Place::parse("0", interface).unwrap().addresses();
        let loopback = IpAddr::from(Ipv4Addr::LOCALHOST);
        assert_eq!(at("127.0.0.1").unwrap(), Some(vec![loopback]));
        assert!(at("lo").unwrap().unwrap().contains(&loopback));
        assert_eq!(at("*").unwrap(), None);
        assert!(at("nowhere0").is_err());
        assert!(Place::parse("233", "*").is_err());
    }
}
