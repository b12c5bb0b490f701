//! Which small chunks become one, and the one that they become.
//!
//! Chunks of about one size (a power of eight of rows) that follow each other are merged when there
//! are eight, so that a row is written again about three times until its chunk is full.

use crate::block::Rows;
use crate::limits::{CHUNK_BYTES, CHUNK_ROWS, CHUNK_TEXT_BYTES, MERGE_FAN, MERGES_MAX};
use crate::state::{Body, Part, State, Stream};
use std::sync::Arc;

/// Chunks of one stream that follow each other.
pub(crate) struct Run {
    pub(crate) number: u32,
    pub(crate) parts: Vec<Part>,
}

/// What becomes of a run.
pub(crate) enum Merged {
    /// Chunks under orders of those they replace, and their rows.
    Chunks(Vec<(Part, Rows)>),
    /// These are left as they are: with texts too long for one chunk, however short they are when packed, or
    /// damaged.
    Apart(Vec<u64>),
}

/// Runs worth merging.
pub(crate) fn find(state: &State) -> Vec<Run> {
    let numbered = state.streams.iter().enumerate();
    let runs = numbered.filter_map(|(number, stream)| {
        let parts = run_of(stream.as_ref()?)?.to_vec();
        Some(Run {
            number: number as u32,
            parts,
        })
    });
    runs.take(MERGES_MAX).collect()
}

fn run_of(stream: &Stream) -> Option<&[Part]> {
    let stored = stream
        .parts
        .partition_point(|part| matches!(part.body, Body::Stored { .. }));
    let stored = &stream.parts[..stored];
    // The newest are smallest: look from the end for eight of one size.
    let mut end = stored.len();
    while end >= MERGE_FAN {
        let Some(size) = size_class(&stored[end - 1]) else {
            end -= 1;
            continue;
        };
        let same = stored[..end]
            .iter()
            .rev()
            .take_while(|part| size_class(part) == Some(size));
        let count = same.count();
        if count >= MERGE_FAN {
            return Some(&stored[end - count..end]);
        }
        end -= count;
    }
    None
}

/// The power of eight of its rows; `None` where it is large enough.
fn size_class(part: &Part) -> Option<u32> {
    let len = part.meta().map_or(0, |meta| meta.len);
    let small = (part.rows as usize) < CHUNK_ROWS / 2 && len < CHUNK_BYTES && !part.is_long;
    small.then(|| part.rows.max(1).ilog2() / 3)
}

/// Reads a run, of which there is never more in memory than a chunk and the part that is too much for it.
pub(crate) fn merged(run: &Run) -> Merged {
    let mut all = Rows::default();
    let mut long = Vec::new();
    for part in &run.parts {
        // Who reads it is told which it is.
        let Ok(rows) = part.body.load() else {
            return Merged::Apart(vec![part.order]);
        };
        if rows.texts.len() > CHUNK_TEXT_BYTES / MERGE_FAN {
            long.push(part.order);
        }
        if all.texts.len() + rows.texts.len() > CHUNK_TEXT_BYTES {
            return Merged::Apart(long);
        }
        (0..rows.len()).for_each(|row| all.push_row(&rows, row));
    }
    Merged::Chunks(split(run, all))
}

fn split(run: &Run, all: Rows) -> Vec<(Part, Rows)> {
    let all = all.sorted();
    let count = all.len().div_ceil(CHUNK_ROWS).min(run.parts.len());
    let each = all.len().div_ceil(count.max(1));
    let mut merged = Vec::with_capacity(count);
    for (index, old) in run.parts.iter().enumerate().take(count) {
        let mut rows = Rows::default();
        (index * each..all.len().min((index + 1) * each)).for_each(|row| rows.push_row(&all, row));
        let part = Part {
            order: old.order,
            rows: rows.len() as u32,
            first: rows.times.first().copied().unwrap_or_default(),
            last: rows.times.last().copied().unwrap_or_default(),
            body: Body::Rows(Arc::default()),
            is_long: false,
            spans: None,
        };
        merged.push((part, rows));
    }
    merged
}
