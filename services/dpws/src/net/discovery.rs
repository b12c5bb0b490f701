//! The sockets of WS-Discovery: one at each interface's address, and those of the groups.
//!
//! They are opened here and not by the gateway, since which there are follows from the machine's interfaces
//! and changes with them. What it deliberately does not do: decide what is answered.

use crate::device::Device;
use crate::discovery::{Arrival, Discovery, To};
use crate::limits::{DATAGRAM_BYTES_MAX, LOOK_EVERY, PORT, WAITING_MAX};
use crate::settings::Where;
use std::collections::{BTreeSet, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use weir_binding::{Gateway, LocalFuture};
use weir_carrier::clock::{Timer, now};
use weir_carrier::{Datagrams, multicast_addresses};
use weir_sansio::{Instant, Output};

/// Who discovers devices listens here (WS-Discovery 1.1 section 2.4).
const GROUP_V4: IpAddr = IpAddr::V4(Ipv4Addr::new(239, 255, 255, 250));
/// The same of IPv6: a link's.
const GROUP_V6: IpAddr = IpAddr::V6(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0xc));
/// Datagrams taken in a row before other tasks of the thread have their turn.
const TURN: usize = 32;

/// Has the device found until the gateway drains, and says Bye.
pub(crate) async fn run(device: Arc<Device>, place: Where, gateway: Arc<dyn Gateway>) {
    let listening = |scheme| gateway.address(scheme).map(|at| Reached { scheme, at });
    let Some(reached) = listening("http").or_else(|| listening("https")) else {
        tracing::warn!("no HTTP listens: the device cannot be reached, and is not announced");
        return;
    };
    let mut machine = Discovery::new(device, Vec::new());
    let mut draining = gateway.draining();
    loop {
        let addresses = addresses(place).unwrap_or_default();
        let found = addresses.iter().map(|own| urls(*own, reached, &addresses));
        machine.move_to(found.collect());
        let opened = Sockets::open(&addresses);
        let mut sockets = match opened {
            Ok(sockets) => sockets,
            Err(error) => {
                tracing::warn!(%error, "WS-Discovery has no sockets; they are tried again");
                Sockets::default()
            }
        };
        machine.hello(now());
        let look = |sockets: &Sockets| {
            let now = self::addresses(place).unwrap_or_default();
            sockets.addresses.as_ref() != Some(&now)
        };
        if serve(&mut machine, &mut sockets, &mut draining, &look).await {
            return;
        }
    }
}

/// Serves until the gateway drains and Bye is said (`true`), or the interfaces are others.
async fn serve(
    machine: &mut Discovery,
    sockets: &mut Sockets,
    draining: &mut LocalFuture<'static, ()>,
    changed: &dyn Fn(&Sockets) -> bool,
) -> bool {
    let (mut timer, mut look_at, mut leaving) = (Timer::default(), now() + LOOK_EVERY, false);
    poll_fn(|cx| {
        if !leaving && draining.as_mut().poll(cx).is_ready() {
            leaving = true;
            machine.bye(now());
        }
        loop {
            sockets.receive(machine, cx);
            let at = sockets.transmit(machine, cx);
            if leaving && machine.is_idle() && sockets.unsent.is_empty() {
                return Poll::Ready(true);
            }
            let at = if leaving { at } else { at.min(look_at) };
            if !timer.poll_due(cx, at) {
                return Poll::Pending;
            }
            if !leaving && now() >= look_at {
                look_at = now() + LOOK_EVERY;
                if changed(sockets) {
                    return Poll::Ready(false);
                }
            }
        }
    })
    .await
}

/// The addresses of the interfaces on which the device is announced.
fn addresses(place: Where) -> io::Result<BTreeSet<SocketAddr>> {
    let mut found = multicast_addresses()?;
    if let Where::On(on) = place {
        found.retain(|own| own.ip() == on);
        if found.is_empty() && !matches!(on, IpAddr::V6(v6) if v6.is_unicast_link_local()) {
            found.insert((on, 0).into());
        }
    }
    Ok(found)
}

/// Where the gateway's HTTP listens.
#[derive(Clone, Copy)]
struct Reached {
    scheme: &'static str,
    at: SocketAddr,
}

/// Where the device is reached from an interface's peers. Where HTTP listens at one address, that is it, unless
/// it is the machine's own; where at all, the interface's own, or, where HTTP has no IPv6 there, the others'.
fn urls(own: SocketAddr, reached: Reached, all: &BTreeSet<SocketAddr>) -> Vec<String> {
    let Reached { scheme, at: http } = reached;
    let url = |ip: IpAddr| {
        let authority = SocketAddr::new(ip, http.port());
        format!("{scheme}://{authority}{}", crate::PATH)
    };
    if http.ip().is_loopback() && !own.ip().is_loopback() {
        return Vec::new();
    }
    if !http.ip().is_unspecified() {
        return vec![url(http.ip())];
    }
    if own.is_ipv4() || http.is_ipv6() {
        return vec![url(own.ip())];
    }
    let v4 = all.iter().filter(|other| other.is_ipv4());
    v4.map(|other| url(other.ip())).collect()
}

/// A socket, and which interface its peers are on.
struct Ear {
    socket: Datagrams,
    /// Where it is not known, who sent a datagram tells.
    interface: Option<usize>,
    of_group: bool,
}

#[derive(Default)]
struct Sockets {
    /// The interfaces that they are for; none where they could not be opened.
    addresses: Option<BTreeSet<SocketAddr>>,
    /// First those of the interfaces, in their order, then those of the groups.
    ears: Vec<Ear>,
    unsent: VecDeque<(usize, SocketAddr, bytes::Bytes)>,
}

impl Sockets {
    fn open(addresses: &BTreeSet<SocketAddr>) -> io::Result<Self> {
        let mut ears = Vec::new();
        for (number, &address) in addresses.iter().enumerate() {
            let mut own = address;
            own.set_port(PORT);
            ears.push(Ear {
                socket: Datagrams::beside_others(own)?,
                interface: Some(number),
                of_group: false,
            });
        }
        let v4: Vec<IpAddr> = addresses
            .iter()
            .map(SocketAddr::ip)
            .filter(IpAddr::is_ipv4)
            .collect();
        if let Some((first, others)) = v4.split_first() {
            let socket = Datagrams::of_group(GROUP_V4, PORT, *first)?;
            for other in others {
                // A second address of an interface that has joined already.
                let _joined_once = socket.join(GROUP_V4, *other);
            }
            ears.push(Ear {
                socket,
                interface: None,
                of_group: true,
            });
        }
        for (number, address) in addresses
            .iter()
            .enumerate()
            .filter(|(_, own)| own.is_ipv6())
        {
            ears.push(Ear {
                socket: Datagrams::of_group(GROUP_V6, PORT, address.ip())?,
                interface: Some(number),
                of_group: true,
            });
        }
        Ok(Self {
            addresses: Some(addresses.clone()),
            ears,
            unsent: VecDeque::new(),
        })
    }

    /// Takes what has arrived.
    fn receive(&mut self, machine: &mut Discovery, cx: &mut Context<'_>) {
        let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
        for ear in &self.ears {
            for turn in 0.. {
                if turn == TURN {
                    cx.waker().wake_by_ref();
                    break;
                }
                let Poll::Ready(Ok((length, from))) = ear.socket.poll_receive(cx, &mut buffer)
                else {
                    break;
                };
                let Some(interface) = ear.interface.or_else(|| self.facing(from)) else {
                    continue;
                };
                let arrival = Arrival {
                    interface,
                    from,
                    of_group: ear.of_group,
                    bytes: &buffer[..length],
                };
                machine.receive(now(), arrival);
            }
        }
    }

    /// The interface that faces a peer.
    fn facing(&self, peer: SocketAddr) -> Option<usize> {
        let seen_at = Datagrams::facing(peer).ok()?;
        let addresses = self.addresses.as_ref()?;
        addresses.iter().position(|own| own.ip() == seen_at)
    }

    /// Sends what is due; gives when something is next.
    fn transmit(&mut self, machine: &mut Discovery, cx: &mut Context<'_>) -> Instant {
        let at = loop {
            match machine.poll(now()) {
                Output::Timeout(at) => break at,
                Output::Event(never) => match never {},
                Output::Transmit(datagram) => {
                    let to = match datagram.to {
                        To::Peer(peer) => Some(peer),
                        To::Group => self.group(datagram.interface),
                    };
                    let whole = to.map(|to| (datagram.interface, to, datagram.bytes));
                    // Beyond what may wait, it is lost as any datagram may be: peers ask again.
                    self.unsent
                        .extend(whole.filter(|_| self.unsent.len() < WAITING_MAX));
                }
            }
        };
        while let Some((interface, to, bytes)) = self.unsent.front() {
            let ear = self.ears.get(*interface);
            match ear.map(|ear| ear.socket.poll_send(cx, bytes, *to)) {
                Some(Poll::Pending) => break,
                // What an interface cannot send is not sent: its peers ask again.
                Some(Poll::Ready(_)) | None => drop(self.unsent.pop_front()),
            }
        }
        at
    }

    /// The group as it is reached by an interface.
    fn group(&self, interface: usize) -> Option<SocketAddr> {
        let own = self.addresses.as_ref()?.iter().nth(interface)?;
        Some(match own {
            SocketAddr::V4(_) => (GROUP_V4, PORT).into(),
            SocketAddr::V6(v6) => {
                let mut group = SocketAddr::new(GROUP_V6, PORT);
                if let SocketAddr::V6(group) = &mut group {
                    group.set_scope_id(v6.scope_id());
                }
                group
            }
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn told(own: &str, scheme: &'static str, at: &str) -> Vec<String> {
        let own: SocketAddr = own.parse().unwrap();
        let at = at.parse().unwrap();
        urls(own, Reached { scheme, at }, &BTreeSet::from([own]))
    }

    #[test]
    fn the_device_is_where_peers_of_an_interface_reach_it() {
        let own = "192.0.2.1:0";
        assert_eq!(
            told(own, "http", "0.0.0.0:80"),
            ["http://192.0.2.1:80/dpws"]
        );
        assert_eq!(
            told(own, "https", "[::]:443"),
            ["https://192.0.2.1:443/dpws"]
        );
        assert_eq!(
            told(own, "http", "192.0.2.7:80"),
            ["http://192.0.2.7:80/dpws"]
        );
        assert!(told(own, "http", "127.0.0.1:8080").is_empty());
        assert_eq!(
            told("127.0.0.1:0", "http", "127.0.0.1:8080"),
            ["http://127.0.0.1:8080/dpws"]
        );
    }
}
