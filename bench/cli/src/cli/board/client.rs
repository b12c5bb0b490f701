//! `weir board --client`: a board that sends packets to a server and measures their round trips, as paper 003's.

use super::{Board, Direction, line, start};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::net::SocketAddrV4;
use std::time::Duration;
use weir_board::limits::CLIENT_MTU;
use weir_board::{BEHIND_MODEM, Bridge, CLIENT, Host, Order, Orderer, Outcome, Protocol};
use weir_program::{Failure, StopSignals, print};

/// Packets before those that count.
const WARM_UP: u32 = 5;
/// After which a datagram is lost, and after which a stream is dead.
const DATAGRAM_WAIT: Duration = Duration::from_secs(5);
const STREAM_WAIT: Duration = Duration::from_secs(20);

#[derive(Args)]
pub(super) struct Client {
    /// The board is a client that sends packets by this protocol, and measures their round trips; several one after
    /// the other
    #[arg(long, value_enum, value_name = "PROTOCOL", requires = "server")]
    pub(super) client: Vec<By>,
    /// The server that it speaks to; of several protocols one each, in their order
    #[arg(long, value_name = "ADDRESS", requires = "client")]
    server: Vec<SocketAddrV4>,
    /// The board has no TCP: it tells a modem at the end of its line what to do, by AT commands
    #[arg(long, requires = "client")]
    modem: bool,
    /// Whether that is a gateway, or a server that echoes by itself (libcoap's with -e)
    #[arg(long, value_enum, default_value = "gateway", requires = "client")]
    peer: Peer,
    /// Path or topic; `live/echo` of a gateway and `echo` of others unless said
    #[arg(long, requires = "client")]
    target: Option<String>,
    /// Bytes of a packet's payload
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..=1_024))]
    payload: u16,
    /// Packets that count
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    packets: u32,
    /// Milliseconds between an echo and the next packet
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(0..=60_000))]
    rest: u64,
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum By {
    CoapCon,
    CoapNon,
    Websocket,
    #[value(name = "mqtt-qos-0")]
    MqttQos0,
    #[value(name = "mqtt-qos-1")]
    MqttQos1,
    #[value(name = "mqtt-qos-2")]
    MqttQos2,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    Gateway,
    Echo,
}

impl By {
    fn protocol(self) -> Protocol {
        match self {
            Self::CoapCon => Protocol::CoapCon,
            Self::CoapNon => Protocol::CoapNon,
            Self::Websocket => Protocol::WebSocket,
            Self::MqttQos0 => Protocol::Mqtt(0),
            Self::MqttQos1 => Protocol::Mqtt(1),
            Self::MqttQos2 => Protocol::Mqtt(2),
        }
    }
}

impl Client {
    fn order(&self, protocol: Protocol, port: u16) -> Order {
        let is_gateway = self.peer == Peer::Gateway;
        let is_datagram = matches!(protocol, Protocol::CoapCon | Protocol::CoapNon);
        Order {
            protocol,
            port,
            target: target(self.target.as_deref(), protocol, is_gateway),
            is_gateway,
            payload: self.payload.into(),
            packets: self.packets,
            warm_up: WARM_UP,
            rest: Duration::from_millis(self.rest),
            wait: if is_datagram {
                DATAGRAM_WAIT
            } else {
                STREAM_WAIT
            },
        }
    }

    /// Protocols with their servers.
    fn pairs(&self) -> Result<Vec<(Protocol, SocketAddrV4)>, Failure> {
        let protocols = self.client.iter().map(|by| by.protocol());
        let is_each = self.client.len() == self.server.len();
        let is_same_host = self.server.iter().all(|it| it.ip() == self.server[0].ip());
        match (self.server.as_slice(), is_each && is_same_host) {
            (&[server], _) => Ok(protocols.map(|protocol| (protocol, server)).collect()),
            (servers, true) => Ok(protocols.zip(servers.iter().copied()).collect()),
            _ => Err(Failure::usage(
                "one server, or one on the same host for each protocol",
            )),
        }
    }
}

fn target(said: Option<&str>, protocol: Protocol, is_gateway: bool) -> String {
    let target = match (said, protocol, is_gateway) {
        (Some(said), ..) => return said.into(),
        (None, Protocol::CoapCon | Protocol::CoapNon, true) => "live/echo",
        (None, Protocol::WebSocket, true) => "/live/echo?bare",
        (None, Protocol::WebSocket, false) => "/echo",
        (None, ..) => "echo",
    };
    target.into()
}

/// Runs the client's image, and tells what it found: a line of JSON a protocol.
pub(super) async fn run(board: &Board) -> Result<(), Failure> {
    let pairs = board.client.pairs()?;
    let Some((_, first)) = pairs.first() else {
        return Ok(());
    };
    let servers = *first.ip();
    if board.client.modem {
        if matches!(board.duplex, Direction::Half) {
            // Whose turn it is is told by the ends of packets.
            return Err(Failure::usage("a modem's line has both ends talk at once"));
        }
        let (_emulator, serial) = start(board, &BEHIND_MODEM)?;
        let bridge = Bridge::behind_modem(serial, line(board), servers);
        return carry_out(board, pairs, bridge.map_err(Failure::no)?).await;
    }
    let (_emulator, serial) = start(board, &CLIENT)?;
    let host = Host::new(weir_random::number(), CLIENT_MTU);
    let bridge = Bridge::new(serial, line(board), host, servers);
    carry_out(board, pairs, bridge.map_err(Failure::no)?).await
}

async fn carry_out<M: Orderer>(
    board: &Board,
    pairs: Vec<(Protocol, SocketAddrV4)>,
    mut bridge: Bridge<M>,
) -> Result<(), Failure> {
    let mut stop = StopSignals::listen().map_err(Failure::no)?;
    for (id, (protocol, server)) in (1..).zip(pairs) {
        let order = board.client.order(protocol, server.port());
        let outcome = tokio::select! {
            outcome = bridge.echo(&order, id) => outcome,
            () = stop.come() => return Ok(()),
        };
        let outcome = outcome.map_err(|it| Failure::no(format!("{protocol} to {server}: {it}")))?;
        tell(board, &order, &outcome)?;
    }
    Ok(())
}

fn tell(board: &Board, order: &Order, outcome: &Outcome) -> Result<(), Failure> {
    let names = ["mean", "min", "p50", "p90", "p99", "p999", "max"];
    let round_trips = names.map(|name| (name.to_owned(), outcome.number(name).into()));
    let round_trips: serde_json::Map<_, _> = round_trips.into_iter().collect();
    let mut found = json!({
        "protocol": order.protocol.to_string(),
        "line": board.line,
        "payload": order.payload,
        "packets": order.packets,
        "echoed": outcome.number("echoed"),
        "lost": outcome.number("lost"),
        "opening_us": outcome.number("opening"),
        "rtt_us": round_trips,
    });
    let passed = match board.client.modem {
        // IP is on the other side of the modem.
        true => json!({"modem_bytes": outcome.counts.bytes.iter().sum::<u64>()}),
        false => json!({
            "line_packets": outcome.counts.packets.iter().sum::<u64>(),
            "transport_bytes": outcome.transport_bytes(),
            "eta": outcome.efficiency(order),
        }),
    };
    if let (Some(found), Value::Object(passed)) = (found.as_object_mut(), passed) {
        found.extend(passed);
    }
    print(format!("{found}\n"))
}
