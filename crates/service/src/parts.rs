//! A message as protocols of topics deliver it: whole, or a part a datastream.

use bytes::Bytes;
use std::sync::Arc;
use weir_codec::{Format, by_name};
use weir_hub::{Content, Item, Message};
use weir_model::Batch;

/// One delivery to be.
#[derive(Clone, Debug)]
pub struct Part {
    /// The topic that it is delivered at.
    pub topic: Arc<str>,
    /// What is delivered.
    pub payload: Bytes,
    /// What that is written in; none of bytes that are none of the formats.
    pub format: Option<&'static Format>,
}

/// A message as published, or a part a datastream where only some are wanted.
pub fn parts_as_published(item: &Item) -> Vec<Part> {
    if item.whole {
        return vec![as_published(&item.message)];
    }
    match format_of(&item.message) {
        Some(format) => each_datastream(item, format),
        None => Vec::new(),
    }
}

/// A message in a format: one part where `one` says so of the topic that it was published at, else one a
/// datastream.
pub fn parts_in(item: &Item, format: &'static Format, one: impl FnOnce(&str) -> bool) -> Vec<Part> {
    let message = &item.message;
    match message.batch() {
        // An opaque retained message is what it is.
        None if item.whole => vec![as_published(message)],
        None => Vec::new(),
        Some(_) if one(&message.topic) => vec![Part {
            topic: message.topic.clone(),
            payload: item.encoded(format),
            format: Some(format),
        }],
        Some(_) => each_datastream(item, format),
    }
}

fn as_published(message: &Message) -> Part {
    let format = match &message.content {
        Content::Observations { format, .. } => Some(*format),
        Content::Opaque(_) => None,
    };
    Part {
        topic: message.topic.clone(),
        payload: message.body.clone(),
        format,
    }
}

fn each_datastream(item: &Item, format: &'static Format) -> Vec<Part> {
    let batches = item.datastreams();
    let part = |batch: &Batch| {
        let mut out = Vec::new();
        (format.encode)(batch, &mut out);
        Part {
            topic: batch.stream(0).topic.into(),
            payload: out.into(),
            format: Some(format),
        }
    };
    batches.iter().map(part).collect()
}

/// What a part of a message is encoded in: what the whole was, or bare values where it was a bare value
/// or a flat object of which nobody said what it is.
fn format_of(message: &Message) -> Option<&'static Format> {
    let Content::Observations { format, .. } = &message.content else {
        return None;
    };
    let is_bare = format.is_bare.filter(|_| !message.declared);
    if is_bare.is_some_and(|is_bare| is_bare(&message.body)) {
        by_name("plain")
    } else {
        Some(format)
    }
}
