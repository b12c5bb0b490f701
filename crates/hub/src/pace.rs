//! Fewer messages than were published: one observation of each datastream a window.

use crate::limits::{WINDOW_BYTES, WINDOWS_MAX};
use crate::memory::{Memory, Room};
use crate::message::{Content, Item, Message, Rows};
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Cursor, Observation, Time, Value};
use weir_storage::aggregate::{Aggregate, Function, Window};

/// Gathers what a group is offered and gives it out window by window.
///
/// Windows are those of the observations' times (of their arrival, where a sensor's clock runs ahead)
/// and close once the gateway's clock has passed their end; a late observation opens its window again,
/// for one more message. A window that begins after what comes now arrived is of a clock that was set
/// back, and closes at once. What is gathered counts as memory of messages; where there is no more of that, the
/// oldest windows close before their time.
pub(crate) struct Pacer {
    aggregate: Aggregate,
    windows: BTreeMap<(Time, Arc<str>), Gathered>,
    /// Windows closed early, since there were too many.
    early: BatchBuilder,
    newest: Option<Arc<Message>>,
    memory: Arc<Memory>,
    room: Room,
    /// Bytes that the windows take.
    bytes: usize,
}

#[derive(Default)]
struct Gathered {
    window: Window,
    /// The last observation, with all it carries; its value stands for `last` of what is no number.
    sample: Batch,
}

impl Gathered {
    fn memory_bytes(&self, topic: &str) -> usize {
        match self.sample.is_empty() {
            true => 0,
            false => WINDOW_BYTES + topic.len() + self.sample.memory_bytes(),
        }
    }
}

impl Pacer {
    /// Nothing gathered yet; what is, counts there.
    pub(crate) fn new(aggregate: Aggregate, memory: &Arc<Memory>) -> Self {
        Self {
            aggregate,
            windows: BTreeMap::new(),
            early: BatchBuilder::new(),
            newest: None,
            memory: memory.clone(),
            room: Room::default(),
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, item: &Item) {
        let Some(batch) = item.message.batch() else {
            return;
        };
        match &item.rows {
            Rows::All => (0..batch.len()).for_each(|row| self.add_row(item, batch, row)),
            Rows::Some(rows) => {
                rows.iter()
                    .for_each(|&row| self.add_row(item, batch, row as usize));
            }
        }
        self.newest = Some(item.message.clone());
        while self.is_of_a_clock_ahead(item.message.arrival)
            && let Some(((begin, topic), gathered)) = self.windows.pop_last()
        {
            self.bytes -= gathered.memory_bytes(&topic);
            push(self.aggregate.function, &mut self.early, begin, &gathered);
        }
    }

    fn is_of_a_clock_ahead(&self, arrival: Time) -> bool {
        let last = self.windows.last_key_value();
        last.is_some_and(|((begin, _), _)| *begin > arrival)
    }

    fn add_row(&mut self, item: &Item, batch: &Batch, index: usize) {
        let row = batch.row(index);
        let arrival = item.message.arrival;
        let number = row.value.number();
        if number.is_none() && self.aggregate.function != Function::Last {
            return;
        }
        let begin = self
            .aggregate
            .begin(row.time.unwrap_or(arrival).min(arrival));
        let gathered = self.windows.entry((begin, row.topic.into())).or_default();
        self.bytes -= gathered.memory_bytes(row.topic);
        number
            .into_iter()
            .for_each(|number| gathered.window.add(number));
        gathered.sample = batch.only(index);
        self.bytes += gathered.memory_bytes(row.topic);
        while !self.has_room()
            && let Some((begin, gathered)) = self.pop()
        {
            push(self.aggregate.function, &mut self.early, begin, &gathered);
        }
    }

    /// Whether there may be as many windows as there are, and there is memory for them; half of all is left to
    /// messages.
    fn has_room(&mut self) -> bool {
        let may_grow = self.bytes <= self.room.bytes() || !self.memory.is_tight();
        self.windows.len() <= WINDOWS_MAX && may_grow && self.room.grow(&self.memory, self.bytes)
    }

    /// The oldest window.
    fn pop(&mut self) -> Option<(Time, Gathered)> {
        let ((begin, topic), gathered) = self.windows.pop_first()?;
        self.bytes -= gathered.memory_bytes(&topic);
        Some((begin, gathered))
    }

    /// End of the oldest window, Unix nanoseconds.
    pub(crate) fn next_close(&self) -> Option<i64> {
        if !self.early.is_empty() {
            return Some(i64::MIN);
        }
        let ((begin, _), _) = self.windows.first_key_value()?;
        Some(self.aggregate.end(*begin).nanos())
    }

    /// The windows that end at or before now, as one message.
    pub(crate) fn close(&mut self, now_nanos: i64) -> Option<Item> {
        let mut builder = std::mem::take(&mut self.early);
        while self.next_close().is_some_and(|end| end <= now_nanos) {
            let Some((begin, gathered)) = self.pop() else {
                break;
            };
            push(self.aggregate.function, &mut builder, begin, &gathered);
        }
        // It became less.
        let _has_room = self.has_room();
        let newest = self.newest.as_ref().filter(|_| !builder.is_empty())?;
        let Content::Observations { format, .. } = &newest.content else {
            return None;
        };
        let content = Content::Observations {
            batch: builder.finish(),
            format,
        };
        let (cursor, topic): (Cursor, _) = (newest.cursor, newest.topic.clone());
        let message = Message::new(cursor, newest.arrival, topic, content);
        Some(Item::all(Arc::new(message)))
    }
}

/// Adds the one observation that a window becomes.
fn push(function: Function, builder: &mut BatchBuilder, begin: Time, gathered: &Gathered) {
    let sample = gathered.sample.row(0);
    // Finite numbers may have a sum that is not.
    let number = gathered.window.value(function).filter(|it| it.is_finite());
    let last = function == Function::Last;
    let is_count = function == Function::Count;
    let row = Observation {
        naming: Naming::Topic,
        value: if last {
            sample.value
        } else {
            number.map_or(Value::Null, Value::Number)
        },
        time: if last { sample.time } else { Some(begin) },
        unit: sample.unit.filter(|_| !is_count),
        ..sample
    };
    // The sample was checked when its message was made.
    let _checked_before = builder.push(&row);
}
