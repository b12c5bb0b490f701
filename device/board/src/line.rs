//! The serial line: how many bytes have passed by now, in one way, in both, or in one at a time.

use crate::limits::{LATE_NS, QUEUE_PACKETS};
use crate::time::Nanos;
use std::collections::VecDeque;
use weir_comet::slip::{END, Writer};

const SECOND: Nanos = 1_000_000_000;

/// Who may talk when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplex {
    /// Both at once.
    Full,
    /// One at a time, packet by packet.
    Half,
}

/// A way over the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To the board.
    In,
    /// From it.
    Out,
}

/// A line of so many bytes a second.
pub struct Line {
    rate: u64,
    duplex: Duplex,
    /// When it was looked at last.
    now: Nanos,
    queue: VecDeque<Waiting>,
    /// What is on its way to the board.
    sending: Option<Sending>,
    /// Until when each way is taken by what has passed.
    taken: [Nanos; 2],
    /// Whether a packet of the board has begun.
    is_within: bool,
    /// Where one talks at a time: whether the board may begin next, if it has something to say.
    is_boards_turn: bool,
    counts: Counts,
    /// Whether the board had more to say when it was last listened to.
    is_talking: bool,
    forgotten: Nanos,
}

/// A packet that waits for its way to the board, as it goes on the line, and its bytes of IP where it counts.
struct Waiting {
    bytes: Vec<u8>,
    counted: Option<u64>,
}

/// A packet on its way to the board.
struct Sending {
    bytes: Vec<u8>,
    /// How many of them have arrived.
    arrived: usize,
    began: Nanos,
    end: Nanos,
}

/// IP packets and their bytes, [in and out](Way).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets.
    pub packets: [u64; 2],
    /// Bytes of IP.
    pub bytes: [u64; 2],
}

impl Counts {
    /// What has passed since then.
    pub fn since(&self, before: &Self) -> Self {
        let less = |now: [u64; 2], before: [u64; 2]| [now[0] - before[0], now[1] - before[1]];
        Self {
            packets: less(self.packets, before.packets),
            bytes: less(self.bytes, before.bytes),
        }
    }
}

impl Line {
    /// An idle line; `rate` is above 0.
    pub fn new(rate: u64, duplex: Duplex) -> Self {
        Self {
            rate: rate.max(1),
            duplex,
            now: 0,
            queue: VecDeque::new(),
            sending: None,
            taken: [0; 2],
            is_within: false,
            is_boards_turn: false,
            counts: Counts::default(),
            is_talking: false,
            forgotten: 0,
        }
    }

    /// The time that so many bytes take.
    pub fn span(&self, bytes: usize) -> Nanos {
        bytes as u64 * SECOND / self.rate
    }

    /// Whether another packet may wait.
    pub fn has_room(&self) -> bool {
        self.queue.len() < QUEUE_PACKETS
    }

    /// What has passed.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How much time it was late beyond what it made up for, over both ways: none where the machine kept up.
    pub fn forgotten(&self) -> Nanos {
        self.forgotten
    }

    /// Takes the time: what comes to be sent and finds the line idle begins to take its own from here.
    pub(crate) fn look(&mut self, now: Nanos) {
        self.now = now;
    }

    /// From when on a way counts as free that has been since then: it makes up for a little.
    fn made_up(&mut self, free: Nanos, now: Nanos, is_busy: bool) -> Nanos {
        let since = free.max(now.saturating_sub(LATE_NS));
        if is_busy {
            self.forgotten += since - free;
        }
        since
    }

    /// A packet passes.
    pub fn count(&mut self, way: Way, packet: &[u8]) {
        self.count_bytes(way, packet.len() as u64);
    }

    /// So many bytes pass that are said at once.
    pub(crate) fn count_bytes(&mut self, way: Way, bytes: u64) {
        self.counts.packets[way as usize] += 1;
        self.counts.bytes[way as usize] += bytes;
    }

    /// A packet waits for its way to the board; it counts when it begins to go.
    pub fn enqueue(&mut self, packet: &[u8]) {
        self.wait(framed(packet), Some(packet.len() as u64));
    }

    /// The same of a packet that does not count.
    pub(crate) fn enqueue_uncounted(&mut self, packet: &[u8]) {
        self.wait(framed(packet), None);
    }

    /// The same of bytes that are no packet.
    pub(crate) fn enqueue_bytes(&mut self, bytes: &[u8]) {
        self.wait(bytes.to_vec(), None);
    }

    fn wait(&mut self, bytes: Vec<u8>, counted: Option<u64>) {
        if self.sending.is_none() && self.queue.is_empty() {
            let taken = &mut self.taken[Way::In as usize];
            *taken = self.now.max(*taken);
        }
        self.queue.push_back(Waiting { bytes, counted });
    }

    /// The bytes that have arrived at the board since it was asked last.
    pub fn arrived(&mut self, now: Nanos) -> Option<Vec<u8>> {
        self.look(now);
        self.begin(now);
        let sending = self.sending.as_mut()?;
        let (from, is_through) = (sending.arrived, sending.end <= now);
        sending.arrived = match is_through {
            true => sending.bytes.len(),
            false => sending.by(now, self.rate).max(from),
        };
        let bytes = sending.bytes.get(from..sending.arrived)?.to_vec();
        if is_through {
            self.is_boards_turn = true;
            self.sending = None;
        }
        (!bytes.is_empty()).then_some(bytes)
    }

    /// The next packet leaves, if it may.
    fn begin(&mut self, now: Nanos) {
        if self.sending.is_some() || !self.may_begin() {
            return;
        }
        let Some(Waiting { bytes, counted }) = self.queue.pop_front() else {
            return;
        };
        if let Some(of_ip) = counted {
            self.count_bytes(Way::In, of_ip);
        }
        let free = match self.duplex {
            Duplex::Full => self.taken[Way::In as usize],
            Duplex::Half => self.taken[0].max(self.taken[1]),
        };
        let end = self.made_up(free, now, true) + self.span(bytes.len());
        self.taken[Way::In as usize] = end;
        self.sending = Some(Sending {
            began: end - self.span(bytes.len()),
            arrived: 0,
            bytes,
            end,
        });
    }

    fn may_begin(&self) -> bool {
        self.duplex == Duplex::Full || !self.is_within && !self.is_boards_turn
    }

    /// How many bytes of the board may have come by now.
    pub fn allowance(&mut self, now: Nanos) -> usize {
        let bytes = self.earned(now);
        let is_contended = self.duplex == Duplex::Half && !self.queue.is_empty();
        match self.duplex == Duplex::Half && self.sending.is_some() {
            true => 0,
            false if is_contended && self.may_begin() => 0,
            // So that the end of its packet is seen and not passed.
            false if is_contended => bytes.min(1),
            false => bytes,
        }
    }

    fn earned(&mut self, now: Nanos) -> usize {
        let taken = self.taken[Way::Out as usize];
        let taken = match self.duplex {
            Duplex::Full => taken,
            Duplex::Half => taken.max(self.taken[Way::In as usize]),
        };
        let taken = self.made_up(taken, now, self.is_talking);
        self.taken[Way::Out as usize] = taken;
        (now.saturating_sub(taken) as u128 * u128::from(self.rate) / u128::from(SECOND)) as usize
    }

    /// Bytes of the board have come; `is_all` where it had no more.
    pub fn came(&mut self, now: Nanos, bytes: &[u8], is_all: bool) {
        self.taken[Way::Out as usize] += self.span(bytes.len());
        for &byte in bytes {
            self.is_within = byte != END || !self.is_within;
        }
        if is_all {
            self.taken[Way::Out as usize] = now;
        }
        self.is_talking = !is_all;
        if is_all || !bytes.is_empty() && !self.is_within {
            self.is_boards_turn = false;
        }
    }

    /// When something arrives at the board.
    pub fn deadline(&self) -> Option<Nanos> {
        let sending = self.sending.as_ref()?;
        Some(sending.began + self.span(sending.arrived + 1))
    }
}

/// A packet as SLIP has it.
fn framed(packet: &[u8]) -> Vec<u8> {
    let mut writer = Writer::new();
    std::iter::from_fn(|| writer.next(packet)).collect()
}

impl Sending {
    /// How many bytes have arrived by then, before the last.
    fn by(&self, now: Nanos, rate: u64) -> usize {
        let passed = now.saturating_sub(self.began);
        let bytes = (u128::from(passed) * u128::from(rate) / u128::from(SECOND)) as usize;
        bytes.min(self.bytes.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Nanos = 1_000_000;

    #[test]
    fn packets_arrive_one_after_the_other_at_the_lines_rate() {
        let mut line = Line::new(14_400, Duplex::Full);
        assert_eq!(line.arrived(MS), None);
        line.enqueue(&[1; 142]);
        line.enqueue(&[2; 142]);
        let mut heard = Vec::new();
        for now in 1..=21 {
            while let Some(bytes) = line.arrived(now * MS) {
                heard.extend(bytes);
            }
            // 14.4 bytes a millisecond, from the first on.
            assert_eq!(heard.len(), (now as usize - 1) * 144 / 10, "at {now} ms");
        }
        assert_eq!(heard.len(), 288);
        assert_eq!(line.counts().bytes, [284, 0]);
        assert_eq!(heard[1..143], [1; 142]);
        assert_eq!(heard[145..287], [2; 142]);
        assert!(line.deadline().is_none());
    }

    #[test]
    fn the_end_of_a_packet_arrives_no_earlier_than_it_would() {
        let mut line = Line::new(14_400, Duplex::Full);
        line.arrived(0);
        line.enqueue(&[1; 142]);
        assert_eq!(line.arrived(0), None);
        assert_eq!(line.deadline(), Some(SECOND / 14_400));
        assert_eq!(line.arrived(10 * MS - 1).map(|it| it.len()), Some(143));
        assert_eq!(line.arrived(10 * MS), Some(vec![END]));
    }

    #[test]
    fn an_idle_line_earns_nothing() {
        let mut line = Line::new(14_400, Duplex::Full);
        line.came(1_000 * MS, &[], true);
        assert_eq!(line.allowance(1_000 * MS), 0);
        assert_eq!(line.allowance(1_010 * MS), 144);
        line.came(1_010 * MS, &[0; 100], false);
        assert_eq!(line.allowance(1_010 * MS), 44);
        line.came(1_010 * MS, &[0; 10], true);
        assert_eq!(line.allowance(1_010 * MS), 0);
    }

    #[test]
    fn a_packet_that_finds_the_line_idle_takes_its_time() {
        let mut line = Line::new(14_400, Duplex::Full);
        line.look(1_000 * MS);
        line.enqueue(&[1; 142]);
        assert_eq!(line.arrived(1_000 * MS), None);
        assert_eq!(line.arrived(1_010 * MS).map(|it| it.len()), Some(144));
        assert_eq!(line.forgotten(), 0);
    }

    #[test]
    fn a_line_that_was_late_for_long_says_how_much_is_lost() {
        let mut line = Line::new(14_400, Duplex::Full);
        line.look(0);
        line.enqueue(&[1; 142]);
        line.enqueue(&[1; 142]);
        assert_eq!(line.arrived(80 * MS).map(|it| it.len()), Some(144));
        assert_eq!(line.forgotten(), 30 * MS);
        assert_eq!(line.arrived(80 * MS).map(|it| it.len()), Some(144));
    }

    #[test]
    fn on_a_half_duplex_line_silence_takes_no_time_of_the_other() {
        let mut line = Line::new(14_400, Duplex::Half);
        line.came(0, &[], true);
        let mut came = 0;
        for now in 1..=100 {
            line.look(now * MS);
            let allowed = line.allowance(now * MS);
            came += allowed;
            line.came(now * MS, &vec![1; allowed], false);
            assert_eq!(line.arrived(now * MS), None);
        }
        assert_eq!(came, 1_440);
    }

    #[test]
    fn on_a_half_duplex_line_one_talks_at_a_time() {
        let mut line = Line::new(14_400, Duplex::Half);
        line.came(0, &[], true);
        assert_eq!(line.allowance(MS), 14);
        // The board has begun a packet: ours waits until it has ended.
        line.came(MS, &[END, 1, 2], false);
        line.enqueue(&[9; 142]);
        assert_eq!(line.arrived(5 * MS), None);
        assert!(line.deadline().is_none());
        line.came(6 * MS, &[3, END], true);
        assert_eq!(line.arrived(6 * MS), None);
        assert_eq!(line.allowance(10 * MS), 0);
        assert_eq!(line.arrived(16 * MS).map(|it| it.len()), Some(144));
    }
}
