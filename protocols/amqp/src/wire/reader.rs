//! The encodings of part 1, read where they lie.

use super::condition::{Condition, Fault};
use super::value::{Map, Symbol, Value};
use crate::limits::{DEPTH_MAX, VALUES_MAX};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// Reads values from front to back; offsets count from the first byte of the frame or message.
#[derive(Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    base: usize,
    /// Values that may still be made.
    left: u32,
}

/// A type that a field may have.
pub trait Decode: Sized {
    /// Reads one value.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault>;
}

/// The constructor of null.
const NULL: u8 = 0x40;

impl<'a> Reader<'a> {
    /// A reader of bytes that stand so far behind the first.
    pub fn new(bytes: &'a [u8], base: usize) -> Self {
        Self {
            bytes,
            at: 0,
            base,
            left: VALUES_MAX,
        }
    }

    /// The offset of the next byte.
    pub fn offset(&self) -> usize {
        self.base + self.at
    }

    /// Says whether all is read.
    pub fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Bytes that were read.
    pub fn taken(&self) -> usize {
        self.at
    }

    pub(super) fn fault(&self, rule: &'static str) -> Fault {
        Fault::decode(self.offset(), rule)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let left = &self.bytes[self.at..];
        if left.len() < length {
            let end = self.base + self.bytes.len();
            return Err(Fault::decode(end, "it ends inside a value"));
        }
        self.at += length;
        Ok(&left[..length])
    }

    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(super) fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    fn u32(&mut self) -> Result<u32, Fault> {
        self.fixed().map(u32::from_be_bytes)
    }

    /// A length of one byte or of four.
    fn length(&mut self, wide: bool) -> Result<usize, Fault> {
        Ok(if wide {
            self.u32()? as usize
        } else {
            usize::from(self.u8()?)
        })
    }

    /// Says whether the next value is null, and then passes over it.
    pub fn is_null(&mut self) -> bool {
        let null = self.bytes.get(self.at) == Some(&NULL);
        self.at += usize::from(null);
        null
    }

    /// A value or null.
    pub fn optional<T: Decode>(&mut self) -> Result<Option<T>, Fault> {
        if self.is_null() {
            Ok(None)
        } else {
            T::decode(self).map(Some)
        }
    }

    /// The numeric descriptor of a described value (section 1.5), whose value comes next; the symbolic
    /// descriptors of the standard's types are known by their numbers.
    pub fn descriptor(&mut self) -> Result<u64, Fault> {
        let start = self.offset();
        if self.u8()? != 0 {
            return Err(Fault::decode(start, "a described type is expected"));
        }
        match self.value()? {
            Value::Ulong(code) => Ok(code),
            Value::Symbol(name) => {
                code_of(name.as_str()).ok_or(Fault::decode(start, "a descriptor that is not known"))
            }
            _ => Err(Fault::decode(start, "a descriptor is a number or a symbol")),
        }
    }

    /// The fields of a list: how many, and what reads them.
    pub(super) fn list(&mut self) -> Result<(Reader<'a>, u32), Fault> {
        let start = self.offset();
        match self.u8()? {
            0x45 => Ok((Reader::new(&[], self.offset()), 0)),
            code @ (0xc0 | 0xd0) => self.compound(code == 0xd0),
            _ => Err(Fault::decode(start, "a list is expected")),
        }
    }

    /// Size and count of a compound, and a reader of what is in it.
    fn compound(&mut self, wide: bool) -> Result<(Reader<'a>, u32), Fault> {
        let size = self.length(wide)?;
        let start = self.offset();
        let mut inside = Reader {
            bytes: self.take(size)?,
            at: 0,
            base: start,
            left: self.left,
        };
        let count = inside.length(wide)? as u32;
        Ok((inside, count))
    }

    /// Any value.
    pub fn value(&mut self) -> Result<Value, Fault> {
        self.value_at(DEPTH_MAX)
    }

    fn value_at(&mut self, depth: u8) -> Result<Value, Fault> {
        let start = self.offset();
        let spent = self.left.checked_sub(1);
        self.left = spent.ok_or(Fault::new(
            Condition::RESOURCE_LIMIT_EXCEEDED,
            start,
            "more values than are taken",
        ))?;
        let depth = depth
            .checked_sub(1)
            .ok_or(Fault::decode(start, "values nest too deep"))?;
        match self.u8()? {
            0 => {
                let descriptor = self.value_at(depth)?;
                let value = self.value_at(depth)?;
                Ok(Value::Described(Box::new((descriptor, value))))
            }
            code => self.of_code(code, depth, start),
        }
    }

    /// A value behind its constructor.
    fn of_code(&mut self, code: u8, depth: u8, start: usize) -> Result<Value, Fault> {
        // [AMQP-1.6-1]
        Ok(match code {
            NULL => Value::Null,
            0x41 => Value::Bool(true),
            0x42 => Value::Bool(false),
            0x56 => match self.u8()? {
                0 => Value::Bool(false),
                1 => Value::Bool(true),
                _ => return Err(Fault::decode(start, "a boolean is 0 or 1")),
            },
            0x45 => Value::List(Vec::new()),
            0xc0 | 0xd0 => Value::List(self.values(code == 0xd0, depth)?),
            0xc1 | 0xd1 => Value::Map(self.map(code == 0xd1, depth, start)?),
            0xe0 | 0xf0 => Value::Array(self.array(code == 0xf0, depth)?),
            0xa0 | 0xb0 => Value::Binary(Bytes::copy_from_slice(self.variable(code == 0xb0)?)),
            0xa1 | 0xb1 => Value::String(self.text(code == 0xb1)?.into()),
            0xa3 | 0xb3 => Value::Symbol(self.symbol(code == 0xb3)?),
            code => return self.number(code, start),
        })
    }

    /// A value of fixed width that is no boolean.
    fn number(&mut self, code: u8, start: usize) -> Result<Value, Fault> {
        Ok(match code {
            0x50 => Value::Ubyte(self.u8()?),
            0x60 => Value::Ushort(u16::from_be_bytes(self.fixed()?)),
            0x70 => Value::Uint(self.u32()?),
            0x52 => Value::Uint(u32::from(self.u8()?)),
            0x43 => Value::Uint(0),
            0x80 => Value::Ulong(u64::from_be_bytes(self.fixed()?)),
            0x53 => Value::Ulong(u64::from(self.u8()?)),
            0x44 => Value::Ulong(0),
            0x51 => Value::Byte(self.u8()? as i8),
            0x61 => Value::Short(i16::from_be_bytes(self.fixed()?)),
            0x71 => Value::Int(i32::from_be_bytes(self.fixed()?)),
            0x54 => Value::Int(i32::from(self.u8()? as i8)),
            0x81 => Value::Long(i64::from_be_bytes(self.fixed()?)),
            0x55 => Value::Long(i64::from(self.u8()? as i8)),
            0x72 => Value::Float(f32::from_be_bytes(self.fixed()?)),
            0x82 => Value::Double(f64::from_be_bytes(self.fixed()?)),
            0x74 => Value::Decimal32(self.fixed()?),
            0x84 => Value::Decimal64(self.fixed()?),
            0x94 => Value::Decimal128(self.fixed()?),
            0x73 => Value::Char(
                char::from_u32(self.u32()?).ok_or(Fault::decode(start, "no character"))?,
            ),
            0x83 => Value::Timestamp(i64::from_be_bytes(self.fixed()?)),
            0x98 => Value::Uuid(self.fixed()?),
            _ => return Err(Fault::decode(start, "a constructor that is not known")),
        })
    }

    pub(super) fn variable(&mut self, wide: bool) -> Result<&'a [u8], Fault> {
        let length = self.length(wide)?;
        self.take(length)
    }

    fn text(&mut self, wide: bool) -> Result<&'a str, Fault> {
        let bytes = self.variable(wide)?;
        let start = self.offset() - bytes.len();
        core::str::from_utf8(bytes)
            .map_err(|error| Fault::decode(start + error.valid_up_to(), "not UTF-8"))
    }

    fn symbol(&mut self, wide: bool) -> Result<Symbol, Fault> {
        let text = self.text(wide)?;
        if text.is_ascii() {
            Ok(Symbol::from(String::from(text)))
        } else {
            Err(self.fault("a symbol that is not ASCII"))
        }
    }

    fn values(&mut self, wide: bool, depth: u8) -> Result<Vec<Value>, Fault> {
        let (mut inside, count) = self.compound(wide)?;
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(inside.value_at(depth)?);
        }
        inside.finish()?;
        self.left = inside.left;
        Ok(values)
    }

    fn map(&mut self, wide: bool, depth: u8, start: usize) -> Result<Map, Fault> {
        let mut values = self.values(wide, depth)?.into_iter();
        let mut pairs = Vec::with_capacity(values.len() / 2);
        while let Some(key) = values.next() {
            let value = values.next();
            pairs.push((
                key,
                value.ok_or(Fault::decode(start, "a map of a key without a value"))?,
            ));
        }
        Ok(Map(pairs))
    }

    /// Elements behind one constructor (section 1.6.24).
    fn array(&mut self, wide: bool, depth: u8) -> Result<Vec<Value>, Fault> {
        let (mut inside, count) = self.compound(wide)?;
        let start = inside.offset();
        let mut code = inside.u8()?;
        let mut descriptor = None;
        if code == 0 {
            descriptor = Some(inside.value_at(depth)?);
            code = inside.u8()?;
        }
        let depth = depth
            .checked_sub(1)
            .ok_or(Fault::decode(start, "values nest too deep"))?;
        let left = inside.left.checked_sub(count);
        inside.left = left.ok_or(Fault::new(
            Condition::RESOURCE_LIMIT_EXCEEDED,
            start,
            "more values than are taken",
        ))?;
        let mut values = Vec::new();
        for _ in 0..count {
            let value = inside.of_code(code, depth, start)?;
            values.push(match &descriptor {
                None => value,
                Some(descriptor) => Value::Described(Box::new((descriptor.clone(), value))),
            });
        }
        inside.finish()?;
        self.left = inside.left;
        Ok(values)
    }

    /// Refuses bytes behind the last value.
    pub fn finish(&self) -> Result<(), Fault> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.fault("more bytes than values"))
        }
    }
}

/// The number of a symbolic descriptor (sections 2.7, 2.8, 3.2, 3.4, 3.5, 5.3).
fn code_of(name: &str) -> Option<u64> {
    const NAMES: &[(&str, u64)] = &[
        ("amqp:open:list", 0x10),
        ("amqp:begin:list", 0x11),
        ("amqp:attach:list", 0x12),
        ("amqp:flow:list", 0x13),
        ("amqp:transfer:list", 0x14),
        ("amqp:disposition:list", 0x15),
        ("amqp:detach:list", 0x16),
        ("amqp:end:list", 0x17),
        ("amqp:close:list", 0x18),
        ("amqp:error:list", 0x1d),
        ("amqp:received:list", 0x23),
        ("amqp:accepted:list", 0x24),
        ("amqp:rejected:list", 0x25),
        ("amqp:released:list", 0x26),
        ("amqp:modified:list", 0x27),
        ("amqp:source:list", 0x28),
        ("amqp:target:list", 0x29),
        ("amqp:coordinator:list", 0x30),
        ("amqp:sasl-mechanisms:list", 0x40),
        ("amqp:sasl-init:list", 0x41),
        ("amqp:sasl-challenge:list", 0x42),
        ("amqp:sasl-response:list", 0x43),
        ("amqp:sasl-outcome:list", 0x44),
        ("amqp:header:list", 0x70),
        ("amqp:delivery-annotations:map", 0x71),
        ("amqp:message-annotations:map", 0x72),
        ("amqp:properties:list", 0x73),
        ("amqp:application-properties:map", 0x74),
        ("amqp:data:binary", 0x75),
        ("amqp:amqp-sequence:list", 0x76),
        ("amqp:amqp-value:*", 0x77),
        ("amqp:footer:map", 0x78),
    ];
    let found = NAMES.iter().find(|(known, _)| *known == name);
    found.map(|(_, code)| *code)
}

macro_rules! decode {
    ($($type:ty, $variant:pat => $value:expr, $rule:literal;)*) => { $(
        impl Decode for $type {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
                let start = reader.offset();
                match reader.value()? {
                    $variant => Ok($value),
                    _ => Err(Fault::decode(start, $rule)),
                }
            }
        }
    )* };
}

decode! {
    bool, Value::Bool(value) => value, "a boolean is expected";
    u8, Value::Ubyte(value) => value, "a ubyte is expected";
    u16, Value::Ushort(value) => value, "a ushort is expected";
    u32, Value::Uint(value) => value, "a uint is expected";
    u64, Value::Ulong(value) => value, "a ulong is expected";
    i64, Value::Timestamp(value) => value, "a timestamp is expected";
    String, Value::String(value) => value, "a string is expected";
    Symbol, Value::Symbol(value) => value, "a symbol is expected";
    Bytes, Value::Binary(value) => value, "bytes are expected";
    Map, Value::Map(value) => value, "a map is expected";
}

impl Decode for Value {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        reader.value()
    }
}

/// A field of which there may be several (section 1.4): none, one, or an array.
impl Decode for Vec<Symbol> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        let start = reader.offset();
        let symbol = |value| match value {
            Value::Symbol(symbol) => Ok(symbol),
            _ => Err(Fault::decode(start, "symbols are expected")),
        };
        match reader.value()? {
            Value::Null => Ok(Vec::new()),
            Value::Array(values) => values.into_iter().map(symbol).collect(),
            value => Ok(alloc::vec![symbol(value)?]),
        }
    }
}
