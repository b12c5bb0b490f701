//! `block`: bulk observations in compressed columns, chunk after chunk ([`crate::block`]).
//!
//! A message is any number of chunks, so that two messages joined are one and a chunk cut out is one
//! too. Beyond 256 observations the columns are gathered in memory of their own, once a message.
#![cfg(feature = "block")]

mod part;

use crate::block::few::Few;
use crate::block::{self, Chunk, Columns, Encoder};
use crate::error::DecodeError;
use crate::format::{Format, Reader};
use crate::rows::check_length;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::vec::Vec;
use part::Part;
use weir_model::batch::{Naming, StreamView};
use weir_model::{Batch, BatchBuilder, BatchError, KeptNames, Limits};

pub(crate) const FORMAT: Format = Format {
    reader: Some(|limits| Box::new(ChunkReader::new(limits))),
    ..Format::new("block", "application/vnd.weir.block", encode, decode)
};

/// A chunk has at least so many rows for each series, so that names do not count.
const ROWS_PER_SERIES: usize = 512;
/// And at most so many in all.
const ROWS_MAX: usize = 1 << 16;

pub(crate) fn encode(batch: &Batch, out: &mut Vec<u8>) {
    let rows = (batch.stream_count() * ROWS_PER_SERIES).clamp(block::CHUNK_ROWS, ROWS_MAX);
    let mut encoder = Encoder::default();
    let mut number_of = Few::<u32, 256>::default();
    for begin in (0..batch.len()).step_by(rows) {
        let end = batch.len().min(begin + rows);
        encoder.encode(&Part::of(batch, begin..end, &mut number_of), out);
    }
}

pub(crate) fn decode(
    bytes: &[u8],
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    check_length(bytes, limits)?;
    let mut columns = Columns::default();
    let mut left = *limits;
    let mut rest = bytes;
    loop {
        let at = bytes.len() - rest.len();
        let Some(chunk) = Chunk::take(&mut rest, at, &left)? else {
            return Ok(());
        };
        add(&chunk, &mut columns, out, &left)?;
        left.observations -= chunk.rows();
    }
}

/// Adds the observations of a chunk.
fn add(
    chunk: &Chunk<'_>,
    columns: &mut Columns,
    out: &mut BatchBuilder,
    limits: &Limits,
) -> Result<(), DecodeError> {
    columns.read(chunk, limits)?;
    let mut names = Few::<KeptNames, 64>::default();
    for index in 0..columns.series_count() {
        names.push(keep(columns.series(index), out));
    }
    let added = if columns.has_only_numbers() {
        add_numbers(columns, &mut names, out)
    } else {
        add_rows(columns, &names, out)
    };
    added.map_err(|error| DecodeError::meaning(chunk.begin(), error.to_string()))
}

fn add_numbers(
    columns: &Columns,
    names: &mut [KeptNames],
    out: &mut BatchBuilder,
) -> Result<(), BatchError> {
    let (times, numbers) = (columns.times(), columns.numbers());
    let Some(sizes) = columns.sizes() else {
        let rows = columns.order();
        let rows = rows.map(|(series, row)| (series, columns.time(row), numbers[row]));
        return out.extend_numbers(names, rows);
    };
    let mut begin = 0;
    for (&names, &size) in names.iter().zip(sizes) {
        let rows = begin..begin + size as usize;
        out.extend_series(names, &times[rows.clone()], &numbers[rows.clone()])?;
        begin = rows.end;
    }
    Ok(())
}

fn add_rows(
    columns: &Columns,
    names: &[KeptNames],
    out: &mut BatchBuilder,
) -> Result<(), BatchError> {
    for (series, row) in columns.order() {
        out.begin_as(names[series]);
        out.value(columns.value(row));
        if let Some(time) = columns.time(row) {
            out.time(time);
        }
        if let Some(place) = columns.place(row) {
            out.latitude(place.latitude);
            out.longitude(place.longitude);
        }
        if columns.has_extras() {
            out.extra(columns.extra(row));
        }
        out.end()?;
    }
    Ok(())
}

fn keep(series: StreamView<'_>, out: &mut BatchBuilder) -> KeptNames {
    out.begin();
    if series.naming != Naming::Sent {
        out.topic(series.naming, series.topic);
    }
    series.sensor.into_iter().for_each(|uri| out.sensor(uri));
    series
        .property
        .into_iter()
        .for_each(|name| out.property(name));
    series.unit.into_iter().for_each(|code| out.unit(code));
    out.keep()
}

/// Adds the observations of each chunk as soon as it is whole.
struct ChunkReader {
    columns: Columns,
    limits: Limits,
    left: usize,
    /// A chunk not yet whole, and where in the message it begins.
    bytes: Vec<u8>,
    begin: usize,
}

impl ChunkReader {
    fn new(limits: &Limits) -> Self {
        Self {
            columns: Columns::default(),
            limits: *limits,
            left: limits.observations,
            bytes: Vec::new(),
            begin: 0,
        }
    }

    fn add(&mut self, out: &mut BatchBuilder) -> Result<(), DecodeError> {
        let mut rest = &self.bytes[..];
        loop {
            let at = self.bytes.len() - rest.len();
            let len = block::chunk_len(rest, self.begin + at)?;
            if len.is_none_or(|len| rest.len() < len) {
                self.begin += at;
                self.bytes.drain(..at);
                return Ok(());
            }
            let limits = Limits {
                observations: self.left,
                ..self.limits
            };
            if let Some(chunk) = Chunk::take(&mut rest, self.begin + at, &limits)? {
                add(&chunk, &mut self.columns, out, &limits)?;
                self.left -= chunk.rows();
            }
        }
    }
}

impl Reader for ChunkReader {
    fn push(&mut self, piece: &[u8], out: &mut BatchBuilder) -> Result<(), DecodeError> {
        let limit = self.limits.message_bytes;
        if self.begin + self.bytes.len() + piece.len() > limit {
            return Err(DecodeError::over(limit, "bytes of a message", limit));
        }
        self.bytes.extend_from_slice(piece);
        self.add(out)
    }

    fn finish(&mut self, _out: &mut BatchBuilder) -> Result<(), DecodeError> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(DecodeError::truncated(self.begin + self.bytes.len()))
        }
    }
}
