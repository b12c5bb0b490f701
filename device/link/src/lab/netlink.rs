//! Interfaces, addresses and routes by rtnetlink (rtnetlink(7)), so that no other program is needed.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::io;
use std::net::IpAddr;
use std::os::fd::OwnedFd;

const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const ERROR: u16 = 2;
/// Request, acknowledge.
const ASK: u16 = 0x1 | 0x4;
/// Create, replace.
const MAKE: u16 = ASK | 0x400 | 0x100;
const IFF_UP: u32 = 1;
const IFLA_MTU: u16 = 4;
const IFLA_TXQLEN: u16 = 13;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_FLAGS: u16 = 8;
/// No duplicate address detection: nobody else is there.
const IFA_F_NODAD: u32 = 2;
const RTA_OIF: u16 = 4;
const ROUTE_MAIN: u8 = 254;
const PROTOCOL_STATIC: u8 = 4;
const SCOPE_LINK: u8 = 253;
const TYPE_UNICAST: u8 = 1;

/// A socket to the kernel, in the namespace of the thread that opened it.
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    pub(super) fn open() -> io::Result<Self> {
        let socket = rustix::net::socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self(socket))
    }

    /// The number of an interface.
    pub(super) fn index(&self, name: &str) -> io::Result<u32> {
        Ok(rustix::net::netdevice::name_to_index(&self.0, name)?)
    }

    /// Brings an interface up, with another size of packets and queue where they are given.
    pub(super) fn up(&self, index: u32, mtu_and_queue: Option<(u32, u32)>) -> io::Result<()> {
        let mut body = vec![0, 0, 0, 0];
        body.extend(index.to_ne_bytes());
        body.extend(IFF_UP.to_ne_bytes());
        body.extend(IFF_UP.to_ne_bytes());
        if let Some((mtu, queue)) = mtu_and_queue {
            attribute(&mut body, IFLA_MTU, &mtu.to_ne_bytes());
            attribute(&mut body, IFLA_TXQLEN, &queue.to_ne_bytes());
        }
        self.ask(NEW_LINK, ASK, &body)
    }

    /// Gives an interface an address and the addresses of `prefix` bits around it.
    pub(super) fn address(&self, index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut body = vec![family(address), prefix, 0, 0];
        body.extend(index.to_ne_bytes());
        let bytes = octets(address);
        attribute(&mut body, IFA_LOCAL, &bytes);
        attribute(&mut body, IFA_ADDRESS, &bytes);
        attribute(&mut body, IFA_FLAGS, &IFA_F_NODAD.to_ne_bytes());
        self.ask(NEW_ADDRESS, MAKE, &body)
    }

    /// Sends all else of an address's family there too, multicast included.
    pub(super) fn default_route(&self, index: u32, like: IpAddr) -> io::Result<()> {
        let mut body = vec![family(like), 0, 0, 0, ROUTE_MAIN, PROTOCOL_STATIC];
        body.extend([SCOPE_LINK, TYPE_UNICAST, 0, 0, 0, 0]);
        attribute(&mut body, RTA_OIF, &index.to_ne_bytes());
        self.ask(NEW_ROUTE, MAKE, &body)
    }

    fn ask(&self, kind: u16, flags: u16, body: &[u8]) -> io::Result<()> {
        let mut message = Vec::with_capacity(16 + body.len());
        message.extend((16 + body.len() as u32).to_ne_bytes());
        message.extend(kind.to_ne_bytes());
        message.extend(flags.to_ne_bytes());
        message.extend([0; 8]);
        message.extend(body);
        rustix::net::send(&self.0, &message, SendFlags::empty())?;
        let mut answer = [0; 4096];
        let (length, _) = rustix::net::recv(&self.0, &mut answer, RecvFlags::empty())?;
        acknowledged(&answer[..length])
    }
}

/// An acknowledgement is an error of number 0 (netlink(7)).
fn acknowledged(answer: &[u8]) -> io::Result<()> {
    let kind = answer.get(4..6).map(|b| u16::from_ne_bytes([b[0], b[1]]));
    let number = answer.get(16..20).and_then(|b| b.try_into().ok());
    match (kind, number.map(i32::from_ne_bytes)) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(number)) => Err(io::Error::from_raw_os_error(-number)),
        _ => Err(io::Error::other("netlink did not acknowledge")),
    }
}

fn family(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 2,
        IpAddr::V6(_) => 10,
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend((4 + value.len() as u16).to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_an_acknowledgement_or_an_error_with_its_number() {
        let answer = |kind: u16, number: i32| {
            let mut answer = vec![36, 0, 0, 0];
            answer.extend(kind.to_ne_bytes());
            answer.resize(16, 0);
            answer.extend(number.to_ne_bytes());
            answer
        };
        assert!(acknowledged(&answer(ERROR, 0)).is_ok());
        let refused = acknowledged(&answer(ERROR, -1)).map_err(|error| error.raw_os_error());
        assert_eq!(refused, Err(Some(1)));
        assert!(acknowledged(&answer(3, 0)).is_err() && acknowledged(&[]).is_err());
    }

    #[test]
    fn attributes_are_padded_but_say_their_own_length() {
        let mut body = Vec::new();
        attribute(&mut body, 7, &[1, 2, 3]);
        let (length, kind) = (7u16.to_ne_bytes(), 7u16.to_ne_bytes());
        assert_eq!(body, [&length[..], &kind, &[1, 2, 3, 0]].concat());
    }
}
