//! The options that are known: number, name, shape, length and how often they may occur.

/// An option's number; its lowest bits say what to do where it is unknown (RFC 7252 section 5.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u16);

/// The numbers of the registry that are understood here.
#[allow(missing_docs, reason = "named as in the registry")]
impl Number {
    pub const IF_MATCH: Self = Self(1);
    pub const URI_HOST: Self = Self(3);
    pub const ETAG: Self = Self(4);
    pub const IF_NONE_MATCH: Self = Self(5);
    pub const OBSERVE: Self = Self(6);
    pub const URI_PORT: Self = Self(7);
    pub const LOCATION_PATH: Self = Self(8);
    pub const URI_PATH: Self = Self(11);
    pub const CONTENT_FORMAT: Self = Self(12);
    pub const MAX_AGE: Self = Self(14);
    pub const URI_QUERY: Self = Self(15);
    pub const HOP_LIMIT: Self = Self(16);
    pub const ACCEPT: Self = Self(17);
    pub const LOCATION_QUERY: Self = Self(20);
    pub const BLOCK2: Self = Self(23);
    pub const BLOCK1: Self = Self(27);
    pub const SIZE2: Self = Self(28);
    pub const PROXY_URI: Self = Self(35);
    pub const PROXY_SCHEME: Self = Self(39);
    pub const SIZE1: Self = Self(60);
    pub const ECHO: Self = Self(252);
    pub const NO_RESPONSE: Self = Self(258);
    pub const REQUEST_TAG: Self = Self(292);
}

impl Number {
    /// Whoever does not understand it must not act on the message (RFC 7252 section 5.4.1).
    // [RFC7252-5.4.6-1]
    pub const fn is_critical(self) -> bool {
        self.0 & 1 == 1
    }

    /// A proxy that does not understand it must not forward it (RFC 7252 section 5.4.2).
    pub const fn is_unsafe(self) -> bool {
        self.0 & 2 == 2
    }

    /// It does not tell one resource or body from another (RFC 7252 section 5.4.2).
    // [RFC7252-5.4.6-1]
    pub const fn is_no_cache_key(self) -> bool {
        self.0 & 0x1e == 0x1c
    }

    /// What is known of it.
    // [RFC7959-2.1-1]
    pub fn definition(self) -> Option<&'static Definition> {
        let found = DEFINITIONS.binary_search_by_key(&self, |line| line.number);
        found.ok().map(|index| &DEFINITIONS[index])
    }
}

/// What a value is (RFC 7252 section 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Empty,
    /// Bytes.
    Opaque,
    /// An unsigned integer without leading zeros.
    Uint,
    /// UTF-8.
    String,
}

/// What is known of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its number.
    pub number: Number,
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// Shortest value, bytes.
    pub min: usize,
    /// Longest value, bytes.
    pub max: usize,
    /// Whether it may occur more than once.
    pub repeatable: bool,
}

const fn once(number: Number, name: &'static str, shape: Shape, len: [usize; 2]) -> Definition {
    Definition {
        number,
        name,
        shape,
        min: len[0],
        max: len[1],
        repeatable: false,
    }
}

const fn many(number: Number, name: &'static str, shape: Shape, len: [usize; 2]) -> Definition {
    Definition {
        repeatable: true,
        ..once(number, name, shape, len)
    }
}

use Shape::{Empty, Opaque, String, Uint};

/// By number: RFC 7252 section 5.10, RFC 7641 section 2, RFC 7959 sections 2.1 and 4, RFC 8768 section
/// 3, RFC 9175 sections 2.2 and 3.2, RFC 7967 section 2.
const DEFINITIONS: &[Definition] = &[
    many(Number::IF_MATCH, "If-Match", Opaque, [0, 8]),
    once(Number::URI_HOST, "Uri-Host", String, [1, 255]),
    many(Number::ETAG, "ETag", Opaque, [1, 8]),
    once(Number::IF_NONE_MATCH, "If-None-Match", Empty, [0, 0]),
    once(Number::OBSERVE, "Observe", Uint, [0, 3]),
    once(Number::URI_PORT, "Uri-Port", Uint, [0, 2]),
    many(Number::LOCATION_PATH, "Location-Path", String, [0, 255]),
    many(Number::URI_PATH, "Uri-Path", String, [0, 255]),
    once(Number::CONTENT_FORMAT, "Content-Format", Uint, [0, 2]),
    once(Number::MAX_AGE, "Max-Age", Uint, [0, 4]),
    many(Number::URI_QUERY, "Uri-Query", String, [0, 255]),
    once(Number::HOP_LIMIT, "Hop-Limit", Uint, [1, 1]),
    once(Number::ACCEPT, "Accept", Uint, [0, 2]),
    many(Number::LOCATION_QUERY, "Location-Query", String, [0, 255]),
    once(Number::BLOCK2, "Block2", Uint, [0, 3]),
    once(Number::BLOCK1, "Block1", Uint, [0, 3]),
    once(Number::SIZE2, "Size2", Uint, [0, 4]),
    once(Number::PROXY_URI, "Proxy-Uri", String, [1, 1034]),
    once(Number::PROXY_SCHEME, "Proxy-Scheme", String, [1, 255]),
    once(Number::SIZE1, "Size1", Uint, [0, 4]),
    once(Number::ECHO, "Echo", Opaque, [1, 40]),
    once(Number::NO_RESPONSE, "No-Response", Uint, [0, 1]),
    many(Number::REQUEST_TAG, "Request-Tag", Opaque, [0, 8]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// [RFC7252-5.4.6-1]
    #[test]
    fn the_table_is_in_order_and_says_what_the_registry_says() {
        assert!(DEFINITIONS.is_sorted_by_key(|line| line.number));
        assert!(Number::URI_PATH.is_critical() && Number::URI_PATH.is_unsafe());
        assert!(!Number::ETAG.is_critical() && !Number::ETAG.is_unsafe());
        let apart = [Number::SIZE1, Number::SIZE2, Number::ECHO];
        assert!(apart.iter().all(|number| number.is_no_cache_key()));
        assert!(!Number::REQUEST_TAG.is_no_cache_key() && !Number::REQUEST_TAG.is_critical());
        assert_eq!(Number(9).definition(), None);
    }
}
