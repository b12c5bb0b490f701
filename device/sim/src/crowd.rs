//! The clients of a setting, and what is counted of them, before a board that is not simulated: by the clock of
//! whoever drives them.
//!
//! The board publishes its own clock, in milliseconds. How far that is off is found by a [`Probe`], as the authors do:
//! from the least time that a publication took to be heard, less what its bytes took on the line.

use crate::client::Client;
use crate::line::Passed;
use crate::setting::{Publication, Scheme, Setting, Window};
use crate::tally::{Figures, Tally};
use crate::time::{Nanos, SECOND};
use std::collections::VecDeque;
use weir_comet::Counters;
use weir_link::Framing;
use weir_random::Random;

/// When measuring begins at the latest, whoever has not heard anything by then.
const WARM_UP_MAX: Nanos = 60 * SECOND;
/// A millisecond; the board's clock shows those that have passed, which is half of one less than the time.
const MS: Nanos = 1_000_000;
/// Number of the client that finds the board's clock: none of a crowd's, so that neither hears what is the other's.
const PROBE: usize = 511;
/// Publications by which the board's clock is found.
const PROBED: usize = 4;

/// The way to the board.
pub trait Outlet {
    /// Whether another packet may wait.
    fn has_room(&self) -> bool;
    /// A packet waits.
    fn enqueue(&mut self, packet: Vec<u8>);
    /// What has passed, both ways.
    fn passed(&self) -> Passed;
}

/// Clients at this end of the line.
pub trait Clients {
    /// Takes a packet of the board.
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut impl Outlet);
    /// Does what is due.
    fn poll(&mut self, now: Nanos, line: &mut impl Outlet);
    /// When they want to be polled.
    fn deadline(&mut self, now: Nanos) -> Nanos;
    /// Whether they know what they were to find out: the board's clock, or all figures of what was published
    /// meanwhile.
    fn is_done(&self, now: Nanos) -> bool;
}

/// Finds the board's clock, with one client that streams.
pub struct Probe {
    client: Client,
    rate: u64,
    /// The board's start by this clock, as each publication has it.
    starts: Vec<Nanos>,
    /// The board's milliseconds at the last of them.
    last: Nanos,
}

/// The board's clock.
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// When it showed nothing.
    start: Nanos,
    /// What it showed at a publication.
    published: Nanos,
}

/// The clients.
pub struct Crowd {
    window: Window,
    began: Nanos,
    clients: Vec<Client>,
    /// When each wants to be polled; never, where it is held back.
    due: Vec<Nanos>,
    /// Who has something to send and found the queue full, in turn.
    held_back: VecDeque<usize>,
    tally: Tally,
    clock: Clock,
    interval: Nanos,
    /// Publications that are known to have been.
    published: u64,
}

impl Probe {
    /// A client of the setting's line.
    pub fn new(setting: &Setting, seed: u64) -> Self {
        let setting = Setting {
            clients: 1,
            scheme: Scheme::Streaming,
            ..*setting
        };
        Self {
            client: Client::new(setting, PROBE, seed),
            rate: setting.line.rate.into(),
            starts: Vec::new(),
            last: 0,
        }
    }

    fn send(&mut self, line: &mut impl Outlet) {
        self.client
            .leaving()
            .for_each(|packet| line.enqueue(packet));
    }

    /// The greatest difference between what the publications say, nanoseconds.
    pub fn spread(&self) -> Nanos {
        let [least, most] = [self.starts.iter().min(), self.starts.iter().max()];
        most.zip(least).map_or(0, |(most, least)| most - least)
    }

    fn clock(&self) -> Clock {
        Clock {
            start: self.starts.iter().min().copied().unwrap_or_default(),
            published: self.last,
        }
    }
}

impl Clients for Probe {
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut impl Outlet) {
        let took = Framing::Slip.wire_bytes(&packet) * SECOND / self.rate;
        for value in self.client.poll(now, Some(packet), line.has_room()) {
            if let Ok(shown) = value.parse::<Nanos>() {
                self.last = shown * MS;
                self.starts
                    .push((now - took).saturating_sub(self.last + MS / 2));
            }
        }
        self.send(line);
    }

    fn poll(&mut self, now: Nanos, line: &mut impl Outlet) {
        if self.is_done(now) {
            self.client.leave(now);
        } else {
            self.client.poll(now, None, line.has_room());
        }
        self.send(line);
    }

    fn deadline(&mut self, now: Nanos) -> Nanos {
        self.client.deadline(now)
    }

    fn is_done(&self, _now: Nanos) -> bool {
        self.starts.len() >= PROBED
    }
}

impl Crowd {
    /// The setting's clients, from `now` on; a setting whose interval varies has no next publication to be known.
    pub fn new(
        setting: &Setting,
        window: Window,
        probe: &Probe,
        now: Nanos,
        seed: u64,
    ) -> Option<Self> {
        let Publication::Every(seconds) = setting.publication else {
            return None;
        };
        let mut random = Random::new(seed);
        let client = |number| Client::new(*setting, number, random.bits());
        Some(Self {
            window,
            began: now,
            clients: (0..setting.clients).map(client).collect(),
            due: vec![0; setting.clients],
            held_back: VecDeque::new(),
            tally: Tally::new(setting.clients, window.measured),
            clock: probe.clock(),
            interval: Nanos::from(seconds) * SECOND,
            published: 0,
        })
    }

    /// Times of clients and of the tally begin with the crowd.
    fn own(&self, now: Nanos) -> Nanos {
        now - self.began
    }

    /// What the board has published by now, whether or not anybody has heard of it.
    fn publish(&mut self, now: Nanos) {
        loop {
            let at = self.when(self.published);
            if at > now {
                return;
            }
            self.tally.published(at, self.published.to_string());
            self.published += 1;
        }
    }

    /// When a publication after the probe's last is due.
    fn when(&self, number: u64) -> Nanos {
        let shown = self.clock.published + (number + 1) * self.interval;
        (self.clock.start + shown + MS / 2).saturating_sub(self.began)
    }

    fn poll_client(
        &mut self,
        now: Nanos,
        number: usize,
        packet: Option<Vec<u8>>,
        line: &mut impl Outlet,
    ) {
        let values = self.clients[number].poll(now, packet, line.has_room());
        for value in values {
            self.heard(now, number, &value);
        }
        for packet in self.clients[number].leaving() {
            line.enqueue(packet);
        }
        self.wake(now, number, line.has_room());
    }

    fn wake(&mut self, now: Nanos, number: usize, has_room: bool) {
        let due = self.clients[number].deadline(now);
        self.due[number] = match due <= now && !has_room {
            true if self.held_back.contains(&number) => Nanos::MAX,
            true => {
                self.held_back.push_back(number);
                Nanos::MAX
            }
            // Timers of a TCP are not finer than that.
            false => due.max(now + MS),
        };
    }

    fn heard(&mut self, now: Nanos, client: usize, value: &str) {
        let shown = value.parse::<Nanos>().unwrap_or_default() * MS;
        let since = (shown + self.interval / 2).checked_sub(self.clock.published);
        let number = since.and_then(|since| (since / self.interval).checked_sub(1));
        let Some(number) = number else {
            // From before the crowd: it is a word of the board all the same.
            return self.tally.heard(client, now, value);
        };
        let text = number.to_string();
        let at = (self.clock.start + shown + MS / 2).saturating_sub(self.began);
        self.publish(at.min(now));
        self.tally.correct(&text, at.min(now));
        self.tally.heard(client, now, &text);
    }

    /// Whether it is measured already, or still waited for the last client to hear something.
    pub fn has_begun(&self) -> bool {
        self.tally.has_begun()
    }

    /// What came of it; what only the board knows is missing (RMP, what was sent again).
    pub fn figures(mut self) -> Figures {
        self.tally.broken = self.clients.iter().map(Client::broken).sum();
        self.tally.figures(Counters::default())
    }
}

impl Clients for Crowd {
    fn take(&mut self, now: Nanos, packet: Vec<u8>, line: &mut impl Outlet) {
        let number = Client::of_packet(&packet).filter(|&it| it < self.clients.len());
        if let Some(number) = number {
            self.poll_client(self.own(now), number, Some(packet), line);
        }
    }

    fn poll(&mut self, now: Nanos, line: &mut impl Outlet) {
        let now = self.own(now);
        self.publish(now);
        let passed = line.passed();
        let is_late = now >= WARM_UP_MAX;
        self.tally.begin(now, is_late, passed, Counters::default());
        self.tally.end(now, passed, Counters::default());
        while line.has_room()
            && let Some(number) = self.held_back.pop_front()
        {
            self.poll_client(now, number, None, line);
        }
        for number in 0..self.clients.len() {
            if self.due[number] <= now {
                self.poll_client(now, number, None, line);
            }
        }
    }

    fn deadline(&mut self, _now: Nanos) -> Nanos {
        let due = self.due.iter().min().copied().unwrap_or(Nanos::MAX);
        due.saturating_add(self.began)
    }

    fn is_done(&self, now: Nanos) -> bool {
        self.tally.is_over(self.own(now), self.window.drain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::setting::{Duplex, Line};

    /// A line that is never full and takes no time.
    #[derive(Default)]
    struct Still {
        packets: VecDeque<Vec<u8>>,
        passed: Passed,
    }

    impl Outlet for Still {
        fn has_room(&self) -> bool {
            true
        }

        fn enqueue(&mut self, packet: Vec<u8>) {
            self.passed.packets += 1;
            self.passed.bytes += packet.len() as u64;
            self.packets.push_back(packet);
        }

        fn passed(&self) -> Passed {
            self.passed
        }
    }

    /// A board whose clock is this far behind, and publishes every second.
    struct World {
        board: Board,
        behind: Nanos,
        line: Still,
    }

    impl World {
        /// What the board says at a time, after what it is said.
        fn says(&mut self, now: Nanos) -> Vec<Vec<u8>> {
            let own = now - self.behind;
            if own.is_multiple_of(SECOND) {
                self.board.publish(own);
            }
            while let Some(packet) = self.line.packets.pop_front() {
                self.board.receive(own, packet);
            }
            self.board.tick(own);
            std::iter::from_fn(|| self.board.transmit(own)).collect()
        }
    }

    fn setting(clients: usize, scheme: Scheme) -> Setting {
        Setting {
            clients,
            publication: Publication::Every(1),
            scheme,
            line: Line {
                // Its time is next to nothing, as it is on the line of the test.
                rate: 100_000_000,
                duplex: Duplex::Full,
                loss: 0.0,
            },
            duty: 1.0,
        }
    }

    fn figures_of(setting: Setting) -> Figures {
        let behind = 3 * SECOND + 217 * MS;
        let mut world = World {
            board: Board::new(setting.clients, 1),
            behind,
            line: Still::default(),
        };
        let mut times = (0..).map(|count| behind + count * MS);
        let mut probe = Probe::new(&setting, 1);
        let mut now = 0;
        while !probe.is_done(now) {
            now = times.next().unwrap();
            for packet in world.says(now) {
                probe.take(now, packet, &mut world.line);
            }
            probe.poll(now, &mut world.line);
        }
        assert!(probe.spread() <= MS, "{}", probe.spread());
        let window = Window {
            measured: 20 * SECOND,
            drain: 2 * SECOND,
        };
        let mut crowd = Crowd::new(&setting, window, &probe, now, 2).unwrap();
        while !crowd.is_done(now) {
            now = times.next().unwrap();
            for packet in world.says(now) {
                crowd.take(now, packet, &mut world.line);
            }
            crowd.poll(now, &mut world.line);
        }
        assert!(crowd.has_begun());
        crowd.figures()
    }

    #[test]
    fn a_crowd_hears_all_that_a_board_publishes_at_once() {
        let figures = figures_of(setting(16, Scheme::Streaming));
        assert_eq!((figures.rupm, figures.rpm), (100.0, 100.0));
        assert!(figures.mpt < 0.002, "{figures:?}");
        assert!(figures.mct > 99.0, "{figures:?}");
        // A notification and its acknowledgement for each of 16, each second.
        assert!(figures.ntp > 15.0 && figures.ntp < 33.0, "{figures:?}");
    }

    #[test]
    fn a_crowd_that_polls_too_seldom_misses_what_nobody_asked_for() {
        let figures = figures_of(setting(4, Scheme::Polling(5)));
        assert!((17.0..=25.0).contains(&figures.rupm), "{figures:?}");
        assert!((0.3..=0.7).contains(&figures.mpt), "{figures:?}");
    }
}
