//! What the client is told to do: a line of `name=value`, as the bridge sends it.

use super::SAMPLES_MAX;
use core::net::SocketAddrV4;

/// Bytes of an order.
pub(crate) const ORDER_BYTES_MAX: usize = 256;
/// Bytes of a payload: what CoAP carries in a datagram without blocks.
const PAYLOAD_BYTES_MAX: usize = 1_024;
/// Bytes of a path, a topic or a name.
const NAME_BYTES_MAX: usize = 48;

/// A short text, or as many bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    bytes: [u8; NAME_BYTES_MAX],
    length: usize,
}

/// The protocol, and what of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// CoAP; whether requests are confirmable.
    Coap(bool),
    /// WebSocket.
    WebSocket,
    /// MQTT 3.1.1 with this quality of service.
    Mqtt(u8),
}

/// So many packets to a server.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Its number: one that comes again is done once.
    pub(crate) id: u32,
    pub(crate) protocol: Protocol,
    pub(crate) server: SocketAddrV4,
    /// Bytes of payload.
    pub(crate) payload: usize,
    /// Packets that count, and those before them that do not.
    pub(crate) packets: u32,
    pub(crate) warm_up: u32,
    /// Milliseconds between an exchange and the next.
    pub(crate) rest_ms: u32,
    /// Milliseconds after which a packet counts as lost.
    pub(crate) wait_ms: u32,
    /// Path or topic.
    pub(crate) target: Name,
    /// Subprotocol of a WebSocket; may be empty.
    pub(crate) subprotocol: Name,
    /// Whether the server is a gateway: what is sent is published to a topic that is observed, and is settled when
    /// it is kept. Otherwise the answer is the echo.
    pub(crate) is_gateway: bool,
}

impl Name {
    const EMPTY: Self = Self {
        bytes: [0; NAME_BYTES_MAX],
        length: 0,
    };

    /// What is short enough.
    pub(crate) fn of(text: &[u8]) -> Option<Self> {
        let mut name = Self::EMPTY;
        name.bytes.get_mut(..text.len())?.copy_from_slice(text);
        name.length = text.len();
        Some(name)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

impl Protocol {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "coap-con" => Self::Coap(true),
            "coap-non" => Self::Coap(false),
            "websocket" => Self::WebSocket,
            "mqtt-qos-0" => Self::Mqtt(0),
            "mqtt-qos-1" => Self::Mqtt(1),
            "mqtt-qos-2" => Self::Mqtt(2),
            _ => return None,
        })
    }

    /// Whether it is spoken over TCP.
    pub(crate) fn is_stream(self) -> bool {
        !matches!(self, Self::Coap(_))
    }
}

impl Order {
    /// Reads an order; nothing where a part is missing or is too much for the board.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let text = core::str::from_utf8(text).ok()?;
        let part = |name: &str| {
            let parts = text.split(' ').filter_map(|part| part.split_once('='));
            let mut parts = parts.filter(|&(found, _)| found == name);
            parts.next().map(|(_, value)| value)
        };
        let number = |name: &str| part(name)?.parse::<u32>().ok();
        let order = Self {
            id: number("id")?,
            protocol: Protocol::named(part("protocol")?)?,
            server: part("server")?.parse().ok()?,
            payload: number("payload")? as usize,
            packets: number("packets")?,
            warm_up: number("warm-up")?,
            rest_ms: number("rest-ms")?,
            wait_ms: number("wait-ms")?,
            target: Name::of(part("target")?.as_bytes())?,
            subprotocol: Name::of(part("subprotocol").unwrap_or_default().as_bytes())?,
            is_gateway: part("peer")? == "gateway",
        };
        let fits = order.payload <= PAYLOAD_BYTES_MAX && order.packets as usize <= SAMPLES_MAX;
        (fits && order.payload > 0 && order.packets > 0).then_some(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "id=3 protocol=mqtt-qos-1 server=10.9.0.1:1883 payload=100 packets=1000 \
                         warm-up=5 rest-ms=60 wait-ms=20000 target=echo peer=echo";

    #[test]
    fn an_order_is_read_whole_or_not_at_all() {
        let order = Order::read(ORDER.as_bytes()).unwrap();
        assert_eq!(order.protocol, Protocol::Mqtt(1));
        assert_eq!(order.server, "10.9.0.1:1883".parse().unwrap());
        assert_eq!(order.target.bytes(), b"echo");
        assert!(!order.is_gateway && order.protocol.is_stream());
        for (part, other) in [
            ("payload=100", "payload=1025"),
            ("payload=100", "payload=0"),
            ("packets=1000", "packets=10001"),
            ("mqtt-qos-1", "mqtt-qos-3"),
            ("10.9.0.1:", "somewhere:"),
            ("id=3 ", ""),
        ] {
            assert!(Order::read(ORDER.replace(part, other).as_bytes()).is_none());
        }
        assert!(Order::read(&[0xff]).is_none());
    }
}
