//! The closed loop: opens a conversation, sends a payload, waits for its echo, rests, sends the next.

use super::buffer::Buffer;
use super::network::Network;
use super::order::Order;
use super::payload::Payload;
use super::report;
use super::talk::{Fault, Random, Talk};
use super::{Micros, SAMPLES_MAX};

/// Before and after what is counted, so that no report is on the line with it.
const PAUSE: Micros = 200_000;

/// What it does.
#[derive(Clone, Copy)]
enum Does {
    /// Connects at this time.
    Begins(Micros),
    /// Waits to be connected since.
    Connects(Micros),
    /// Waits for the conversation to be open, since it began to connect.
    Opens(Micros),
    /// Sends the next payload at this time.
    Rests(Micros),
    /// Waits for an echo; when it was sent, and when it came.
    Waits(Micros, Option<Micros>),
    /// Tells what it found at this time.
    Tells(Micros),
}

struct Run {
    order: Order,
    talk: Talk,
    does: Does,
    /// Exchanges that were begun.
    number: u32,
    opening: Micros,
    echoed: usize,
    lost: u32,
}

/// The loop, and the round trips of the order that is done.
pub(crate) struct Echo<'a> {
    samples: &'a mut [u32; SAMPLES_MAX],
    random: Random,
    run: Option<Run>,
}

impl<'a> Echo<'a> {
    pub(crate) fn new(samples: &'a mut [u32; SAMPLES_MAX], seed: u64) -> Self {
        Self {
            samples,
            random: Random::new(seed),
            run: None,
        }
    }

    /// Takes an order, whatever was done before.
    pub(crate) fn begin(&mut self, now: Micros, order: Order, network: &mut impl Network) {
        network.close();
        network.report(report::taken(order.id).bytes());
        self.random.next();
        self.run = Some(Run {
            talk: Talk::new(order, self.random),
            order,
            does: Does::Begins(now + PAUSE),
            number: 0,
            opening: 0,
            echoed: 0,
            lost: 0,
        });
    }

    /// Does what is due.
    pub(crate) fn step(
        &mut self,
        now: Micros,
        network: &mut impl Network,
        heard: &mut Buffer,
        out: &mut Buffer,
    ) {
        let Some(run) = &mut self.run else {
            return;
        };
        let stepped = run
            .hear(network, heard, out)
            .and_then(|()| run.go_on(now, network, out, self.samples));
        match stepped {
            Ok(false) => {}
            Ok(true) => self.end(network, out),
            Err(fault) => {
                network.report(report::failed(run.order.id, fault).bytes());
                self.end(network, out);
            }
        }
    }

    fn end(&mut self, network: &mut impl Network, out: &mut Buffer) {
        network.close();
        out.clear();
        self.run = None;
    }
}

impl Run {
    fn is_stream(&self) -> bool {
        self.order.protocol.is_stream()
    }

    fn hear(
        &mut self,
        network: &mut impl Network,
        heard: &mut Buffer,
        out: &mut Buffer,
    ) -> Result<(), Fault> {
        if !self.is_stream() {
            while network.hear_datagram(heard) {
                self.talk.get().hear(heard.bytes(), out)?;
                network.send(out, false);
            }
            return Ok(());
        }
        while network.hear_stream(heard) {
            loop {
                let taken = self.talk.get().hear(heard.bytes(), out)?;
                if taken == 0 {
                    break;
                }
                heard.drop_front(taken);
            }
            if heard.space().is_empty() {
                return Err(Fault::TooLong);
            }
        }
        Ok(())
    }

    /// Whether it is over.
    fn go_on(
        &mut self,
        now: Micros,
        network: &mut impl Network,
        out: &mut Buffer,
        samples: &mut [u32],
    ) -> Result<bool, Fault> {
        let is_stream = self.is_stream();
        self.talk.get().tick(now, out);
        network.send(out, is_stream);
        let is_over = self.advance(now, network, out, samples)?;
        network.send(out, is_stream);
        Ok(is_over)
    }

    fn advance(
        &mut self,
        now: Micros,
        network: &mut impl Network,
        out: &mut Buffer,
        samples: &mut [u32],
    ) -> Result<bool, Fault> {
        match self.does {
            Does::Begins(at) if at <= now => {
                network.connect(self.order.server, self.is_stream());
                self.does = Does::Connects(now);
            }
            Does::Connects(since) if network.is_connected(self.is_stream()) => {
                self.talk.get().open(now, out);
                self.does = Does::Opens(since);
            }
            Does::Opens(since) if self.talk.get().progress().is_open => {
                self.opening = now - since;
                self.does = Does::Rests(now);
            }
            Does::Connects(since) | Does::Opens(since) => self.check(now, since, network)?,
            Does::Rests(at) if at <= now => self.say(now, out),
            Does::Waits(sent, echoed) => self.wait(now, (sent, echoed), network, samples)?,
            Does::Tells(at) if at <= now => {
                let samples = samples.get_mut(..self.echoed).unwrap_or_default();
                network.report(report::done(self.order.id, self.lost, samples).bytes());
                return Ok(true);
            }
            Does::Begins(_) | Does::Rests(_) | Does::Tells(_) => {}
        }
        self.mark(now, network);
        Ok(false)
    }

    /// Once those exchanges are through that do not count: tells so, and lets that pass.
    fn mark(&mut self, now: Micros, network: &mut impl Network) {
        if self.number == self.order.warm_up
            && let Does::Rests(at) = self.does
            && at <= now
        {
            network.report(report::opened(self.order.id, self.opening as u32).bytes());
            self.order.warm_up = u32::MAX;
            self.order.packets += self.number;
            self.does = Does::Rests(now + PAUSE);
        }
    }

    /// Whether this exchange counts.
    fn counts(&self) -> bool {
        self.order.warm_up == u32::MAX
    }

    fn wait_us(&self) -> Micros {
        Micros::from(self.order.wait_ms) * 1_000
    }

    fn check(&self, now: Micros, since: Micros, network: &mut impl Network) -> Result<(), Fault> {
        match now - since > self.wait_us() {
            true => Err(Fault::Silent),
            false if network.is_over(self.is_stream()) => Err(Fault::Closed),
            false => Ok(()),
        }
    }

    fn say(&mut self, now: Micros, out: &mut Buffer) {
        if self.counts() && self.number == self.order.packets {
            self.does = Does::Tells(now + PAUSE);
            return;
        }
        if !self.counts() && self.number == self.order.warm_up {
            return;
        }
        self.number += 1;
        let payload = Payload {
            length: self.order.payload,
            number: self.number,
        };
        self.talk.get().say(now, payload, out);
        self.does = Does::Waits(now, None);
    }

    fn wait(
        &mut self,
        now: Micros,
        (sent, echoed): (Micros, Option<Micros>),
        network: &mut impl Network,
        samples: &mut [u32],
    ) -> Result<(), Fault> {
        let progress = self.talk.get().progress();
        let echoed = echoed.or(progress.is_echoed.then_some(now));
        self.does = Does::Waits(sent, echoed);
        match echoed {
            Some(at) if progress.is_acknowledged => {
                self.keep((at - sent) as u32, samples);
                self.rest(now);
            }
            _ if self.is_stream() => self.check(now, sent, network)?,
            _ if now - sent > self.wait_us() => {
                self.lost += u32::from(self.counts());
                self.rest(now);
            }
            _ => {}
        }
        Ok(())
    }

    fn keep(&mut self, round_trip: u32, samples: &mut [u32]) {
        if self.counts()
            && let Some(place) = samples.get_mut(self.echoed)
        {
            *place = round_trip;
            self.echoed += 1;
        }
    }

    fn rest(&mut self, now: Micros) {
        self.does = Does::Rests(now + Micros::from(self.order.rest_ms) * 1_000);
    }
}
