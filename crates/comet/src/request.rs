//! Requests of HTTP/1.1 (RFC 9112), read byte by byte across segments and never kept.
//!
//! What it deliberately does not do: bodies, percent-encoded paths, lists of more than one entity tag. Of
//! a header only what a device acts on is looked at, so that a line may be as long as it likes.

use crate::site::Site;
use crate::word::Word;

/// What a request says so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    place: Place,
    word: Word,
    /// The header or parameter that is read.
    name: u8,
    /// What was found: bits below.
    pub(crate) said: u16,
    /// Number of the resource, or [`NO_RESOURCE`].
    pub(crate) resource: u8,
    /// `wait`, seconds.
    pub(crate) wait_s: u8,
    /// `since` or `Last-Event-ID`.
    pub(crate) since: u32,
}

pub(crate) const NO_RESOURCE: u8 = u8::MAX;

/// Bits of [`Request::said`].
pub(crate) mod said {
    pub(crate) const HEAD: u16 = 1;
    pub(crate) const OTHER_METHOD: u16 = 1 << 1;
    pub(crate) const HTTP_1_0: u16 = 1 << 2;
    pub(crate) const OTHER_VERSION: u16 = 1 << 3;
    pub(crate) const CLOSE: u16 = 1 << 4;
    pub(crate) const HOST: u16 = 1 << 5;
    pub(crate) const BODY: u16 = 1 << 6;
    pub(crate) const EVENTS: u16 = 1 << 7;
    pub(crate) const STREAM: u16 = 1 << 8;
    pub(crate) const WAIT: u16 = 1 << 9;
    pub(crate) const SINCE: u16 = 1 << 10;
    pub(crate) const SNAPSHOT: u16 = 1 << 11;
    pub(crate) const MALFORMED: u16 = 1 << 12;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Method,
    /// Before a path: the authority of an absolute target, by slashes read (RFC 9112 section 3.2.2).
    Authority(u8),
    Path,
    Parameter,
    /// A parameter's value.
    Argument,
    Version,
    Name,
    Value,
    /// A header's number, once its value has begun.
    Number,
    /// The rest of a line.
    Rest,
}

const METHODS: [Word; 2] = [Word::of("GET"), Word::of("HEAD")];
/// Parameters; the number of one with an argument is that of the header which says the same.
const PARAMETERS: [Word; 4] = [
    Word::of("snapshot"),
    Word::of("stream"),
    Word::of("since"),
    Word::of("wait"),
];
const VERSIONS: [Word; 2] = [Word::of("HTTP/1.1"), Word::of("HTTP/1.0")];
const HEADERS: [Word; 7] = [
    Word::of("accept"),
    Word::of("connection"),
    Word::of("content-length"),
    Word::of("host"),
    Word::of("last-event-id"),
    Word::of("prefer"),
    Word::of("transfer-encoding"),
];
/// A token that matters in a header of the number, and what it says.
const TOKENS: [(Word, u8, u16); 3] = [
    (Word::of("text/event-stream"), ACCEPT, said::EVENTS),
    (Word::of("close"), CONNECTION, said::CLOSE),
    (Word::of("wait"), PREFER, said::WAIT),
];
const ACCEPT: u8 = 0;
const CONNECTION: u8 = 1;
const CONTENT_LENGTH: u8 = 2;
const HOST: u8 = 3;
const LAST_EVENT_ID: u8 = 4;
const PREFER: u8 = 5;
const TRANSFER_ENCODING: u8 = 6;

impl Request {
    pub(crate) const START: Self = Self {
        resource: NO_RESOURCE,
        word: Word::START,
        ..Self::ZERO
    };
    /// Fills places that no request has.
    pub(crate) const ZERO: Self = Self {
        place: Place::Method,
        word: Word::ZERO,
        name: 0,
        said: 0,
        resource: 0,
        wait_s: 0,
        since: 0,
    };

    pub(crate) fn has(&self, bit: u16) -> bool {
        self.said & bit != 0
    }

    /// Whether nothing of it was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.place == Place::Method && self.word.is_empty()
    }

    /// Takes the next byte; says whether the request is whole.
    pub(crate) fn push(&mut self, site: &Site, byte: u8) -> bool {
        // A bare LF ends a line as well (RFC 9112 section 2.2).
        if byte == b'\r' {
            return false;
        }
        match self.place {
            Place::Method => self.method(byte),
            Place::Authority(_) | Place::Path => self.target(site, byte),
            Place::Parameter | Place::Argument => self.query(byte),
            Place::Version => self.version(byte),
            Place::Name => return self.name(byte),
            Place::Value => self.value(byte),
            Place::Number => self.number(byte),
            Place::Rest if byte == b'\n' => self.go(Place::Name),
            Place::Rest => {}
        }
        false
    }

    fn go(&mut self, place: Place) {
        self.place = place;
        self.word = Word::START;
    }

    fn method(&mut self, byte: u8) {
        match byte {
            // Empty lines before a request are none of it.
            b'\n' if self.word.is_empty() => {}
            b'\n' => self.line_too_early(),
            b' ' => {
                self.said |= match self.word.found(&METHODS) {
                    Some(0) => 0,
                    Some(_) => said::HEAD,
                    None => said::OTHER_METHOD,
                };
                self.go(Place::Authority(0));
            }
            _ => self.word.push(byte),
        }
    }

    /// A request line that ends before its version.
    fn line_too_early(&mut self) {
        self.said |= said::MALFORMED;
        self.go(Place::Name);
    }

    fn target(&mut self, site: &Site, byte: u8) {
        match (self.place, byte) {
            (_, b'\n') => self.line_too_early(),
            (Place::Authority(_), b' ') => self.go(Place::Version),
            (Place::Path, b' ' | b'?') => {
                let found = site.find(self.word);
                self.resource = found.map_or(NO_RESOURCE, |number| number as u8);
                self.go(if byte == b' ' {
                    Place::Version
                } else {
                    Place::Parameter
                });
            }
            (Place::Authority(0 | 3), b'/') => {
                self.go(Place::Path);
                self.word.push(byte);
            }
            // The first byte of an absolute target; then its slashes.
            (Place::Authority(0), _) => self.place = Place::Authority(1),
            (Place::Authority(slashes), b'/') => self.place = Place::Authority(slashes + 1),
            (Place::Authority(_), _) => {}
            _ => self.word.push(byte),
        }
    }

    fn query(&mut self, byte: u8) {
        match byte {
            b'\n' => self.line_too_early(),
            b' ' => {
                self.parameter();
                self.go(Place::Version);
            }
            b'&' => {
                self.parameter();
                self.go(Place::Parameter);
            }
            b'=' if self.place == Place::Parameter => {
                self.parameter();
                self.place = Place::Argument;
            }
            _ if self.place == Place::Argument => self.digit(byte),
            _ => self.word.push(byte),
        }
    }

    /// A parameter's name is whole.
    fn parameter(&mut self) {
        if self.place != Place::Parameter {
            return;
        }
        let found = self.word.found(&PARAMETERS);
        self.name = found.map_or(u8::MAX, |name| name as u8 + LAST_EVENT_ID - 2);
        self.said |= match found {
            Some(0) => said::SNAPSHOT,
            Some(1) => said::STREAM,
            Some(2) => said::SINCE,
            Some(_) => said::WAIT,
            None => 0,
        };
    }

    /// A digit of `since` or `wait`, or of the header that says it.
    #[inline(never)]
    fn digit(&mut self, byte: u8) {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return;
        }
        let more = |number: u32| number.saturating_mul(10).saturating_add(digit);
        match self.name {
            LAST_EVENT_ID => self.since = more(self.since),
            PREFER => self.wait_s = more(self.wait_s.into()).min(u8::MAX.into()) as u8,
            _ => {}
        }
    }

    fn version(&mut self, byte: u8) {
        if byte != b'\n' {
            self.word.push(byte);
            return;
        }
        self.said |= match self.word.found(&VERSIONS) {
            Some(0) => 0,
            Some(_) => said::HTTP_1_0 | said::CLOSE,
            None => said::OTHER_VERSION,
        };
        self.go(Place::Name);
    }

    /// A header's name; says whether there is none, so that the request is whole.
    fn name(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' if self.word.is_empty() => return true,
            b'\n' => self.go(Place::Name),
            b':' => {
                let found = self.word.found(&HEADERS);
                self.name = found.map_or(u8::MAX, |name| name as u8);
                self.said |= match self.name {
                    HOST => said::HOST,
                    TRANSFER_ENCODING => said::BODY,
                    _ => 0,
                };
                let has_value = matches!(
                    self.name,
                    ACCEPT | CONNECTION | CONTENT_LENGTH | LAST_EVENT_ID | PREFER
                );
                self.go(if has_value { Place::Value } else { Place::Rest });
            }
            _ => self.word.push(byte.to_ascii_lowercase()),
        }
        false
    }

    /// A header's value: tokens, or a number.
    fn value(&mut self, byte: u8) {
        match (self.name, byte) {
            (CONTENT_LENGTH | LAST_EVENT_ID, b'0'..=b'9') => {
                if self.name == LAST_EVENT_ID {
                    self.said |= said::SINCE;
                    self.since = 0;
                }
                self.place = Place::Number;
                self.number(byte);
            }
            (_, b'\n') => {
                self.token();
                self.go(Place::Name);
            }
            (_, b' ' | b'\t' | b',' | b';') => {
                self.token();
                self.word = Word::START;
            }
            (PREFER, b'=') => {
                self.token();
                self.word = Word::START;
                // What stands behind another preference is not the wait.
                if self.has(said::WAIT) && self.wait_s == 0 {
                    self.place = Place::Number;
                }
            }
            _ => self.word.push(byte.to_ascii_lowercase()),
        }
    }

    fn token(&mut self) {
        for (word, header, bit) in TOKENS {
            if word == self.word && header == self.name {
                self.said |= bit;
            }
        }
    }

    fn number(&mut self, byte: u8) {
        match (self.name, byte) {
            (_, b'\n') => self.go(Place::Name),
            (CONTENT_LENGTH, b'1'..=b'9') => self.said |= said::BODY,
            (PREFER | LAST_EVENT_ID, b'0'..=b'9') => self.digit(byte),
            (PREFER, _) => self.go(Place::Value),
            // No number after all.
            (LAST_EVENT_ID, _) => self.said &= !said::SINCE,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::site::{Kind, Resource};
    use proptest::prelude::*;
    use std::format;

    static RESOURCES: [Resource; 3] = [
        Resource {
            path: "/",
            media_type: "text/html",
            kind: Kind::Page(b"hi"),
        },
        Resource {
            path: "/live/t",
            media_type: "text/plain",
            kind: Kind::Topic,
        },
        Resource {
            path: "/live/temperature",
            media_type: "text/plain",
            kind: Kind::Topic,
        },
    ];

    /// The request at the head of a text, and how long it is.
    fn read(text: &str) -> Option<(Request, usize)> {
        let site = Site::new(&RESOURCES).expect("a site");
        let mut request = Request::START;
        let end = text.bytes().position(|byte| request.push(&site, byte))?;
        Some((request, end + 1))
    }

    fn whole(text: &str) -> Request {
        let (request, length) = read(text).expect("a whole request");
        assert_eq!(length, text.len());
        request
    }

    #[test]
    fn a_request_names_its_resource() {
        for (target, number) in [
            ("/", 0),
            ("/live/t", 1),
            ("/live/temperature", 2),
            ("/live/temperature?x=1", 2),
            ("http://device:80/live/t", 1),
            ("/live", NO_RESOURCE),
            ("/live/temperatures", NO_RESOURCE),
            ("*", NO_RESOURCE),
        ] {
            let request = whole(&format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
            assert_eq!(request.resource, number, "{target}");
            assert_eq!(request.said, said::HOST);
        }
    }

    #[test]
    fn the_delivery_scheme_is_said_by_query_or_header() {
        let said = |target: &str, header: &str| {
            let text = format!("GET /live/t{target} HTTP/1.1\r\nhost:x\r\n{header}\r\n\r\n");
            let request = whole(&text);
            (request.said & !said::HOST, request.wait_s, request.since)
        };
        assert_eq!(said("?stream", "X: y"), (said::STREAM, 0, 0));
        assert_eq!(
            said("?wait=30&since=812", "X: y"),
            (said::WAIT | said::SINCE, 30, 812)
        );
        assert_eq!(
            said("?snapshot&stream", "X: y"),
            (said::STREAM | said::SNAPSHOT, 0, 0)
        );
        assert_eq!(said("?streaming", "X: y"), (0, 0, 0));
        assert_eq!(
            said("", "Prefer: respond-async, wait=20"),
            (said::WAIT, 20, 0)
        );
        assert_eq!(
            said("", "Accept: text/html, Text/Event-Stream;q=1"),
            (said::EVENTS, 0, 0)
        );
        assert_eq!(said("", "Accept: text/event-streams"), (0, 0, 0));
        assert_eq!(
            said("", "Last-Event-ID: 4294967295"),
            (said::SINCE, 0, u32::MAX)
        );
        assert_eq!(said("?since=9", "Last-Event-ID:12"), (said::SINCE, 0, 12));
        assert_eq!(said("", "Last-Event-ID: 12x"), (0, 0, 12));
        assert_eq!(
            said("", "Connection: keep-alive, close"),
            (said::CLOSE, 0, 0)
        );
        assert_eq!(said("", "Accept: close"), (0, 0, 0));
    }

    #[test]
    fn what_is_not_served_is_said() {
        let post = whole("POST /live/t HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
        assert_eq!(post.said, said::OTHER_METHOD | said::HOST | said::BODY);
        let empty = whole("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(empty.said, said::HOST);
        let old = whole("\r\n\r\nHEAD / HTTP/1.0\r\n\r\n");
        assert_eq!(old.said, said::HEAD | said::HTTP_1_0 | said::CLOSE);
        assert_eq!(whole("GET / HTTP/2.0\n\n").said, said::OTHER_VERSION);
        assert_eq!(whole("GET /\n\n").said, said::MALFORMED);
    }

    #[test]
    fn a_line_may_be_as_long_as_it_likes() {
        let dots = ".".repeat(5_000);
        let text = format!("GET /live/t HTTP/1.1\r\nUser-Agent: {dots}\r\nHost: {dots}\r\n\r\n");
        assert_eq!(whole(&text).resource, 1);
        let text = format!("GET /live/{dots} HTTP/1.1\r\n{dots}: 1\r\nHost: x\r\n\r\n");
        assert_eq!(whole(&text).resource, NO_RESOURCE);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(text in "[A-Z a-z/?=&:,;0-9\r\n]{0,400}") {
            if let Some((_, length)) = read(&text) {
                prop_assert!(length <= text.len());
            }
        }
    }
}
