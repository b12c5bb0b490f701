//! Requests of HTTP/1.1 (RFC 9112), read byte by byte across segments and never kept.
//!
//! What it deliberately does not do: bodies, percent-encoded paths, lists of more than one entity tag. Of
//! a header only what a device acts on is looked at, so that a line may be as long as it likes.
//!
//! The decision worth arguing: the grammar is two tables. Which bytes end a word depends on the place where
//! it stands ([`STEPS`]); a word is known with its place ([`WORDS`]), and the word's number is the bit that
//! it says. A table takes a third of what the same costs as instructions.

use crate::features::{LONG_POLLING, RESUMPTION};
use crate::site::Site;
use crate::word::Word;

/// What a request says so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    word: Word,
    /// `since` or `Last-Event-ID`.
    pub(crate) since: u32,
    /// What was found: bits below.
    said: u32,
    /// Where the word stands: see [`place`].
    place: u8,
    /// Number of the resource, or [`NO_RESOURCE`].
    pub(crate) resource: u8,
    /// `wait`, seconds.
    pub(crate) wait_s: u8,
}

pub(crate) const NO_RESOURCE: u8 = u8::MAX;

/// Bits of [`Request::has`]: those of the words that say it.
pub(crate) mod said {
    pub(crate) const SINCE: u32 = 1 | 1 << 6;
    pub(crate) const WAIT: u32 = 1 << 1 | 1 << 9;
    pub(crate) const HOST: u32 = 1 << 5;
    pub(crate) const BODY: u32 = 1 << 8;
    pub(crate) const HEAD: u32 = 1 << 10;
    pub(crate) const METHOD: u32 = 1 << 11 | HEAD;
    pub(crate) const HTTP_1_0: u32 = 1 << 12;
    pub(crate) const VERSION: u32 = 1 << 13 | HTTP_1_0;
    pub(crate) const STREAM: u32 = 1 << 14;
    pub(crate) const SNAPSHOT: u32 = 1 << 15;
    pub(crate) const EVENTS: u32 = 1 << 16;
    pub(crate) const CLOSE: u32 = 1 << 17;
    /// A line that ended before its version.
    pub(crate) const MALFORMED: u32 = 1 << 18;
}

/// Where a word stands, in the order of a request.
mod place {
    pub(super) const METHOD: u8 = 0;
    /// Before a path: the authority of an absolute target, by slashes read (RFC 9112 section 3.2.2).
    pub(super) const TARGET: u8 = 1;
    pub(super) const AUTHORITY: u8 = 2;
    pub(super) const PATH: u8 = 5;
    pub(super) const PARAMETER: u8 = 6;
    /// The value of a parameter that says nothing.
    pub(super) const ARGUMENT: u8 = 7;
    /// From here on the value of the word with this number and so many more.
    pub(super) const VALUES: u8 = 8;
    pub(super) const SINCE: u8 = VALUES;
    pub(super) const WAIT: u8 = VALUES + 1;
    pub(super) const ACCEPT: u8 = VALUES + 2;
    pub(super) const CONNECTION: u8 = VALUES + 3;
    pub(super) const CONTENT_LENGTH: u8 = VALUES + 4;
    pub(super) const LAST_EVENT_ID: u8 = VALUES + 6;
    pub(super) const PREFER: u8 = VALUES + 7;
    /// The number behind `wait` in it.
    pub(super) const PREFER_WAIT: u8 = VALUES + 9;
    pub(super) const VERSION: u8 = VALUES + 10;
    pub(super) const NAME: u8 = VALUES + 11;
    /// The rest of a line.
    pub(super) const REST: u8 = VALUES + 12;
}
use place::*;

/// Words that have a value, which is looked at in a place of its own.
const WITH_VALUE: usize = (VERSION - VALUES) as usize;

const WORDS: [Word; 18] = [
    word(PARAMETER, "since"),
    word(PARAMETER, "wait"),
    word(NAME, "accept"),
    word(NAME, "connection"),
    word(NAME, "content-length"),
    word(NAME, "host"),
    word(NAME, "last-event-id"),
    word(NAME, "prefer"),
    word(NAME, "transfer-encoding"),
    word(PREFER, "wait"),
    word(METHOD, "HEAD"),
    word(METHOD, "GET"),
    word(VERSION, "http/1.0"),
    word(VERSION, "http/1.1"),
    word(PARAMETER, "stream"),
    word(PARAMETER, "snapshot"),
    word(ACCEPT, "text/event-stream"),
    word(CONNECTION, "close"),
];

/// A byte that ends a word which stands between two places, and where the next one does; [`SAME`] is there too.
struct Step(u8, u8, u8, u8);

/// No word leads there.
const SAME: u8 = METHOD;

const STEPS: [Step; 19] = [
    Step(b'\n', METHOD, WAIT, NAME),
    Step(b'\n', ACCEPT, REST, NAME),
    Step(b' ', METHOD, METHOD, TARGET),
    Step(b' ', TARGET, WAIT, VERSION),
    Step(b' ', ACCEPT, PREFER, SAME),
    Step(b'\t', ACCEPT, PREFER, SAME),
    Step(b',', ACCEPT, PREFER, SAME),
    Step(b';', ACCEPT, PREFER, SAME),
    Step(b'=', ACCEPT, PREFER, SAME),
    // What stands behind another preference is not the wait.
    Step(b',', PREFER_WAIT, PREFER_WAIT, PREFER),
    Step(b';', PREFER_WAIT, PREFER_WAIT, PREFER),
    Step(b'/', TARGET, TARGET, PATH),
    Step(b'/', AUTHORITY, AUTHORITY, AUTHORITY + 1),
    Step(b'/', AUTHORITY + 1, AUTHORITY + 1, AUTHORITY + 2),
    Step(b'/', AUTHORITY + 2, AUTHORITY + 2, PATH),
    Step(b'?', PATH, PATH, PARAMETER),
    Step(b'&', PARAMETER, WAIT, PARAMETER),
    Step(b'=', PARAMETER, PARAMETER, ARGUMENT),
    Step(b':', NAME, NAME, REST),
];

/// A word of a place; that of a path begins with its slash.
const fn begin(place: u8) -> Word {
    const PATHS: Word = Word::of("/");
    PATHS.at(place ^ PATH)
}

const fn word(place: u8, text: &str) -> Word {
    begin(place).and(text)
}

impl Request {
    pub(crate) const START: Self = Self {
        resource: NO_RESOURCE,
        word: begin(METHOD),
        ..Self::ZERO
    };
    /// Fills places that no request has.
    pub(crate) const ZERO: Self = Self {
        word: Word::ZERO,
        since: 0,
        said: 0,
        place: METHOD,
        resource: 0,
        wait_s: 0,
    };

    /// Whether it says one of these.
    pub(crate) fn has(&self, bits: u32) -> bool {
        self.said & bits != 0
    }

    /// Whether nothing of it was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.place == METHOD && self.word == begin(METHOD)
    }

    /// Takes the next byte; says whether the request is whole.
    #[inline(never)]
    pub(crate) fn push(&mut self, site: &Site, byte: u8) -> bool {
        // A bare LF ends a line as well (RFC 9112 section 2.2).
        if byte == b'\r' {
            return false;
        }
        // An empty line is the end, or before a request none of it.
        let is_empty = self.word == begin(self.place);
        if byte == b'\n' && is_empty && matches!(self.place, METHOD | NAME) {
            return self.place == NAME;
        }
        let is_step = |step: &&Step| {
            let Step(end, from, to, _) = **step;
            end == byte && (from..=to).contains(&self.place)
        };
        // No letter ends a word, and most bytes are letters.
        let step = match byte {
            ..=b'?' => STEPS.iter().find(is_step),
            _ => None,
        };
        match step {
            Some(step) => self.end_word(site, step),
            None => self.go_on(byte),
        }
        false
    }

    /// The word is whole: what it says, and where the next one stands.
    fn end_word(&mut self, site: &Site, &Step(byte, _, to, next): &Step) {
        if self.place == PATH {
            self.resource = site
                .find(self.word)
                .map_or(NO_RESOURCE, |number| number as u8);
        }
        if (byte, to) == (b'\n', WAIT) {
            self.said |= said::MALFORMED;
        }
        if next != SAME {
            self.place = next;
        }
        if let Some(number) = self.word.found(&WORDS) {
            self.said |= 1 << number;
            if number < WITH_VALUE && matches!(byte, b'=' | b':') {
                self.place = VALUES + number as u8;
            }
        }
        match self.place {
            LAST_EVENT_ID if (RESUMPTION || LONG_POLLING) && byte == b':' => self.since = 0,
            PREFER_WAIT if LONG_POLLING => self.wait_s = 0,
            _ => {}
        }
        self.word = begin(self.place);
    }

    /// The word goes on; in some places its digits are a number.
    fn go_on(&mut self, byte: u8) {
        if self.place == TARGET {
            self.place = AUTHORITY;
        }
        // The path's case counts, a header's does not.
        let byte = match self.place >= ACCEPT {
            true => byte.to_ascii_lowercase(),
            false => byte,
        };
        self.word.push(byte);
        let digit = u32::from(byte.wrapping_sub(b'0'));
        match self.place {
            // No number after all.
            LAST_EVENT_ID if RESUMPTION && digit > 9 => self.said &= !said::SINCE,
            _ if digit > 9 => {}
            SINCE | LAST_EVENT_ID if RESUMPTION || LONG_POLLING => {
                self.since = self.since.wrapping_mul(10).wrapping_add(digit)
            }
            WAIT | PREFER_WAIT if LONG_POLLING => {
                self.wait_s = (u32::from(self.wait_s) * 10 + digit).min(u8::MAX.into()) as u8;
            }
            CONTENT_LENGTH if digit > 0 => self.said |= said::BODY,
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
    use std::vec;
    use std::vec::Vec;

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

    /// What a request says, but that it is a GET of HTTP/1.1 with a host.
    fn meanings(request: &Request) -> Vec<&'static str> {
        let all = [
            (said::HEAD, "head"),
            (said::HTTP_1_0, "1.0"),
            (said::CLOSE, "close"),
            (said::BODY, "body"),
            (said::EVENTS, "events"),
            (said::STREAM, "stream"),
            (said::WAIT, "wait"),
            (said::SINCE, "since"),
            (said::SNAPSHOT, "snapshot"),
            (said::MALFORMED, "malformed"),
        ];
        let lacks = [
            (said::METHOD, "no method"),
            (said::VERSION, "no version"),
            (said::HOST, "no host"),
        ];
        let said = all.iter().filter(|(bits, _)| request.has(*bits));
        let lacks = lacks.iter().filter(|(bits, _)| !request.has(*bits));
        said.chain(lacks).map(|(_, meaning)| *meaning).collect()
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
            assert!(meanings(&request).is_empty());
        }
    }

    #[test]
    fn the_delivery_scheme_is_said_by_query_or_header() {
        let said = |target: &str, header: &str| {
            let text = format!("GET /live/t{target} HTTP/1.1\r\nhost:x\r\n{header}\r\n\r\n");
            let request = whole(&text);
            assert_eq!(request.resource, 1, "{target} {header}");
            (meanings(&request), request.wait_s, request.since)
        };
        for (target, header, meanings, wait_s, since) in [
            ("?stream", "X: y", vec!["stream"], 0, 0),
            ("?wait=30&since=812", "X: y", vec!["wait", "since"], 30, 812),
            ("?wait=256", "X: y", vec!["wait"], 255, 0),
            ("?wait", "X: y", vec!["wait"], 0, 0),
            ("?snapshot&stream", "X: y", vec!["stream", "snapshot"], 0, 0),
            ("?streaming&x=stream", "stream: x", vec![], 0, 0),
            ("", "Prefer: respond-async, wait=20", vec!["wait"], 20, 0),
            ("", "Prefer: wait=20, other=5", vec!["wait"], 20, 0),
            ("?wait=9", "Prefer: other=5; wait=20", vec!["wait"], 20, 0),
            ("", "Prefer: waiting=5", vec![], 0, 0),
            (
                "",
                "Accept: text/html, Text/Event-Stream;q=1",
                vec!["events"],
                0,
                0,
            ),
            ("", "Accept: text/event-streams", vec![], 0, 0),
            ("", "Last-Event-ID: 4294967295", vec!["since"], 0, u32::MAX),
            ("?since=9", "Last-Event-ID:12", vec!["since"], 0, 12),
            // White space around a value is not of it (RFC 9110 section 5.5).
            ("", "Last-Event-ID: 12 \t", vec!["since"], 0, 12),
            ("", "Last-Event-ID: 12x", vec![], 0, 12),
            ("", "Connection: keep-alive, close", vec!["close"], 0, 0),
            ("", "Accept: close", vec![], 0, 0),
            ("", "close: text/event-stream", vec![], 0, 0),
        ] {
            assert_eq!(
                said(target, header),
                (meanings, wait_s, since),
                "{target} {header}"
            );
        }
    }

    #[test]
    fn what_is_not_served_is_said() {
        for (text, expected) in [
            (
                "POST /live/t HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n",
                vec!["body", "no method"],
            ),
            (
                "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 00\r\n\r\n",
                vec![],
            ),
            (
                "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                vec!["body"],
            ),
            (
                "\r\n\r\nHEAD / HTTP/1.0\r\n\r\n",
                vec!["head", "1.0", "no host"],
            ),
            ("get / HTTP/1.1\r\nHOST:x\r\n\r\n", vec!["no method"]),
            ("GET / HTTP/2.0\n\n", vec!["no version", "no host"]),
            ("GET /\n\n", vec!["malformed", "no version", "no host"]),
        ] {
            assert_eq!(meanings(&whole(text)), expected, "{text}");
        }
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
