//! The encodings of part 1, written as short as they go.

use super::value::{Map, Symbol, Value};
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;

/// A type that a field may have.
pub trait Encode {
    /// Appends the value with its constructor.
    fn encode(&self, out: &mut Vec<u8>);
}

impl<T: Encode> Encode for Option<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            None => out.push(0x40),
            Some(value) => value.encode(out),
        }
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }
}

impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(if *self { 0x41 } else { 0x42 });
    }
}

impl Encode for u8 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0x50, *self]);
    }
}

impl Encode for u16 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(0x60);
        out.extend_from_slice(&self.to_be_bytes());
    }
}

impl Encode for u32 {
    fn encode(&self, out: &mut Vec<u8>) {
        match u8::try_from(*self) {
            Ok(0) => out.push(0x43),
            Ok(small) => out.extend_from_slice(&[0x52, small]),
            Err(_) => {
                out.push(0x70);
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
    }
}

impl Encode for u64 {
    fn encode(&self, out: &mut Vec<u8>) {
        match u8::try_from(*self) {
            Ok(0) => out.push(0x44),
            Ok(small) => out.extend_from_slice(&[0x53, small]),
            Err(_) => {
                out.push(0x80);
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
    }
}

/// A timestamp.
impl Encode for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        out.push(0x83);
        out.extend_from_slice(&self.to_be_bytes());
    }
}

impl Encode for str {
    fn encode(&self, out: &mut Vec<u8>) {
        variable(0xa1, self.as_bytes(), out);
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl Encode for Symbol {
    fn encode(&self, out: &mut Vec<u8>) {
        variable(0xa3, self.as_str().as_bytes(), out);
    }
}

impl Encode for [u8] {
    fn encode(&self, out: &mut Vec<u8>) {
        variable(0xa0, self, out);
    }
}

impl Encode for Bytes {
    fn encode(&self, out: &mut Vec<u8>) {
        self[..].encode(out);
    }
}

/// Of none nothing, of one the symbol itself (section 1.4).
impl Encode for Vec<Symbol> {
    fn encode(&self, out: &mut Vec<u8>) {
        match &self[..] {
            [] => out.push(0x40),
            [one] => one.encode(out),
            several => array(several.iter().cloned().map(Value::Symbol), out),
        }
    }
}

impl Encode for Map {
    fn encode(&self, out: &mut Vec<u8>) {
        let values = self.0.iter().flat_map(|(key, value)| [key, value]);
        compound(0xc1, self.0.len() * 2, out, |out| {
            values.for_each(|value| value.encode(out));
        });
    }
}

impl Encode for Value {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.push(0x40),
            Value::Bool(value) => value.encode(out),
            Value::Uint(value) => value.encode(out),
            Value::Ulong(value) => value.encode(out),
            Value::Int(value) => match i8::try_from(*value) {
                Ok(small) => out.extend_from_slice(&[0x54, small as u8]),
                Err(_) => wide(self, out),
            },
            Value::Long(value) => match i8::try_from(*value) {
                Ok(small) => out.extend_from_slice(&[0x55, small as u8]),
                Err(_) => wide(self, out),
            },
            Value::Binary(value) => value.encode(out),
            Value::String(value) => value.encode(out),
            Value::Symbol(value) => value.encode(out),
            Value::Map(value) => value.encode(out),
            Value::List(values) if values.is_empty() => out.push(0x45),
            Value::List(values) => compound(0xc0, values.len(), out, |out| {
                values.iter().for_each(|value| value.encode(out));
            }),
            Value::Array(values) => array(values.iter().cloned(), out),
            Value::Described(both) => {
                out.push(0);
                both.0.encode(out);
                both.1.encode(out);
            }
            other => wide(other, out),
        }
    }
}

/// Constructor and value in its full width.
fn wide(value: &Value, out: &mut Vec<u8>) {
    out.push(wide_code(value));
    write_wide(value, out);
}

/// The constructor of a type's widest encoding, which all elements of an array can have.
fn wide_code(value: &Value) -> u8 {
    match value {
        Value::Null => 0x40,
        Value::Bool(_) => 0x56,
        Value::Ubyte(_) => 0x50,
        Value::Ushort(_) => 0x60,
        Value::Uint(_) => 0x70,
        Value::Ulong(_) => 0x80,
        Value::Byte(_) => 0x51,
        Value::Short(_) => 0x61,
        Value::Int(_) => 0x71,
        Value::Long(_) => 0x81,
        Value::Float(_) => 0x72,
        Value::Double(_) => 0x82,
        Value::Decimal32(_) => 0x74,
        Value::Decimal64(_) => 0x84,
        Value::Decimal128(_) => 0x94,
        Value::Char(_) => 0x73,
        Value::Timestamp(_) => 0x83,
        Value::Uuid(_) => 0x98,
        Value::Binary(_) => 0xb0,
        Value::String(_) => 0xb1,
        Value::Symbol(_) => 0xb3,
        Value::List(_) => 0xd0,
        Value::Map(_) => 0xd1,
        Value::Array(_) => 0xf0,
        Value::Described(_) => 0,
    }
}

/// A value behind the constructor of its full width.
fn write_wide(value: &Value, out: &mut Vec<u8>) {
    let mut put = |bytes: &[u8]| out.extend_from_slice(bytes);
    match value {
        Value::Null => {}
        Value::Bool(value) => put(&[u8::from(*value)]),
        Value::Ubyte(value) => put(&[*value]),
        Value::Ushort(value) => put(&value.to_be_bytes()),
        Value::Uint(value) => put(&value.to_be_bytes()),
        Value::Ulong(value) => put(&value.to_be_bytes()),
        Value::Byte(value) => put(&value.to_be_bytes()),
        Value::Short(value) => put(&value.to_be_bytes()),
        Value::Int(value) => put(&value.to_be_bytes()),
        Value::Long(value) | Value::Timestamp(value) => put(&value.to_be_bytes()),
        Value::Float(value) => put(&value.to_be_bytes()),
        Value::Double(value) => put(&value.to_be_bytes()),
        Value::Decimal32(bytes) => put(bytes),
        Value::Decimal64(bytes) => put(bytes),
        Value::Decimal128(bytes) | Value::Uuid(bytes) => put(bytes),
        Value::Char(value) => put(&u32::from(*value).to_be_bytes()),
        Value::Binary(bytes) => counted(bytes, out),
        Value::String(text) => counted(text.as_bytes(), out),
        Value::Symbol(symbol) => counted(symbol.as_str().as_bytes(), out),
        Value::List(_) | Value::Map(_) | Value::Array(_) => write_wide_compound(value, out),
        Value::Described(both) => both.1.encode(out),
    }
}

fn write_wide_compound(value: &Value, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    let count = match value {
        Value::List(values) => {
            values.iter().for_each(|value| value.encode(out));
            values.len()
        }
        Value::Map(map) => {
            let values = map.0.iter().flat_map(|(key, value)| [key, value]);
            values.for_each(|value| value.encode(out));
            map.0.len() * 2
        }
        Value::Array(values) => {
            write_elements(values, out);
            values.len()
        }
        _ => 0,
    };
    let size = (out.len() - start - 4) as u32;
    out[start..start + 4].copy_from_slice(&size.to_be_bytes());
    out[start + 4..start + 8].copy_from_slice(&(count as u32).to_be_bytes());
}

/// The common constructor and the elements; an array of described values has one descriptor.
fn write_elements(values: &[Value], out: &mut Vec<u8>) {
    let Some(first) = values.first() else {
        return out.push(0x40);
    };
    let plain = |value: &Value| match value {
        Value::Described(both) => both.1.clone(),
        value => value.clone(),
    };
    if let Value::Described(both) = first {
        out.push(0);
        both.0.encode(out);
    }
    out.push(wide_code(&plain(first)));
    for value in values {
        write_wide(&plain(value), out);
    }
}

fn array(values: impl Iterator<Item = Value>, out: &mut Vec<u8>) {
    let values = Value::Array(values.collect());
    wide(&values, out);
}

fn counted(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    out.extend_from_slice(bytes);
}

/// Bytes behind a length of one byte, or of four with the constructor that is 0x10 further on.
fn variable(code: u8, bytes: &[u8], out: &mut Vec<u8>) {
    match u8::try_from(bytes.len()) {
        Ok(length) => {
            out.extend_from_slice(&[code, length]);
            out.extend_from_slice(bytes);
        }
        Err(_) => {
            out.push(code + 0x10);
            counted(bytes, out);
        }
    }
}

/// A compound that is written first and measured then.
pub(super) fn compound(
    code: u8,
    count: usize,
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend_from_slice(&[code, 0, 0]);
    write(out);
    close_compound(start, count, out);
}

/// Fills in size and count of a compound whose constructor of one byte each stands at `start`.
pub(super) fn close_compound(start: usize, count: usize, out: &mut Vec<u8>) {
    let size = out.len() - start - 2;
    if let (Ok(size), Ok(count)) = (u8::try_from(size), u8::try_from(count)) {
        out[start + 1] = size;
        out[start + 2] = count;
        return;
    }
    let (body, size) = (out.len() - start - 3, (size + 3) as u32);
    out[start] += 0x10;
    out.extend_from_slice(&[0; 6]);
    out.copy_within(start + 3..start + 3 + body, start + 9);
    out[start + 1..start + 5].copy_from_slice(&size.to_be_bytes());
    out[start + 5..start + 9].copy_from_slice(&(count as u32).to_be_bytes());
}
