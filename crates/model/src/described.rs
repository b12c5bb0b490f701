//! Parts of a batch and the descriptions of their datastreams: which they were made under, and what those say.

use crate::batch::{Batch, NO_TIME, Span, Stream};
use crate::datastream::Datastream;
use crate::time::Time;

impl Batch {
    /// Says under which description of its datastream a part was made.
    pub fn describe(&mut self, index: usize, number: u8) {
        self.streams[index].description = number;
    }

    /// Has each row of a part made under the description that `number` gives for its time: rows of one become a
    /// part of their own, behind all others.
    pub fn describe_rows(&mut self, index: usize, number: impl Fn(i64) -> u8) {
        let part = self.streams[index];
        let (mut of_number, mut is_first) = ([None; 256], true);
        for row in 0..self.stream.len() {
            if self.stream[row] as usize != index {
                continue;
            }
            let description = number(self.time[row]);
            let streams = &mut self.streams;
            let at = of_number[usize::from(description)].get_or_insert_with(|| {
                let part = Stream {
                    description,
                    ..part
                };
                if core::mem::take(&mut is_first) {
                    streams[index] = part;
                    return index;
                }
                streams.push(part);
                streams.len() - 1
            });
            self.stream[row] = *at as u32;
        }
    }

    /// The earliest time of a part's rows.
    pub fn begin_of(&self, index: usize) -> Option<Time> {
        let rows = self.stream.iter().zip(&self.time);
        let own = rows.filter(|(stream, _)| **stream as usize == index);
        let first = own.map(|(_, &time)| time).filter(|time| *time != NO_TIME);
        first.min().map(Time::from_nanos)
    }

    /// Fills in what is known of a datastream and the message left out.
    pub fn fill(&mut self, index: usize, known: &Datastream) {
        let says = known.described(self.streams[index].description);
        let names = &mut self.names;
        let stream = &mut self.streams[index];
        for (span, text) in [
            (&mut stream.sensor, says.sensor),
            (&mut stream.property, says.property),
            (&mut stream.unit, says.unit),
        ] {
            if let (true, Some(text)) = (span.is_none(), text) {
                *span = Span::append(names, text);
            }
        }
        if !known.descriptions.is_empty()
            && let Some(own) = known.unit.as_deref()
            && stream.unit.of(names) != Some(own)
        {
            stream.own_unit = Span::append(names, own);
        }
    }

    /// Says of which unit the numbers of a part are.
    pub fn set_unit(&mut self, index: usize, unit: &str) {
        self.streams[index].unit = Span::append(&mut self.names, unit);
    }
}
