//! The machine's interfaces, as those are named who join a multicast group on them.

use nix::ifaddrs::{InterfaceAddress, getifaddrs};
use nix::net::if_::{InterfaceFlags, if_nametoindex};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

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
