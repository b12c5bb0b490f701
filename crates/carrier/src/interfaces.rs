//! The machine's interfaces, as those are named who join a multicast group on them.

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

/// Addresses of interfaces to join an IPv4 group on: of the one that has `on`, or of all.
pub(crate) fn v4(on: IpAddr) -> io::Result<BTreeSet<Ipv4Addr>> {
    if let IpAddr::V4(on) = on
        && !on.is_unspecified()
    {
        return Ok([on].into());
    }
    let mut found = BTreeSet::new();
    for interface in able()? {
        let address = interface.address.as_ref();
        let address = address.and_then(|address| address.as_sockaddr_in());
        found.extend(address.map(|address| address.ip()));
    }
    Ok(or_any(found, Ipv4Addr::UNSPECIFIED))
}

/// Indices of interfaces to join an IPv6 group on: of the one that has `on`, or of all.
pub(crate) fn v6(on: IpAddr) -> io::Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    let all = getifaddrs()?.filter(|interface| is_able(interface) || !on.is_unspecified());
    for interface in all {
        let address = interface.address.as_ref();
        let Some(address) = address.and_then(|address| address.as_sockaddr_in6()) else {
            continue;
        };
        if on.is_unspecified() || on == IpAddr::V6(address.ip()) {
            found.insert(if_nametoindex(interface.interface_name.as_str())?);
        }
    }
    Ok(or_any(found, 0))
}

/// The addresses by which interfaces that can multicast are told apart: each IPv4 address, and each IPv6
/// address of a link with the interface that it is of. Ports are zero.
pub fn multicast_addresses() -> io::Result<BTreeSet<SocketAddr>> {
    let mut found = BTreeSet::new();
    for interface in able()? {
        let Some(address) = &interface.address else {
            continue;
        };
        let v4 = address.as_sockaddr_in();
        found.extend(v4.map(|v4| SocketAddr::from((v4.ip(), 0))));
        let v6 = address.as_sockaddr_in6().map(|v6| v6.ip());
        if let Some(v6) = v6.filter(Ipv6Addr::is_unicast_link_local) {
            let index = if_nametoindex(interface.interface_name.as_str())?;
            found.insert(SocketAddrV6::new(v6, 0, 0, index).into());
        }
    }
    Ok(found)
}

fn able() -> io::Result<impl Iterator<Item = InterfaceAddress>> {
    Ok(getifaddrs()?.filter(is_able))
}

fn is_able(interface: &InterfaceAddress) -> bool {
    let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_MULTICAST;
    interface.flags.contains(wanted)
}

/// Where there is none, the kernel picks.
fn or_any<T: Ord>(mut found: BTreeSet<T>, any: T) -> BTreeSet<T> {
    if found.is_empty() {
        found.insert(any);
    }
    found
}
