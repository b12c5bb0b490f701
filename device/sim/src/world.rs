//! A run: the board, the line and the clients, from one event to the next.

use crate::board::Board;
use crate::client::Client;
use crate::line::{Offered, Wire};
use crate::setting::{Setting, Window};
use crate::tally::{Figures, Tally};
use crate::time::{Nanos, SECOND};
use crate::way::Way;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use weir_random::Random;

/// When measuring begins at the latest, whoever has not heard anything by then.
const WARM_UP_MAX: Nanos = 180 * SECOND;
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Publish,
    /// The packet that goes this way is through.
    Through(Way),
    /// An end listens to the shared medium.
    Sense(Way),
    /// An end talks on it.
    Talk(Way),
    /// An end has been silent for long enough.
    Ready,
    Board,
    Client(usize),
}

struct World {
    now: Nanos,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    scheduled: u64,
    board: Board,
    board_due: Nanos,
    wire: Wire,
    /// What is on the line each way; nothing where it will be lost.
    under_way: [Option<Vec<u8>>; 2],
    clients: Vec<Client>,
    /// Who has something to send and found the queue full, in turn.
    held_back: VecDeque<usize>,
    is_held_back: Vec<bool>,
    client_due: Vec<Nanos>,
    tally: Tally,
    drain: Nanos,
    random: Random,
    setting: Setting,
}

/// Runs a setting; the same seed gives the same figures, bit for bit.
pub fn simulate(setting: &Setting, seed: u64) -> Figures {
    simulate_in(setting, setting.window(), seed)
}

/// The same, measured in another window.
pub fn simulate_in(setting: &Setting, window: Window, seed: u64) -> Figures {
    let mut world = World::new(setting, window, seed);
    world.run();
    let World {
        mut tally,
        board,
        clients,
        ..
    } = world;
    tally.broken = clients.iter().map(Client::broken).sum();
    tally.figures(board.counters())
}

impl World {
    fn new(setting: &Setting, window: Window, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let clients = (0..setting.clients).map(|number| {
            let seed = random.bits();
            Client::new(*setting, number, seed)
        });
        let clients: Vec<_> = clients.collect();
        let mut world = Self {
            now: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            board: Board::new(setting.clients, random.bits()),
            board_due: Nanos::MAX,
            wire: Wire::new(setting, random.bits()),
            under_way: [None, None],
            client_due: vec![Nanos::MAX; clients.len()],
            is_held_back: vec![false; clients.len()],
            clients,
            held_back: VecDeque::new(),
            tally: Tally::new(setting.clients, window.measured),
            drain: window.drain,
            random,
            setting: *setting,
        };
        world.schedule(SECOND, Event::Publish);
        for number in 0..world.clients.len() {
            world.wake_client(number);
        }
        world
    }

    fn schedule(&mut self, at: Nanos, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, event)));
    }

    fn run(&mut self) {
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now = at;
            if self.tally.is_over(at, self.drain) {
                return;
            }
            let is_late = at >= WARM_UP_MAX;
            let (passed, counters) = (self.wire.passed, self.board.counters());
            self.tally.begin(at, is_late, passed, counters);
            self.tally.end(at, passed, counters);
            self.happen(event);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Publish => self.publish(),
            Event::Through(way) => self.through(way),
            Event::Sense(way) => self.sense(way),
            Event::Talk(way) => self.talk(way),
            Event::Ready => {}
            // Woken anew meanwhile: this one counts no more.
            Event::Board if self.board_due != self.now => return,
            Event::Board => {
                self.board_due = Nanos::MAX;
                self.board.tick(self.now);
            }
            Event::Client(number) if self.client_due[number] != self.now => return,
            Event::Client(number) => {
                self.client_due[number] = Nanos::MAX;
                self.poll_client(number, None);
            }
        }
        self.use_line();
        self.let_go();
        self.wake_board();
    }

    fn publish(&mut self) {
        let text = self.board.publish(self.now);
        self.tally.published(self.now, text);
        let interval = self.setting.publication.interval(&mut self.random);
        self.schedule(self.now + interval, Event::Publish);
    }

    fn through(&mut self, way: Way) {
        let is_whole = self.wire.end(way);
        let packet = self.under_way[way as usize].take();
        let Some(packet) = packet.filter(|_| is_whole) else {
            return;
        };
        match way {
            Way::In => self.board.receive(self.now, packet),
            Way::Out => {
                let number = Client::of_packet(&packet);
                if let Some(number) = number.filter(|&number| number < self.clients.len()) {
                    self.poll_client(number, Some(packet));
                }
            }
        }
    }

    fn poll_client(&mut self, number: usize, packet: Option<Vec<u8>>) {
        let client = &mut self.clients[number];
        let has_room = self.wire.has_room();
        for value in client.poll(self.now, packet, has_room) {
            self.tally.heard(number, self.now, &value);
        }
        for packet in client.leaving() {
            self.wire.enqueue(packet);
        }
        self.wake_client(number);
    }

    fn wake_client(&mut self, number: usize) {
        let due = self.clients[number].deadline(self.now);
        if due <= self.now && !self.wire.has_room() {
            if !std::mem::replace(&mut self.is_held_back[number], true) {
                self.held_back.push_back(number);
            }
            return;
        }
        // Timers of a TCP are not finer than that.
        let due = due.max(self.now + 100_000);
        if due != self.client_due[number] && due != Nanos::MAX {
            self.client_due[number] = due;
            self.schedule(due, Event::Client(number));
        }
    }

    /// Lets those send who were held back.
    fn let_go(&mut self) {
        while self.wire.has_room()
            && let Some(number) = self.held_back.pop_front()
        {
            self.is_held_back[number] = false;
            self.poll_client(number, None);
        }
    }

    fn wake_board(&mut self) {
        let due = self.board.deadline(self.now).unwrap_or(Nanos::MAX);
        if due < self.board_due {
            self.board_due = due;
            self.schedule(due, Event::Board);
        }
    }

    /// Lets go what the line has room for.
    fn use_line(&mut self) {
        for way in self.wire.order() {
            if !self.wire.is_free(way, self.now) {
                continue;
            }
            let packet = match way {
                Way::In => self.wire.next_waiting(),
                Way::Out => self.board.transmit(self.now),
            };
            match packet.map(|packet| self.wire.offer(way, packet)) {
                Some(Offered::Begins(packet)) => self.begin(way, packet),
                Some(Offered::Senses(wait)) => self.schedule(self.now + wait, Event::Sense(way)),
                None => {}
            }
        }
    }

    fn begin(&mut self, way: Way, packet: Vec<u8>) {
        let (took, arrives) = self.wire.begin(way, self.now, &packet);
        self.under_way[way as usize] = arrives.then_some(packet);
        self.schedule(self.now + took, Event::Through(way));
        if let Some(until) = self.wire.silence(way, self.now) {
            self.schedule(until, Event::Ready);
        }
    }

    fn sense(&mut self, way: Way) {
        if let Some((wait, is_clear)) = self.wire.sense(way) {
            let next = if is_clear {
                Event::Talk(way)
            } else {
                Event::Sense(way)
            };
            self.schedule(self.now + wait, next);
        }
    }

    fn talk(&mut self, way: Way) {
        if let Some(packet) = self.wire.talk(way) {
            self.begin(way, packet);
        }
    }
}
