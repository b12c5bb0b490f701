//! The types of section 4.2.5, read where they lie.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Tables within tables; no broker's own are deeper.
const DEPTH_MAX: u8 = 16;

/// What is wrong with bytes, and where in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Bytes before it.
    pub offset: usize,
    /// The rule that they break.
    pub rule: &'static str,
}

impl Fault {
    pub(super) fn new(offset: usize, rule: &'static str) -> Self {
        Self { offset, rule }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (byte {})", self.rule, self.offset)
    }
}

/// Reads a payload from front to back.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(super) fn fault(&self, rule: &'static str) -> Fault {
        Fault::new(self.at, rule)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let left = &self.bytes[self.at..];
        if left.len() < length {
            return Err(Fault::new(self.bytes.len(), "a frame ends inside a field"));
        }
        self.at += length;
        Ok(&left[..length])
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Fault> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn u16(&mut self) -> Result<u16, Fault> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        self.array().map(u32::from_be_bytes)
    }

    pub(super) fn u64(&mut self) -> Result<u64, Fault> {
        self.array().map(u64::from_be_bytes)
    }

    /// A short string; what is no UTF-8 in it is replaced, since section 4.2.5.3 asks for none.
    pub(super) fn short(&mut self) -> Result<String, Fault> {
        let length = self.u8()?;
        let bytes = self.take(length.into())?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    pub(super) fn long(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.u32()?;
        self.take(length as usize)
    }

    /// The entries of a table that are texts, numbers or truths, as texts; others are passed by.
    pub(super) fn table(&mut self) -> Result<Vec<(String, String)>, Fault> {
        let mut entries = Vec::new();
        let mut inner = Reader::new(self.long()?);
        while inner.at < inner.bytes.len() {
            let name = inner.short()?;
            if let Some(text) = inner.value(0)? {
                entries.push((name, text));
            }
        }
        Ok(entries)
    }

    /// A value by the letters that brokers use (those of Qpid and RabbitMQ, which differ from section
    /// 4.2.1's in `s`, `l` and `L`).
    fn value(&mut self, depth: u8) -> Result<Option<String>, Fault> {
        use alloc::string::ToString;
        if depth > DEPTH_MAX {
            return Err(self.fault("tables stand too deep in each other"));
        }
        Ok(match self.u8()? {
            b't' => Some((self.u8()? != 0).to_string()),
            b'b' => Some((self.u8()? as i8).to_string()),
            b'B' => Some(self.u8()?.to_string()),
            b's' => Some((self.u16()? as i16).to_string()),
            b'u' => Some(self.u16()?.to_string()),
            b'I' => Some((self.u32()? as i32).to_string()),
            b'i' => Some(self.u32()?.to_string()),
            b'l' => Some((self.u64()? as i64).to_string()),
            b'T' => Some(self.u64()?.to_string()),
            b'f' => Some(f32::from_bits(self.u32()?).to_string()),
            b'd' => Some(f64::from_bits(self.u64()?).to_string()),
            b'S' => Some(String::from_utf8_lossy(self.long()?).into_owned()),
            b'D' => self.take(5).map(|_| None)?,
            b'x' => self.long().map(|_| None)?,
            b'V' => None,
            b'A' | b'F' => self.nested(depth)?,
            _ => return Err(self.fault("a table holds a value of an unknown type")),
        })
    }

    /// Passes an array or a table by, once it is known to be whole.
    fn nested(&mut self, depth: u8) -> Result<Option<String>, Fault> {
        let is_table = self.bytes[self.at - 1] == b'F';
        let mut inner = Reader::new(self.long()?);
        while inner.at < inner.bytes.len() {
            if is_table {
                inner.short()?;
            }
            inner.value(depth + 1)?;
        }
        Ok(None)
    }
}
