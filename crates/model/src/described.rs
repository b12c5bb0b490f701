//! Parts of a batch and the descriptions of their datastreams: which they were made under, and what those say.

use crate::batch::{Bag, Batch, NO_TIME, Span, Stream};
use crate::builder::BatchError;
use crate::datastream::Datastream;
use crate::time::Time;

impl Batch {
    /// Says under which description of its datastream a part was made.
    pub fn describe(&mut self, index: usize, number: u8) {
        self.streams[index].description = number;
    }

    /// Has each of a part's `rows` made under the description that `number` gives for its time: those of one become a
    /// part of their own, behind all others.
    pub fn describe_rows(&mut self, index: usize, rows: &[u32], number: impl Fn(i64) -> u8) {
        let part = self.streams[index];
        let (mut of_number, mut is_first) = ([None; 256], true);
        for &row in rows {
            let description = number(self.time[row as usize]);
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
            self.stream[row as usize] = *at as u32;
        }
    }

    /// The earliest time of a part's rows.
    pub fn begin_of(&self, index: usize) -> Option<Time> {
        let rows = self.stream.iter().zip(&self.time);
        let own = rows.filter(|(stream, _)| **stream as usize == index);
        let first = own.map(|(_, &time)| time).filter(|time| *time != NO_TIME);
        first.min().map(Time::from_nanos)
    }

    /// Refuses an observation that, or whose validity, ends before it begins.
    pub fn check_periods(&self) -> Result<(), BatchError> {
        for bag in &self.bags {
            let row = bag.row as usize;
            let observed = self.time(row).zip(bag.end);
            let mut periods = observed.into_iter().chain(bag.valid);
            if let Some((begin, end)) = periods.find(|(begin, end)| end < begin) {
                let topic = self.stream(self.stream_of(row)).topic.into();
                return Err(BatchError::Period { topic, begin, end });
            }
        }
        Ok(())
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

    /// Has each row of a part that names no feature name that which `feature` gives for its time.
    pub fn name_features<'f>(&mut self, index: usize, feature: impl Fn(Time) -> &'f str) {
        let mut before = core::mem::take(&mut self.bags).into_iter().peekable();
        let mut last: Option<(&str, Span)> = None;
        for row in 0..self.stream.len() {
            let own = before.next_if(|bag| bag.row as usize == row);
            let time = Time::from_nanos(self.time[row]);
            let is_meant = self.stream[row] as usize == index && self.time[row] != NO_TIME;
            if !is_meant || own.as_ref().is_some_and(|bag| !bag.feature.is_none()) {
                self.bags.extend(own);
                continue;
            }
            let named = feature(time);
            let span = match last {
                Some((text, span)) if text == named => span,
                _ => Span::append(&mut self.texts, named),
            };
            last = Some((named, span));
            let own = own.unwrap_or(Bag::empty(row as u32));
            self.bags.push(Bag {
                feature: span,
                ..own
            });
        }
    }

    /// Has the numbers of a part be of no unit: they count something.
    pub fn without_unit(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        (stream.unit, stream.own_unit) = (Span::NONE, Span::NONE);
    }

    /// Says of which unit the numbers of a part are.
    pub fn set_unit(&mut self, index: usize, unit: &str) {
        self.streams[index].unit = Span::append(&mut self.names, unit);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::batch::{Extra, Naming};
    use crate::{BatchBuilder, Time, Value};

    #[test]
    fn rows_that_name_no_feature_name_that_of_their_time() {
        let mut builder = BatchBuilder::new();
        for (topic, second, extra) in [
            ("a", 1, Extra::default()),
            ("b", 2, Extra::default()),
            (
                "a",
                3,
                Extra {
                    feature: Some("own"),
                    ..Extra::default()
                },
            ),
            (
                "a",
                4,
                Extra {
                    quality: Some("good"),
                    ..Extra::default()
                },
            ),
        ] {
            builder.begin();
            builder.topic(Naming::Topic, topic);
            builder.value(Value::Number(1.0));
            builder.time(Time::from_nanos(second));
            builder.extra(extra);
            builder.end().unwrap();
        }
        let mut batch = builder.finish();
        let early = Time::from_nanos(3);
        batch.name_features(0, |time| if time < early { "home" } else { "away" });
        let named = |row| batch.extra(row).feature;
        assert_eq!(
            [0, 1, 2, 3].map(named),
            [Some("home"), None, Some("own"), Some("away")]
        );
        assert_eq!(batch.extra(3).quality, Some("good"));
    }
}
