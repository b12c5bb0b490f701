//! The buffers of a record batch, checked, and their items.

use super::flat_read::{Table, Vector};
use super::schema_read::{Field, Kind};
use crate::error::DecodeError;
use crate::syntax::Exact;
use weir_model::Limits;

/// What lies behind a message's metadata.
#[derive(Clone, Copy)]
pub(super) struct BodyBytes<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A run of bytes of a message.
#[derive(Clone, Copy, Debug, Default)]
struct Buffer {
    at: usize,
    len: usize,
}

/// The items of one column, or of a dictionary.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Items {
    rows: usize,
    kind: Kind,
    /// Which are not null; empty where all are there.
    valid: Buffer,
    /// Items, or where texts end.
    first: Buffer,
    /// Texts.
    second: Buffer,
}

/// The lists of a record batch's metadata, taken from the front.
pub(super) struct Record<'a> {
    pub(super) rows: usize,
    nodes: Vector<'a>,
    buffers: Vector<'a>,
    node: usize,
    buffer: usize,
    body: BodyBytes<'a>,
}

impl<'a> Record<'a> {
    pub(super) fn new(record: &Table<'a>, body: BodyBytes<'a>) -> Result<Self, DecodeError> {
        if record.table(3)?.is_some() {
            return Err(DecodeError::expected(
                record.at,
                "a body without compression",
            ));
        }
        let rows = usize::try_from(record.long(0)?);
        let what = "a number of rows that is not negative";
        let rows = rows.map_err(|_| DecodeError::expected(record.at, what))?;
        let missing = || DecodeError::expected(record.at, "nodes and buffers");
        Ok(Self {
            rows,
            nodes: record.vector(1, 16)?.ok_or_else(missing)?,
            buffers: record.vector(2, 16)?.ok_or_else(missing)?,
            node: 0,
            buffer: 0,
            body,
        })
    }

    fn buffer(&mut self) -> Result<Buffer, DecodeError> {
        let place = self.buffers.first + self.buffer * 16;
        let (offset, len) = self.buffers.pair(self.buffer)?;
        self.buffer += 1;
        let within = || {
            let at = self.body.start.checked_add(usize::try_from(offset).ok()?)?;
            let len = usize::try_from(len).ok()?;
            let end = at.checked_add(len)?;
            (end <= self.body.end).then_some(Buffer { at, len })
        };
        within().ok_or_else(|| DecodeError::expected(place, "a buffer within the body"))
    }

    /// Passes a column over.
    pub(super) fn pass(&mut self, field: &Field) {
        self.node += field.nodes;
        self.buffer += field.buffers;
    }

    /// The items of the next column.
    pub(super) fn items(&mut self, kind: Kind) -> Result<Items, DecodeError> {
        let place = self.nodes.first + self.node * 16;
        let (rows, _nulls) = self.nodes.pair(self.node)?;
        self.node += 1;
        if usize::try_from(rows) != Ok(self.rows) {
            return Err(DecodeError::expected(place, "as many items as rows"));
        }
        let mut items = Items {
            rows: self.rows,
            kind,
            ..Items::default()
        };
        if kind == Kind::Null {
            return Ok(items);
        }
        items.valid = self.buffer()?;
        items.first = self.buffer()?;
        if matches!(kind, Kind::Text(_)) {
            items.second = self.buffer()?;
        }
        items.check(place)?;
        Ok(items)
    }
}

impl Items {
    /// Refuses buffers that are too short for the rows.
    fn check(&self, place: usize) -> Result<(), DecodeError> {
        let rows = self.rows;
        let valid = self.valid.len == 0 || self.valid.len >= rows.div_ceil(8);
        let need = match self.kind {
            Kind::Bool => Some(rows.div_ceil(8)),
            Kind::Int(width, _) => rows.checked_mul(usize::from(width)),
            Kind::Single => rows.checked_mul(4),
            // No offset is needed where there is no text.
            Kind::Text(_) if rows == 0 => Some(0),
            Kind::Text(false) => rows.checked_add(1).and_then(|ends| ends.checked_mul(4)),
            Kind::Text(true) => rows.checked_add(1).and_then(|ends| ends.checked_mul(8)),
            _ => rows.checked_mul(8),
        };
        if valid && need.is_some_and(|need| self.first.len >= need) {
            Ok(())
        } else {
            Err(DecodeError::expected(
                place,
                "buffers as long as the rows need",
            ))
        }
    }

    /// Number of items.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Says whether the item is there; those beyond the end are not.
    pub(super) fn is_there(&self, row: usize, bytes: &[u8]) -> bool {
        if row >= self.rows || self.kind == Kind::Null {
            return false;
        }
        self.valid.len == 0 || bit(&self.valid, row, bytes)
    }

    fn bytes<const N: usize>(&self, row: usize, bytes: &[u8]) -> [u8; N] {
        let found = bytes.get(self.first.at + row * N..);
        found
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or([0; N])
    }

    /// Where the item stands.
    pub(super) fn at(&self, row: usize) -> usize {
        let width = match self.kind {
            Kind::Int(width, _) => usize::from(width),
            Kind::Single | Kind::Text(false) => 4,
            Kind::Bool | Kind::Null => 0,
            _ => 8,
        };
        self.first.at + row * width
    }

    pub(super) fn truth(&self, row: usize, bytes: &[u8]) -> bool {
        bit(&self.first, row, bytes)
    }

    pub(super) fn long(&self, row: usize, bytes: &[u8]) -> i64 {
        match self.kind {
            Kind::Int(1, true) => i64::from(i8::from_le_bytes(self.bytes(row, bytes))),
            Kind::Int(1, false) => i64::from(u8::from_le_bytes(self.bytes(row, bytes))),
            Kind::Int(2, true) => i64::from(i16::from_le_bytes(self.bytes(row, bytes))),
            Kind::Int(2, false) => i64::from(u16::from_le_bytes(self.bytes(row, bytes))),
            Kind::Int(4, true) => i64::from(i32::from_le_bytes(self.bytes(row, bytes))),
            Kind::Int(4, false) => i64::from(u32::from_le_bytes(self.bytes(row, bytes))),
            _ => i64::from_le_bytes(self.bytes(row, bytes)),
        }
    }

    pub(super) fn double(&self, row: usize, bytes: &[u8]) -> f64 {
        match self.kind {
            Kind::Double => f64::from_le_bytes(self.bytes(row, bytes)),
            Kind::Single => f64::from(f32::from_le_bytes(self.bytes(row, bytes))),
            _ => self.exact(row, bytes).nearest(),
        }
    }

    /// An item that is an integer.
    pub(super) fn exact(&self, row: usize, bytes: &[u8]) -> Exact {
        let long = self.long(row, bytes);
        Exact::Whole(match self.kind {
            Kind::Int(8, false) => i128::from(long as u64),
            _ => i128::from(long),
        })
    }

    /// The text of an item, within the limits.
    pub(super) fn text<'a>(
        &self,
        row: usize,
        bytes: &'a [u8],
        limits: &Limits,
    ) -> Result<&'a str, DecodeError> {
        let ends = match self.kind {
            Kind::Text(true) => {
                [row, row + 1].map(|row| i64::from_le_bytes(self.bytes(row, bytes)))
            }
            _ => [row, row + 1].map(|row| i64::from(i32::from_le_bytes(self.bytes(row, bytes)))),
        };
        let what = "offsets of a text within its buffer";
        let wrong = DecodeError::expected(self.at(row), what);
        let [Ok(from), Ok(to)] = ends.map(usize::try_from) else {
            return Err(wrong);
        };
        if from > to || to > self.second.len {
            return Err(wrong);
        }
        let at = self.second.at + from;
        if to - from > limits.text_bytes {
            return Err(DecodeError::over(
                at,
                "bytes of a string",
                limits.text_bytes,
            ));
        }
        core::str::from_utf8(&bytes[at..self.second.at + to])
            .map_err(|error| DecodeError::expected(at + error.valid_up_to(), "UTF-8"))
    }
}

fn bit(buffer: &Buffer, row: usize, bytes: &[u8]) -> bool {
    let byte = bytes
        .get(buffer.at + row / 8)
        .filter(|_| row / 8 < buffer.len);
    byte.is_some_and(|byte| byte >> (row % 8) & 1 == 1)
}
