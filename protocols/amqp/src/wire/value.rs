//! Any value of the type system (AMQP 1.0 part 1).

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt;

/// A name out of a vocabulary, ASCII (section 1.6.21).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol(pub Cow<'static, str>);

impl Symbol {
    /// A symbol that is known beforehand.
    pub const fn new(text: &'static str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for Symbol {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A value of any type; types that others send are kept apart, so that they go back as they came.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "each is the type of its name in section 1.6")]
pub enum Value {
    Null,
    Bool(bool),
    Ubyte(u8),
    Ushort(u16),
    Uint(u32),
    Ulong(u64),
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Decimal32([u8; 4]),
    Decimal64([u8; 8]),
    Decimal128([u8; 16]),
    Char(char),
    /// Milliseconds of Unix time.
    Timestamp(i64),
    Uuid([u8; 16]),
    Binary(Bytes),
    String(String),
    Symbol(Symbol),
    List(Vec<Value>),
    Map(Map),
    /// Elements of one type.
    Array(Vec<Value>),
    /// A descriptor and what it describes (section 1.5).
    Described(Box<(Value, Value)>),
}

impl Value {
    /// Its text, if it is a string or a symbol.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            Value::Symbol(symbol) => Some(symbol.as_str()),
            _ => None,
        }
    }

    /// Its number, if it is an integer of any width that fits.
    pub fn as_i64(&self) -> Option<i64> {
        Some(match self {
            Value::Ubyte(number) => i64::from(*number),
            Value::Ushort(number) => i64::from(*number),
            Value::Uint(number) => i64::from(*number),
            Value::Ulong(number) => i64::try_from(*number).ok()?,
            Value::Byte(number) => i64::from(*number),
            Value::Short(number) => i64::from(*number),
            Value::Int(number) => i64::from(*number),
            Value::Long(number) | Value::Timestamp(number) => *number,
            _ => return None,
        })
    }

    /// The value, without what describes it.
    pub fn plain(&self) -> &Value {
        match self {
            Value::Described(both) => both.1.plain(),
            value => value,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

/// Keys and values in their order (section 1.6.23).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Map(pub Vec<(Value, Value)>);

impl Map {
    /// The value of a key that is a symbol or a string.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(name, _)| name.as_str() == Some(key));
        found.map(|(_, value)| value)
    }

    /// Appends a value under a symbol.
    pub fn push(&mut self, key: &'static str, value: Value) {
        self.0.push((Value::Symbol(Symbol::new(key)), value));
    }

    /// Says whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
