//! Blocks of streams with channels (EXI 1.0 section 9): the structure is read first, then the values
//! channel by channel, then events are handed out.
//!
//! Every step keeps its place, so that a block can be read while its bytes arrive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::mem;

use super::body::Body;
use super::quick::{Kind, Quick};
use super::raw::{Raw, Slot};
use crate::bits::Reader;
use crate::deflate::Inflater;
use crate::fault::{Fault, Result};
use crate::limits::Limit;
use crate::machine::Root;
use crate::names::{NONE, Names};
use crate::options::Alignment;
use crate::stored::Span;

/// Values of a block that are combined into one compressed stream, and of a channel that is combined
/// with others (section 9.3).
pub(crate) const SMALL: u32 = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Structure,
    /// Values: the channel in `order` and the value in it that comes next.
    Values(u32, u32),
    Drain,
}

/// An event that waits for its block to be read. A block may have millions of them, so the common
/// ones are told in as little as there is to tell.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// Without a prefix, as the next two.
    StartElement(u32),
    Attribute(u32),
    Characters,
    EndElement,
    /// Its place among the others.
    Other(u32),
}

/// Values of one name, in their order.
#[derive(Debug, Default)]
struct Channel {
    name: u32,
    /// Codec, and place among the values of the block.
    values: Vec<(u32, u32)>,
}

/// A block between its first byte and its last event.
#[derive(Debug, Default)]
pub(crate) struct Block {
    phase: Phase,
    steps: Vec<Step>,
    others: Vec<Raw>,
    /// The values of the block in the order of their events.
    slots: Vec<Slot>,
    /// Steps and slots that were handed out.
    given: usize,
    given_slots: usize,
    channels: Vec<Channel>,
    channels_len: usize,
    /// Channels in the order of the stream, and how many of them share the first stream of values.
    order: Vec<u32>,
    small: u32,
    inflater: Option<Box<Inflater>>,
}

impl Block {
    /// Whether all events were handed out.
    pub(crate) fn is_drained(&self) -> bool {
        self.given == self.steps.len()
    }

    /// Values that events of the block have.
    fn values(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Adds an event that is quick.
    #[inline(always)]
    fn push_quick(&mut self, quick: Quick) {
        self.steps.push(match quick.kind {
            Kind::StartElement => Step::StartElement(quick.name),
            Kind::EndElement => Step::EndElement,
            Kind::Attribute => Step::Attribute(quick.name),
            Kind::Characters => Step::Characters,
        });
    }

    /// Adds an event.
    fn push(&mut self, raw: Raw) {
        let step = match raw {
            Raw::StartElement { name, prefix: NONE } => Step::StartElement(name),
            Raw::EndElement => Step::EndElement,
            Raw::Attribute {
                name,
                prefix: NONE,
                slot: Slot::Waiting,
            } => Step::Attribute(name),
            Raw::Characters {
                slot: Slot::Waiting,
            } => Step::Characters,
            other => {
                self.others.push(other);
                Step::Other(self.others.len() as u32 - 1)
            }
        };
        self.steps.push(step);
    }

    /// The next event, if it is quick.
    #[inline(always)]
    pub(super) fn pop_quick(&mut self) -> Option<Quick> {
        if self.phase != Phase::Drain {
            return None;
        }
        let (kind, name) = match *self.steps.get(self.given)? {
            Step::StartElement(name) => (Kind::StartElement, name),
            Step::EndElement => (Kind::EndElement, NONE),
            Step::Attribute(name) => (Kind::Attribute, name),
            Step::Characters => (Kind::Characters, NONE),
            Step::Other(_) => return None,
        };
        let mut text = Span::default();
        if matches!(kind, Kind::Attribute | Kind::Characters) {
            let Some(Slot::Text(span)) = self.slots.get(self.given_slots) else {
                return None;
            };
            text = *span;
            self.given_slots += 1;
        }
        self.given += 1;
        Some(Quick { kind, name, text })
    }

    /// The next event, with its value.
    fn pop(&mut self) -> Option<Raw> {
        let step = *self.steps.get(self.given)?;
        self.given += 1;
        let prefix = NONE;
        Some(match step {
            Step::StartElement(name) => Raw::StartElement { name, prefix },
            Step::EndElement => Raw::EndElement,
            Step::Attribute(name) => Raw::Attribute {
                name,
                prefix,
                slot: self.next_slot(),
            },
            Step::Characters => Raw::Characters {
                slot: self.next_slot(),
            },
            Step::Other(index) => self.other(index),
        })
    }

    #[inline(never)]
    fn other(&mut self, index: u32) -> Raw {
        let mut raw = self.others[index as usize];
        if let Raw::Attribute { slot, .. } | Raw::Characters { slot } = &mut raw
            && matches!(slot, Slot::Waiting)
        {
            *slot = self.next_slot();
        }
        raw
    }

    #[inline(always)]
    fn next_slot(&mut self) -> Slot {
        self.given_slots += 1;
        let slot = self.slots.get(self.given_slots - 1);
        slot.copied().unwrap_or(Slot::Waiting)
    }

    /// Puts a value that is read later into the channel of its name.
    #[inline]
    pub(super) fn defer(&mut self, names: &mut Names, name: u32, codec: u32) {
        let entry = names.name_mut(name);
        if entry.channel == NONE {
            entry.channel = self.channels_len as u32;
            self.channels_len += 1;
            if self.channels.len() < self.channels_len {
                self.channels.push(Channel::default());
            }
            self.channels[entry.channel as usize].name = name;
        }
        let slot = self.slots.len() as u32;
        self.slots.push(Slot::Waiting);
        self.channels[entry.channel as usize]
            .values
            .push((codec, slot));
    }

    /// The order of channels in the stream (section 9.3): small ones first if there are many values.
    fn arrange(&mut self) {
        let channels = &self.channels[..self.channels_len];
        let all = 0..self.channels_len as u32;
        let is_small = |id: &u32| channels[*id as usize].values.len() as u32 <= SMALL;
        self.order.clear();
        if self.slots.len() <= SMALL as usize {
            self.order.extend(all);
            self.small = self.channels_len as u32;
            return;
        }
        // [EXI-9.3-2]
        self.order.extend(all.clone().filter(is_small));
        self.small = self.order.len() as u32;
        self.order.extend(all.filter(|id| !is_small(id)));
    }

    /// Goes to the next block.
    fn restart(&mut self, names: &mut Names) {
        for channel in &self.channels[..self.channels_len] {
            names.name_mut(channel.name).channel = NONE;
        }
        self.forget();
    }

    /// Bytes of the input are gone.
    pub(super) fn drained(&mut self, bytes: usize) {
        if let Some(inflater) = &mut self.inflater {
            inflater.from = inflater.from.and_then(|from| from.checked_sub(bytes));
        }
    }

    /// Forgets everything but keeps the memory; that names have channels is not its business.
    pub(super) fn forget(&mut self) {
        let live = &mut self.channels[..self.channels_len];
        live.iter_mut().for_each(|channel| channel.values.clear());
        (self.channels_len, self.given, self.given_slots) = (0, 0, 0);
        self.steps.clear();
        self.others.clear();
        self.slots.clear();
        self.phase = Phase::Structure;
        if let Some(inflater) = &mut self.inflater {
            inflater.restart();
        }
    }
}

impl Body {
    pub(super) fn next_of_block(&mut self, input: &[u8]) -> Result<Raw> {
        loop {
            match self.block.phase {
                Phase::Drain => match self.block.pop() {
                    Some(raw) => return Ok(raw),
                    None if self.machine.root == Root::Done => return Err(Fault::Code),
                    None => self.restart_block(),
                },
                Phase::Structure => self.read_structure(input)?,
                Phase::Values(channel, value) => self.read_values(input, channel, value)?,
            }
        }
    }

    fn restart_block(&mut self) {
        self.block.restart(&mut self.machine.names);
        self.begun = self.bit;
        self.text.clear();
        self.content.clear();
    }

    /// Reads with a reader over the bytes of the stream in effect, inflating while there are too
    /// few of them.
    fn with_reader<T>(
        &mut self,
        input: &[u8],
        mut read: impl FnMut(&mut Self, &mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.options.alignment == Alignment::PreCompression {
            let mut reader = Reader::new(input, self.bit, true);
            let value = read(self, &mut reader);
            match &value {
                Ok(_) => self.bit = reader.bit,
                Err(_) => self.failed_at = (reader.bit, None),
            }
            return value;
        }
        let mut inflater = self.block.inflater.take().unwrap_or_default();
        let value = self.with_inflater(input, &mut inflater, &mut read);
        self.block.inflater = Some(inflater);
        value
    }

    fn with_inflater<T>(
        &mut self,
        input: &[u8],
        inflater: &mut Inflater,
        read: &mut impl FnMut(&mut Self, &mut Reader<'_>) -> Result<T>,
    ) -> Result<T> {
        loop {
            while inflater.out.len() < inflater.wanted {
                self.pump(input, inflater)?;
            }
            let mut reader = Reader::new(&inflater.out, inflater.bit, true);
            match read(self, &mut reader) {
                Ok(value) => {
                    inflater.bit = reader.bit;
                    return Ok(value);
                }
                Err(Fault::End(more)) => inflater.wanted = inflater.out.len() + more.max(1),
                Err(fault) => {
                    let at = reader.bit;
                    self.failed_inside(at, inflater, input);
                    return Err(fault);
                }
            }
        }
    }

    fn pump(&mut self, input: &[u8], inflater: &mut Inflater) -> Result<()> {
        let rest = input.get(self.bit / 8..).unwrap_or(&[]);
        let before = inflater.out.len() as u64;
        if !inflater.begun {
            inflater.from = Some(self.bit / 8);
        }
        let pumped = inflater.pump(rest, self.limits.expanded_bytes);
        self.failed_at = (self.bit + 8 * inflater.taken, None);
        self.bit += 8 * pumped?;
        // Each value is bounded by itself; this bounds all inflated bytes together.
        let grown = inflater.out.len() as u64 - before;
        self.inflated += grown;
        if self.inflated > self.limits.expanded_bytes {
            return Err(Fault::Limit(Limit::ExpandedBytes));
        }
        Ok(())
    }

    /// Remembers a failure in inflated bytes, and where in the input those come from.
    #[cold]
    fn failed_inside(&mut self, bit: usize, inflater: &Inflater, input: &[u8]) {
        let place = inflater.place_of(bit / 8, input);
        self.failed_at = (place.map_or(self.bit, |byte| 8 * byte), Some(bit / 8));
    }

    /// Ends a compressed stream: all of it must have been wanted.
    fn end_stream(&mut self, input: &[u8]) -> Result<()> {
        let mut inflater = self.block.inflater.take().unwrap_or_default();
        let mut ended = Ok(());
        while inflater.begun && !inflater.ended && ended.is_ok() {
            ended = self.pump(input, &mut inflater);
        }
        if ended.is_ok() {
            if inflater.out.len() * 8 > inflater.bit {
                self.failed_inside(inflater.bit, &inflater, input);
                ended = Err(Fault::Deflate);
            } else {
                inflater.restart();
            }
        }
        self.block.inflater = Some(inflater);
        ended
    }

    /// The structure channel (section 9.2.1), up to the value that fills the block or to ED.
    fn read_structure(&mut self, input: &[u8]) -> Result<()> {
        while self.wants_structure() {
            self.with_reader(input, Self::read_events)?;
        }
        if self.block.values() > SMALL {
            self.end_stream(input)?;
        }
        self.block.arrange();
        self.block.phase = Phase::Values(0, 0);
        Ok(())
    }

    fn wants_structure(&self) -> bool {
        self.machine.root != Root::Done && self.block.values() < self.options.block_size
    }

    /// Reads events until the bytes at hand end; fails only if there are none for the first.
    fn read_events(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let first = self.block.steps.len();
        while self.wants_structure() {
            if self.block.steps.len() as u64 > self.limits.events {
                return Err(Fault::Limit(Limit::Events));
            }
            if let Some(quick) = self.quick(reader) {
                self.block.push_quick(quick);
                continue;
            }
            let before = reader.bit;
            match self.attempt(reader) {
                Ok(raw) => self.block.push(raw),
                Err(Fault::End(_)) if self.block.steps.len() > first => {
                    reader.bit = before;
                    return Ok(());
                }
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// The value channels from a place on (section 9.2.2).
    fn read_values(&mut self, input: &[u8], channel: u32, value: u32) -> Result<()> {
        let (mut channel, mut value) = (channel, value);
        while let Some(id) = self.block.order.get(channel as usize).copied() {
            let entry = &mut self.block.channels[id as usize];
            let (name, values) = (entry.name, mem::take(&mut entry.values));
            let read = self.read_channel(input, name, &values, &mut value);
            self.block.channels[id as usize].values = values;
            self.block.phase = Phase::Values(channel, value);
            read?;
            let is_last_small = channel + 1 == self.block.small;
            if self.block.values() > SMALL && (is_last_small || channel >= self.block.small) {
                self.end_stream(input)?;
            }
            (channel, value) = (channel + 1, 0);
            self.block.phase = Phase::Values(channel, value);
        }
        if self.block.values() <= SMALL {
            self.end_stream(input)?;
        }
        self.block.phase = Phase::Drain;
        if self.machine.root == Root::Done && self.options.alignment == Alignment::Compression {
            self.skip_empty_streams(input);
        }
        Ok(())
    }

    /// Goes past compressed streams without any content behind the last: of an encoder that ends a block with the last
    /// value and only then finds that nothing follows.
    fn skip_empty_streams(&mut self, input: &[u8]) {
        let mut inflater = self.block.inflater.take().unwrap_or_default();
        while let Some(rest) = input.get(self.bit / 8..).filter(|rest| !rest.is_empty()) {
            inflater.restart();
            let mut taken = 0;
            while !inflater.ended && inflater.out.is_empty() {
                match inflater.pump(&rest[taken..], self.limits.expanded_bytes) {
                    Ok(more) => taken += more,
                    Err(_) => break,
                }
            }
            if !inflater.ended || !inflater.out.is_empty() {
                break;
            }
            self.bit += 8 * taken;
        }
        inflater.restart();
        self.block.inflater = Some(inflater);
    }

    /// Values of one channel, as many as there are bytes for in one go.
    fn read_channel(
        &mut self,
        input: &[u8],
        name: u32,
        values: &[(u32, u32)],
        at: &mut u32,
    ) -> Result<()> {
        while let Some((codec, slot)) = values.get(*at as usize).copied() {
            if self.content.codecs.is_void(codec) {
                let mut reader = Reader::new(&[], 0, true);
                let names = &mut self.machine.names;
                let read = self.content.read(names, &mut reader, name, codec)?;
                self.block.slots[slot as usize] = read;
                *at += 1;
                continue;
            }
            let from = *at;
            let read = self.with_reader(input, |body, reader| {
                body.read_run(reader, name, &values[from as usize..])
            })?;
            *at += read;
        }
        Ok(())
    }

    /// Reads values until the bytes at hand end; fails only if there are none for the first.
    fn read_run(&mut self, r: &mut Reader<'_>, name: u32, values: &[(u32, u32)]) -> Result<u32> {
        let mut done = 0;
        for (codec, slot) in values {
            let before = r.bit;
            match self.content.read(&mut self.machine.names, r, name, *codec) {
                Ok(read) => self.block.slots[*slot as usize] = read,
                Err(Fault::End(_)) if done > 0 => {
                    r.bit = before;
                    return Ok(done);
                }
                Err(fault) => return Err(fault),
            }
            done += 1;
        }
        Ok(done)
    }
}
