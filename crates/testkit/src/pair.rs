//! Two machines that talk to each other.

use crate::link::BadLink;
use weir_sansio::{Instant, Output, Session};

/// One of the two, what it told, and the link towards it.
pub struct Side<S: Session> {
    /// The machine.
    pub machine: S,
    /// What it told the layer above, in order.
    pub events: Vec<S::Event>,
    /// Why it failed, if it did; it is not spoken to afterwards.
    pub failure: Option<S::Error>,
    /// What is under way towards it.
    pub inbound: BadLink,
    deadline: Instant,
}

/// Two machines, each the other's peer, and the time.
pub struct Pair<A: Session, B: Session> {
    /// The one.
    pub a: Side<A>,
    /// The other.
    pub b: Side<B>,
    now: Instant,
}

impl<S: Session> Side<S>
where
    S::Transmit: AsRef<[u8]>,
{
    fn new(machine: S, inbound: BadLink) -> Self {
        Self {
            machine,
            events: Vec::new(),
            failure: None,
            inbound,
            deadline: Instant::NEVER,
        }
    }

    /// Does all that can be done now; says whether anything was done.
    fn step(&mut self, now: Instant, outbound: &mut BadLink) -> bool {
        let mut moved = false;
        while let Some(piece) = self.inbound.arrived(now) {
            moved = true;
            if self.failure.is_none() {
                self.failure = self.machine.handle_input(now, &piece).err();
            }
        }
        if self.deadline <= now && self.failure.is_none() {
            self.deadline = Instant::NEVER;
            self.machine.handle_timeout(now);
            moved = true;
        }
        loop {
            match self.machine.poll_output() {
                Output::Transmit(bytes) => outbound.send(now, bytes.as_ref()),
                Output::Event(event) => self.events.push(event),
                Output::Timeout(at) => {
                    self.deadline = at;
                    return moved;
                }
            }
            moved = true;
        }
    }

    fn next(&self) -> Instant {
        let deadline = match self.failure {
            None => self.deadline,
            Some(_) => Instant::NEVER,
        };
        deadline.min(self.inbound.next())
    }
}

impl<A: Session, B: Session> Pair<A, B>
where
    A::Transmit: AsRef<[u8]>,
    B::Transmit: AsRef<[u8]>,
{
    /// Two machines and the link between them, the same in both directions.
    pub fn new(a: A, b: B, link: &BadLink) -> Self {
        Self {
            a: Side::new(a, link.clone()),
            b: Side::new(b, link.clone()),
            now: Instant::START,
        }
    }

    /// The time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Lets time pass from one event to the next, up to `until` at most; says when nothing was left
    /// to happen before.
    pub fn run(&mut self, until: Instant) -> Instant {
        loop {
            let a = self.a.step(self.now, &mut self.b.inbound);
            let b = self.b.step(self.now, &mut self.a.inbound);
            if a || b {
                continue;
            }
            let next = self.a.next().min(self.b.next());
            if next > until {
                return self.now;
            }
            self.now = self.now.max(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use weir_sansio::Duration;

    /// Sends a byte until it comes back.
    struct Echo {
        asks: bool,
        out: Vec<u8>,
        heard: Vec<u8>,
        at: Instant,
    }

    impl Echo {
        fn new(asks: bool) -> Self {
            Self {
                asks,
                out: Vec::new(),
                heard: Vec::new(),
                at: if asks { Instant::START } else { Instant::NEVER },
            }
        }
    }

    impl Session for Echo {
        type Transmit = Vec<u8>;
        type Event = Vec<u8>;
        type Error = Infallible;

        fn handle_input(&mut self, _now: Instant, bytes: &[u8]) -> Result<(), Infallible> {
            self.heard.extend_from_slice(bytes);
            match self.asks {
                true => self.at = Instant::NEVER,
                false => self.out.extend_from_slice(bytes),
            }
            Ok(())
        }

        fn handle_timeout(&mut self, now: Instant) {
            self.out.push(7);
            self.at = now + Duration::from_secs(1);
        }

        fn poll_output(&mut self) -> Output<Vec<u8>, Vec<u8>> {
            if !self.out.is_empty() {
                return Output::Transmit(std::mem::take(&mut self.out));
            }
            if !self.heard.is_empty() {
                return Output::Event(std::mem::take(&mut self.heard));
            }
            Output::Timeout(self.at)
        }
    }

    #[test]
    fn what_is_lost_is_sent_again_and_time_passes_without_waiting() {
        let mut lost_once = false;
        for seed in 1..20 {
            let link = BadLink::lossy(2, seed);
            let mut pair = Pair::new(Echo::new(true), Echo::new(false), &link);
            let ended = pair.run(Instant::START + Duration::from_secs(60));
            assert_eq!(pair.a.events, [[7]]);
            lost_once |= ended.since(Instant::START) > Duration::from_secs(1);
        }
        assert!(lost_once);
    }

    #[test]
    fn datagrams_come_twice_and_in_another_order() {
        let mut link = BadLink::unruly(3, 5);
        (0..60u8).for_each(|number| link.send(Instant::START, &[number]));
        let later = Instant::START + 4 * link.delay;
        let numbers: Vec<u8> = std::iter::from_fn(|| link.arrived(later))
            .flatten()
            .collect();
        let times = |number| numbers.iter().filter(|&&other| other == number).count();
        assert!((0..60).any(|number| times(number) == 0));
        assert!((0..60).any(|number| times(number) == 2));
        assert!(!numbers.is_sorted());
    }

    #[test]
    fn bytes_arrive_in_order_however_they_are_cut() {
        let mut link = BadLink::split(3, 5);
        link.send(Instant::START, b"observation");
        let later = Instant::START + link.delay;
        let pieces: Vec<_> = std::iter::from_fn(|| link.arrived(later)).collect();
        assert!(pieces.len() > 3 && pieces.iter().all(|piece| piece.len() <= 3));
        assert_eq!(pieces.concat(), b"observation");
    }
}
