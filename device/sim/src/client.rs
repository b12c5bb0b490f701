//! A client: how it gets to know, by HTTP or by CoAP, and which packets are its own.

use crate::addresses::PORTS;
use crate::observer::Observer;
use crate::setting::Setting;
use crate::time::Nanos;
use crate::web::{Request, Web};

/// Where a packet of IPv4 without options says which address of ours it goes to, and which port of TCP or UDP.
const BLOCK_AT: usize = 18;
const PORT_AT: usize = 22;

/// One client.
pub(crate) enum Client {
    /// Of HTTP.
    Web(Box<Web>),
    /// Of CoAP.
    Observer(Box<Observer>),
}

impl Client {
    /// A client of this number, by the setting's scheme.
    pub(crate) fn new(setting: Setting, number: usize, seed: u64) -> Self {
        match Request::of(setting.scheme) {
            Some(request) => Self::Web(Box::new(Web::new(setting, request, number, seed))),
            None => Self::Observer(Box::new(Observer::new(&setting, number, seed))),
        }
    }

    /// Who a packet is for.
    pub(crate) fn of_packet(packet: &[u8]) -> Option<usize> {
        let port = packet.get(PORT_AT..)?.first_chunk()?;
        let number = u16::from_be_bytes(*port) % PORTS;
        let block = usize::from(*packet.get(BLOCK_AT)?);
        Some(block * usize::from(PORTS) + usize::from(number))
    }

    /// Takes a packet, if there is one, and the time; what it hears.
    pub(crate) fn poll(
        &mut self,
        now: Nanos,
        packet: Option<Vec<u8>>,
        has_room: bool,
    ) -> Vec<String> {
        match self {
            Self::Web(web) => web.poll(now, packet, has_room),
            Self::Observer(observer) => observer.poll(now, packet.as_deref(), has_room),
        }
    }

    /// Packets that leave.
    pub(crate) fn leaving(&mut self) -> std::vec::Drain<'_, Vec<u8>> {
        match self {
            Self::Web(web) => web.leaving(),
            Self::Observer(observer) => observer.leaving(),
        }
    }

    /// Leaves, without a word more than that it does.
    pub(crate) fn leave(&mut self, now: Nanos) {
        match self {
            Self::Web(web) => web.leave(now),
            Self::Observer(observer) => observer.leave(now),
        }
    }

    /// How often its connection or observation broke.
    pub(crate) fn broken(&self) -> u64 {
        match self {
            Self::Web(web) => web.broken(),
            Self::Observer(observer) => observer.broken(),
        }
    }

    /// When it wants to be polled; now or before, where it is held back.
    pub(crate) fn deadline(&mut self, now: Nanos) -> Nanos {
        match self {
            Self::Web(web) => web.deadline(now),
            Self::Observer(observer) => observer.deadline(now),
        }
    }
}
