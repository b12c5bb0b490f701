//! What crossed the link, flow by flow.

use crate::limits::FLOWS_MAX;
use crate::packet::Segment;
use crate::pipe::{Cause, Fate};
use crate::way::Way;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The ends of a conversation; the near one is where clients are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Flow {
    /// Protocol above IP: 6 TCP, 17 UDP, 1 and 58 ICMP.
    pub protocol: u8,
    /// Near end.
    pub near: SocketAddr,
    /// Far end.
    pub far: SocketAddr,
}

/// Where a flow stands; only TCP has more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// From the first SYN to the first byte of payload.
    Connect,
    /// Until an end closes.
    Open,
    /// From the first FIN or RST.
    Close,
}

/// What was sent one way. Retransmissions and what was dropped are among the packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Whole packets' bytes.
    pub ip_bytes: u64,
    /// Without IP's headers.
    pub transport_bytes: u64,
    /// Without TCP's and UDP's headers.
    pub payload_bytes: u64,
    /// Packets of TCP with a byte that had been sent before.
    pub retransmitted: u64,
    /// Packets that found the queue full.
    pub dropped_queue: u64,
    /// Packets that the link lost.
    pub dropped_loss: u64,
}

/// A line of the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Whose.
    pub flow: Flow,
    /// When.
    pub phase: Phase,
    /// Which mark was set (see [`Ledger::mark`]); 0 before the first.
    pub mark: u32,
    /// Which way.
    pub way: Way,
    /// How much.
    pub count: Count,
}

/// All lines.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    states: BTreeMap<Flow, State>,
    counts: BTreeMap<(u32, Flow, Phase, Way), Count>,
    mark: u32,
}

/// What must be known of a TCP flow to tell its phase and its repetitions.
#[derive(Clone, Copy, Debug)]
struct State {
    phase: Phase,
    /// First sequence number not yet sent, a way.
    next: [Option<u32>; 2],
}

impl Count {
    /// Both together.
    pub fn plus(&self, other: &Count) -> Count {
        Count {
            packets: self.packets + other.packets,
            ip_bytes: self.ip_bytes + other.ip_bytes,
            transport_bytes: self.transport_bytes + other.transport_bytes,
            payload_bytes: self.payload_bytes + other.payload_bytes,
            retransmitted: self.retransmitted + other.retransmitted,
            dropped_queue: self.dropped_queue + other.dropped_queue,
            dropped_loss: self.dropped_loss + other.dropped_loss,
        }
    }

    fn add(&mut self, segment: &Segment, is_repeated: bool, fate: Fate) {
        self.packets += 1;
        self.ip_bytes += u64::from(segment.ip_bytes);
        self.transport_bytes += u64::from(segment.transport_bytes);
        self.payload_bytes += u64::from(segment.payload_bytes);
        self.retransmitted += u64::from(is_repeated);
        self.dropped_queue += u64::from(fate == Fate::Dropped(Cause::Queue));
        self.dropped_loss += u64::from(fate == Fate::Dropped(Cause::Loss));
    }
}

impl Ledger {
    /// Begins a new stretch, which is counted by itself; its number.
    pub fn mark(&mut self) -> u32 {
        self.mark += 1;
        self.mark
    }

    /// Forgets what was counted, and not where each flow stands.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Counts a packet and what became of it.
    pub fn count(&mut self, way: Way, packet: &[u8], fate: Fate) {
        let Some(segment) = Segment::read(packet) else {
            return;
        };
        let flow = self.flow(way, &segment);
        let state = self.states.entry(flow).or_insert(State {
            phase: Phase::Open,
            next: [None; 2],
        });
        let is_repeated = state.take(way, &segment);
        let key = (self.mark, flow, state.phase, way);
        let count = self.counts.entry(key).or_default();
        count.add(&segment, is_repeated, fate);
    }

    /// Every line, by mark, flow, phase and way.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        let counts = self.counts.iter();
        counts.map(|(&(mark, flow, phase, way), &count)| Line {
            flow,
            phase,
            mark,
            way,
            count,
        })
    }

    /// The sum of the lines that are wanted.
    pub fn total(&self, wanted: impl Fn(&Line) -> bool) -> Count {
        let lines = self.lines().filter(wanted);
        lines.fold(Count::default(), |sum, line| sum.plus(&line.count))
    }

    fn flow(&self, way: Way, segment: &Segment) -> Flow {
        let (near, far) = match way {
            Way::Up => (segment.source, segment.destination),
            Way::Down => (segment.destination, segment.source),
        };
        let protocol = segment.protocol;
        let flow = Flow {
            protocol,
            near,
            far,
        };
        match self.states.len() < FLOWS_MAX || self.states.contains_key(&flow) {
            true => flow,
            false => Flow {
                protocol,
                near: ANYBODY,
                far: ANYBODY,
            },
        }
    }
}

/// Stands for flows beyond the limit.
const ANYBODY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);

impl State {
    /// Moves on; whether a byte of the segment had been sent before.
    fn take(&mut self, way: Way, segment: &Segment) -> bool {
        let Some(tcp) = segment.tcp else {
            return false;
        };
        let next = &mut self.next[way as usize];
        if tcp.syn {
            // Ports are used again: a SYN begins anew, but its own repetition does not.
            let is_repeated = *next == Some(tcp.sequence.wrapping_add(1));
            self.phase = Phase::Connect;
            *next = Some(tcp.sequence.wrapping_add(1));
            return is_repeated;
        }
        if tcp.fin || tcp.rst {
            self.phase = Phase::Close;
        } else if segment.payload_bytes > 0 && self.phase == Phase::Connect {
            self.phase = Phase::Open;
        }
        let length = segment.payload_bytes + u32::from(tcp.fin);
        let end = tcp.sequence.wrapping_add(length);
        let is_repeated = length > 0 && next.is_some_and(|next| is_before(tcp.sequence, next));
        if next.is_none_or(|next| is_before(next, end)) {
            *next = Some(end);
        }
        is_repeated
    }
}

/// Order of sequence numbers, which wrap (RFC 9293 section 3.4).
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tests::tcp;

    const SYN: u8 = 2;
    const ACK: u8 = 16;
    const FIN: u8 = 1;
    const ARRIVES: Fate = Fate::Arrives(0);

    fn conversation() -> Ledger {
        let mut ledger = Ledger::default();
        let wrapping = u32::MAX - 2;
        ledger.count(Way::Up, &tcp(true, wrapping, SYN, 0), ARRIVES);
        ledger.count(Way::Down, &tcp(false, 9, SYN | ACK, 0), ARRIVES);
        ledger.count(Way::Up, &tcp(true, wrapping + 1, ACK, 0), ARRIVES);
        ledger.count(
            Way::Up,
            &tcp(true, wrapping + 1, ACK, 10),
            Fate::Dropped(Cause::Loss),
        );
        ledger.count(Way::Up, &tcp(true, wrapping + 1, ACK, 10), ARRIVES);
        ledger.count(Way::Up, &tcp(true, 8, ACK, 5), Fate::Dropped(Cause::Queue));
        ledger.count(Way::Up, &tcp(true, 13, FIN | ACK, 0), ARRIVES);
        ledger
    }

    #[test]
    fn phases_losses_and_retransmissions_are_told_apart() {
        let ledger = conversation();
        let of = |phase, way| ledger.total(|line| line.phase == phase && line.way == way);
        assert_eq!(of(Phase::Connect, Way::Up).packets, 2);
        assert_eq!(of(Phase::Connect, Way::Down).ip_bytes, 40);
        let open = of(Phase::Open, Way::Up);
        assert_eq!(
            (open.packets, open.payload_bytes, open.retransmitted),
            (3, 25, 1)
        );
        assert_eq!((open.dropped_loss, open.dropped_queue), (1, 1));
        assert_eq!(of(Phase::Close, Way::Up).packets, 1);
    }

    #[test]
    fn both_ways_are_one_flow_and_a_mark_begins_new_lines() {
        let mut ledger = conversation();
        let near: Vec<_> = ledger.lines().map(|line| line.flow.near.port()).collect();
        assert!(near.iter().all(|&port| port == 1000), "{near:?}");
        let mark = ledger.mark();
        ledger.count(Way::Up, &tcp(true, 0, ACK, 1), ARRIVES);
        assert_eq!(ledger.total(|line| line.mark == mark).packets, 1);
        assert_eq!(ledger.total(|line| line.mark == 0).packets, 7);
    }

    #[test]
    fn what_is_no_packet_of_ip_is_not_counted() {
        let mut ledger = Ledger::default();
        ledger.count(Way::Up, &[0xff; 60], ARRIVES);
        assert_eq!(ledger.lines().count(), 0);
    }
}
