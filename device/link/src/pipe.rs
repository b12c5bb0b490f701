//! One direction of a link: queue, duty cycle, rate, loss and delay, in this order.

use crate::framing::Framing;
use crate::limits::PACKETS_IN_FLIGHT_MAX;
use crate::loss::Losing;
use crate::medium::Medium;
use crate::profile::Direction;
use crate::time::Nanos;
use std::collections::VecDeque;
use weir_random::Random;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives, then.
    Arrives(Nanos),
    /// It does not.
    Dropped(Cause),
}

/// Why a packet does not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The queue was full.
    Queue,
    /// The link lost it, after it had taken its time on the wire.
    Loss,
}

/// A direction. Packets must be offered in the order of their times; they arrive in that order.
#[derive(Clone, Debug)]
pub struct Pipe {
    framing: Framing,
    queue_bytes_max: u64,
    queue: VecDeque<(Nanos, u64)>,
    queued_bytes: u64,
    losing: Losing,
    delay: Delay,
    random: Random,
    last: Nanos,
    /// How much longer its end is silent than it talks, and until when.
    silence: f64,
    silent_until: Nanos,
}

impl Pipe {
    /// A direction as a profile has it. `base` is what the machine's own way adds to every packet; the
    /// delay is that much shorter.
    pub fn new(direction: &Direction, base: Nanos, seed: u64) -> Self {
        Self {
            framing: direction.framing,
            queue_bytes_max: direction.queue_bytes,
            queue: VecDeque::new(),
            queued_bytes: 0,
            losing: Losing::new(direction.loss),
            delay: Delay::new(direction.delay.saturating_sub(base), direction.jitter, seed),
            random: Random::new(seed),
            last: 0,
            silence: 1.0 / direction.duty - 1.0,
            silent_until: 0,
        }
    }

    /// Decides on a packet that comes at `now`.
    pub fn offer(&mut self, medium: &mut Medium, now: Nanos, packet: &[u8]) -> Fate {
        self.leave(now);
        let wire_bytes = self.framing.wire_bytes(packet);
        if self.is_full(wire_bytes) {
            return Fate::Dropped(Cause::Queue);
        }
        let sent = self.send(medium, now, wire_bytes);
        self.queue.push_back((sent, wire_bytes));
        self.queued_bytes += wire_bytes;
        if self.losing.next(sent, &mut self.random) {
            return Fate::Dropped(Cause::Loss);
        }
        self.last = self.last.max(sent + self.delay.at(sent));
        Fate::Arrives(self.last)
    }

    /// When it has left, once its end may talk.
    fn send(&mut self, medium: &mut Medium, now: Nanos, wire_bytes: u64) -> Nanos {
        let may = now.max(self.silent_until);
        let begins = medium.begins(may);
        let sent = medium.send(may, wire_bytes);
        self.silent_until = sent + ((sent - begins) as f64 * self.silence) as Nanos;
        sent
    }

    /// Bytes that wait for the medium or are on it.
    pub fn queued_bytes(&self) -> u64 {
        self.queued_bytes
    }

    fn leave(&mut self, now: Nanos) {
        while let Some(&(sent, bytes)) = self.queue.front()
            && sent <= now
        {
            self.queue.pop_front();
            self.queued_bytes -= bytes;
        }
    }

    /// An empty queue takes a packet of any size.
    fn is_full(&self, wire_bytes: u64) -> bool {
        let over = self.queued_bytes + wire_bytes > self.queue_bytes_max;
        !self.queue.is_empty() && (over || self.queue.len() >= PACKETS_IN_FLIGHT_MAX)
    }
}

/// A delay that wanders within `jitter` around its middle: a fresh value every `jitter`, and between two
/// a straight line. So it never falls faster than time goes, no packet overtakes another, and dense
/// traffic sees the same delays as sparse, which values drawn anew for each packet would not give.
#[derive(Clone, Debug)]
struct Delay {
    middle: Nanos,
    jitter: Nanos,
    random: Random,
    /// Which stretch is in use, and the values at its ends.
    stretch: u64,
    ends: [f64; 2],
}

impl Delay {
    fn new(middle: Nanos, jitter: Nanos, seed: u64) -> Self {
        let mut random = Random::new(!seed);
        let ends = [random.unit(), random.unit()];
        Self {
            middle,
            jitter,
            random,
            stretch: 0,
            ends,
        }
    }

    /// The delay at a time that is not before the last one asked for.
    fn at(&mut self, time: Nanos) -> Nanos {
        if self.jitter == 0 {
            return self.middle;
        }
        let (stretch, within) = (time / self.jitter, time % self.jitter);
        while self.stretch < stretch {
            self.stretch += 1;
            self.ends = [self.ends[1], self.random.unit()];
        }
        let share = within as f64 / self.jitter as f64;
        let value = self.ends[0] + (self.ends[1] - self.ends[0]) * share;
        let floor = self.middle.saturating_sub(self.jitter / 2);
        floor + (value * self.jitter as f64) as Nanos
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::Loss;
    use crate::medium::Rate;
    use proptest::prelude::*;

    const MILLI: Nanos = 1_000_000;

    fn direction() -> Direction {
        Direction {
            rate: Rate::Bits(8_000_000),
            delay: 10 * MILLI,
            jitter: 0,
            loss: Loss::None,
            queue_bytes: 3_000,
            framing: Framing::None,
            duty: 1.0,
        }
    }

    #[test]
    fn a_packet_takes_its_time_on_the_wire_and_the_delay() {
        let direction = direction();
        let mut pipe = Pipe::new(&direction, MILLI, 1);
        let mut medium = Medium::new(direction.rate.clone());
        let fate = pipe.offer(&mut medium, 5 * MILLI, &[0; 1_000]);
        assert_eq!(fate, Fate::Arrives((5 + 1 + 9) * MILLI));
    }

    #[test]
    fn a_full_queue_drops_and_takes_again_what_has_left() {
        let direction = direction();
        let mut pipe = Pipe::new(&direction, 0, 1);
        let mut medium = Medium::new(direction.rate.clone());
        let mut offer = |now| pipe.offer(&mut medium, now, &[0; 1_000]);
        for _ in 0..3 {
            assert!(matches!(offer(0), Fate::Arrives(_)));
        }
        assert_eq!(offer(0), Fate::Dropped(Cause::Queue));
        assert_eq!(offer(MILLI), Fate::Arrives(14 * MILLI));
        assert_eq!(pipe.queued_bytes(), 3_000);
    }

    #[test]
    fn who_has_talked_is_silent_for_its_share_of_the_time() {
        let direction = Direction {
            duty: 0.25,
            ..direction()
        };
        let mut pipe = Pipe::new(&direction, 0, 1);
        let mut medium = Medium::new(direction.rate.clone());
        let mut offer = |now| pipe.offer(&mut medium, now, &[0; 1_000]);
        // A millisecond each, and three of silence behind it.
        assert_eq!(offer(0), Fate::Arrives(11 * MILLI));
        assert_eq!(offer(0), Fate::Arrives(15 * MILLI));
        assert_eq!(offer(2 * MILLI), Fate::Arrives(19 * MILLI));
        assert_eq!(offer(20 * MILLI), Fate::Arrives(31 * MILLI));
    }

    #[test]
    fn two_directions_share_a_half_duplex_line() {
        let direction = direction();
        let mut pipes = [1, 2].map(|seed| Pipe::new(&direction, 0, seed));
        let mut medium = Medium::new(direction.rate.clone());
        let [up, down] = &mut pipes;
        assert_eq!(
            up.offer(&mut medium, 0, &[0; 1_000]),
            Fate::Arrives(11 * MILLI)
        );
        assert_eq!(
            down.offer(&mut medium, 0, &[0; 1_000]),
            Fate::Arrives(12 * MILLI)
        );
    }

    #[test]
    fn jitter_lies_around_the_delay_with_its_median_there() {
        let mut delay = Delay::new(20 * MILLI, 10 * MILLI, 3);
        let mut all: Vec<_> = (0..100_000).map(|i| delay.at(i * MILLI / 2)).collect();
        all.sort_unstable();
        let near = |at: Nanos, expected: Nanos| at.abs_diff(expected) < MILLI / 4;
        assert!(all[0] >= 15 * MILLI && all[all.len() - 1] <= 25 * MILLI);
        assert!(near(all[0], 15 * MILLI), "smallest {}", all[0]);
        assert!(
            near(all[all.len() / 2], 20 * MILLI),
            "median {}",
            all[all.len() / 2]
        );
    }

    proptest! {
        #[test]
        fn packets_arrive_in_order_and_never_before_their_time(
            steps in proptest::collection::vec((0..3 * MILLI, 1usize..1_500), 1..300),
            jitter in 0..20 * MILLI,
            seed: u64,
        ) {
            let direction = Direction { jitter, queue_bytes: 20_000, ..direction() };
            let mut pipe = Pipe::new(&direction, 0, seed);
            let mut medium = Medium::new(direction.rate.clone());
            let (mut now, mut last) = (0, 0);
            for (step, length) in steps {
                now += step;
                match pipe.offer(&mut medium, now, &vec![0; length]) {
                    Fate::Arrives(at) => {
                        prop_assert!(at >= last);
                        prop_assert!(at >= now + (direction.delay).saturating_sub(jitter / 2));
                        last = at;
                    }
                    Fate::Dropped(cause) => prop_assert_eq!(cause, Cause::Queue),
                }
                prop_assert!(pipe.queued_bytes() <= 20_000);
            }
        }
    }
}
