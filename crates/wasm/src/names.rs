//! What a page knows of the datastreams it has met: their names, kept across messages.

use std::collections::HashMap;
use weir_model::batch::{Naming, StreamView};

/// Most datastreams kept; then the table begins anew.
const NAMES_MAX: usize = 65_536;
/// Marks a name that is not there.
const ABSENT: u32 = u32::MAX;

/// Datastreams by index; an index stands for the same one until the generation changes.
#[derive(Debug, Default)]
pub struct Names {
    texts: String,
    /// Start and length of topic, sensor, property and unit of each datastream.
    spans: Vec<[u32; 8]>,
    known: HashMap<Box<str>, u32>,
    /// Of the message read last: the index of each of its datastreams.
    last: Vec<u32>,
    key: String,
    generation: u32,
}

impl Names {
    /// Number of datastreams.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Says whether none was met.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    pub(crate) fn spans(&self) -> &[[u32; 8]] {
        &self.spans
    }

    pub(crate) fn texts(&self) -> &str {
        &self.texts
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation
    }

    /// The indices of so many datastreams; `sent_to` stands in where one has no topic.
    pub(crate) fn intern<'a>(
        &mut self,
        count: usize,
        stream: impl Fn(usize) -> StreamView<'a>,
        sent_to: &str,
    ) -> &[u32] {
        if self.spans.len() + count > NAMES_MAX {
            self.begin_anew();
        }
        self.last.resize(count, ABSENT);
        for index in 0..count {
            let stream = stream(index);
            write_key(&mut self.key, &stream, sent_to);
            if !self.is(self.last[index], &stream) {
                self.last[index] = self.lookup(&stream);
            }
        }
        &self.last
    }

    /// Texts of a datastream: topic, sensor, property, unit.
    pub fn get(&self, index: u32) -> [Option<&str>; 4] {
        let spans = &self.spans[index as usize];
        std::array::from_fn(|part| {
            let (start, length) = (spans[2 * part], spans[2 * part + 1]);
            (start != ABSENT).then(|| &self.texts[start as usize..start as usize + length as usize])
        })
    }

    fn begin_anew(&mut self) {
        *self = Self {
            generation: self.generation + 1,
            ..Self::default()
        };
    }

    /// Says whether the datastream with this index is the one whose key was just written.
    fn is(&self, index: u32, stream: &StreamView<'_>) -> bool {
        if index == ABSENT {
            return false;
        }
        let [topic, sensor, property, unit] = self.get(index);
        topic == Some(self.topic_of_key())
            && (sensor, property, unit) == (stream.sensor, stream.property, stream.unit)
    }

    fn topic_of_key(&self) -> &str {
        self.key.split('\0').next().unwrap_or_default()
    }

    fn lookup(&mut self, stream: &StreamView<'_>) -> u32 {
        if let Some(&index) = self.known.get(self.key.as_str()) {
            return index;
        }
        let index = self.spans.len() as u32;
        let topic = self.topic_of_key().to_owned();
        let parts = [
            Some(topic.as_str()),
            stream.sensor,
            stream.property,
            stream.unit,
        ];
        let mut spans = [ABSENT; 8];
        for (part, text) in parts.into_iter().enumerate() {
            let Some(text) = text else { continue };
            spans[2 * part] = self.texts.len() as u32;
            spans[2 * part + 1] = text.len() as u32;
            self.texts.push_str(text);
        }
        self.spans.push(spans);
        self.known.insert(self.key.as_str().into(), index);
        index
    }
}

/// Topic and names, told apart by a character that no topic holds.
fn write_key(key: &mut String, stream: &StreamView<'_>, sent_to: &str) {
    key.clear();
    match stream.naming {
        Naming::Sent => key.push_str(sent_to),
        Naming::Name if stream.topic.is_empty() => key.push_str(sent_to),
        Naming::Topic | Naming::Name => key.push_str(stream.topic),
        Naming::Below => {
            key.push_str(sent_to);
            key.push('/');
            key.push_str(stream.topic);
        }
    }
    for part in [stream.sensor, stream.property, stream.unit] {
        key.push('\0');
        if let Some(text) = part {
            key.push('\u{1}');
            key.push_str(text);
        }
    }
}
