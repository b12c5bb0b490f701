//! FlatBuffers read, every offset checked.

use crate::error::DecodeError;

/// The metadata of one message: the bytes up to their end, and where they begin.
#[derive(Clone, Copy)]
pub(super) struct Flat<'a> {
    bytes: &'a [u8],
    start: usize,
}

/// A table and the table of its fields' places.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    flat: Flat<'a>,
    pub(super) at: usize,
    places: usize,
    places_len: usize,
}

/// A vector: where its first item stands, and how many there are.
#[derive(Clone, Copy)]
pub(super) struct Vector<'a> {
    flat: Flat<'a>,
    pub(super) first: usize,
    pub(super) len: usize,
}

impl<'a> Flat<'a> {
    /// The metadata in `bytes` from `start` on.
    pub(super) fn root(bytes: &'a [u8], start: usize) -> Result<Table<'a>, DecodeError> {
        let flat = Self { bytes, start };
        flat.table(flat.target(start)?)
    }

    fn get<const N: usize>(self, at: usize) -> Result<[u8; N], DecodeError> {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        let inside = bytes.filter(|_| at >= self.start);
        inside.copied().ok_or_else(|| self.outside(at))
    }

    /// What points out of the metadata; its place is that of the metadata where it lies nowhere.
    fn outside(self, at: usize) -> DecodeError {
        let at = if at < self.bytes.len() {
            at
        } else {
            self.start
        };
        DecodeError::expected(at, "an offset within the metadata")
    }

    /// What the link at `at` points to.
    fn target(self, at: usize) -> Result<usize, DecodeError> {
        let offset = u32::from_le_bytes(self.get(at)?);
        let target = at.checked_add(offset as usize);
        target
            .filter(|&target| target < self.bytes.len())
            .ok_or_else(|| self.outside(at))
    }

    fn table(self, at: usize) -> Result<Table<'a>, DecodeError> {
        let back = i32::from_le_bytes(self.get(at)?);
        let places = (at as i64).checked_sub(i64::from(back));
        let places = places.and_then(|places| usize::try_from(places).ok());
        let places = places.ok_or_else(|| self.outside(at))?;
        let places_len = usize::from(u16::from_le_bytes(self.get(places)?));
        Ok(Table {
            flat: self,
            at,
            places,
            places_len,
        })
    }
}

impl<'a> Table<'a> {
    fn field(&self, slot: usize) -> Result<Option<usize>, DecodeError> {
        let place = 4 + 2 * slot;
        if place + 2 > self.places_len {
            return Ok(None);
        }
        let offset = u16::from_le_bytes(self.flat.get(self.places + place)?);
        Ok(Some(self.at + usize::from(offset)).filter(|_| offset > 0))
    }

    pub(super) fn byte(&self, slot: usize) -> Result<u8, DecodeError> {
        let at = self.field(slot)?;
        at.map_or(Ok([0]), |at| self.flat.get(at))
            .map(|[byte]| byte)
    }

    pub(super) fn short(&self, slot: usize) -> Result<i16, DecodeError> {
        let at = self.field(slot)?;
        at.map_or(Ok([0; 2]), |at| self.flat.get(at))
            .map(i16::from_le_bytes)
    }

    pub(super) fn int(&self, slot: usize) -> Result<i32, DecodeError> {
        let at = self.field(slot)?;
        at.map_or(Ok([0; 4]), |at| self.flat.get(at))
            .map(i32::from_le_bytes)
    }

    pub(super) fn long(&self, slot: usize) -> Result<i64, DecodeError> {
        let at = self.field(slot)?;
        at.map_or(Ok([0; 8]), |at| self.flat.get(at))
            .map(i64::from_le_bytes)
    }

    /// The table that a field points to.
    pub(super) fn table(&self, slot: usize) -> Result<Option<Table<'a>>, DecodeError> {
        let Some(at) = self.field(slot)? else {
            return Ok(None);
        };
        self.flat.table(self.flat.target(at)?).map(Some)
    }

    /// The table that a field must point to.
    pub(super) fn need(&self, slot: usize, what: &'static str) -> Result<Table<'a>, DecodeError> {
        let table = self.table(slot)?;
        table.ok_or_else(|| DecodeError::expected(self.at, what))
    }

    pub(super) fn string(&self, slot: usize) -> Result<&'a str, DecodeError> {
        let Some(vector) = self.vector(slot, 1)? else {
            return Ok("");
        };
        let bytes = &self.flat.bytes[vector.first..vector.first + vector.len];
        let wrong = |at: usize| DecodeError::expected(vector.first + at, "UTF-8");
        core::str::from_utf8(bytes).map_err(|error| wrong(error.valid_up_to()))
    }

    /// A vector of items of this many bytes.
    pub(super) fn vector(
        &self,
        slot: usize,
        width: usize,
    ) -> Result<Option<Vector<'a>>, DecodeError> {
        let Some(at) = self.field(slot)? else {
            return Ok(None);
        };
        let at = self.flat.target(at)?;
        let len = u32::from_le_bytes(self.flat.get(at)?) as usize;
        let end = len
            .checked_mul(width)
            .and_then(|bytes| bytes.checked_add(at + 4));
        match end {
            Some(end) if end <= self.flat.bytes.len() => Ok(Some(Vector {
                flat: self.flat,
                first: at + 4,
                len,
            })),
            _ => Err(self.flat.outside(at)),
        }
    }
}

impl<'a> Vector<'a> {
    /// The table that the item with this index points to.
    pub(super) fn table(&self, index: usize) -> Result<Table<'a>, DecodeError> {
        self.flat.table(self.flat.target(self.first + index * 4)?)
    }

    /// Two longs, which is what nodes and buffers are.
    pub(super) fn pair(&self, index: usize) -> Result<(i64, i64), DecodeError> {
        if index >= self.len {
            return Err(DecodeError::expected(
                self.first,
                "as many nodes and buffers as columns need",
            ));
        }
        let at = self.first + index * 16;
        let first = i64::from_le_bytes(self.flat.get(at)?);
        Ok((first, i64::from_le_bytes(self.flat.get(at + 8)?)))
    }
}
