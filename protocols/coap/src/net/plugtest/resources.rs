//! The resources as they are at first.

use crate::wire::{Code, Link, Message, Number, Options, write_links};
use bytes::Bytes;
use std::collections::BTreeMap;
use weir_carrier::clock;
use weir_sansio::Instant;

/// A resource.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) body: Bytes,
    pub(super) format: u32,
    /// Another representation, by its Content-Format.
    other: Option<(u32, Bytes)>,
    pub(super) version: u64,
    pub(super) observable: bool,
    pub(super) writable: bool,
    /// Its Content-Format changed since it was observed.
    pub(super) reformatted: bool,
    /// Whether it changes every five seconds as long as nobody writes to it.
    moves: bool,
    tagged: bool,
}

impl Resource {
    fn text(body: impl Into<Bytes>) -> Self {
        Self {
            body: body.into(),
            format: 0,
            other: None,
            version: 1,
            observable: false,
            writable: false,
            reformatted: false,
            moves: false,
            tagged: false,
        }
    }

    /// One that a client made.
    pub(super) fn created() -> Self {
        Self {
            observable: true,
            writable: true,
            tagged: true,
            ..Self::text("")
        }
    }

    /// How often it changed by itself.
    pub(super) fn ticks(&self) -> u64 {
        if self.moves {
            clock::now().since(Instant::START).as_secs() / 5
        } else {
            0
        }
    }

    /// Its entity tag.
    pub(super) fn tag(&self) -> Vec<u8> {
        let bytes = self.version.to_be_bytes();
        let from = bytes.iter().position(|&byte| byte != 0).unwrap_or(7);
        bytes[from..].to_vec()
    }

    /// Takes what a client wrote.
    pub(super) fn write(&mut self, request: &Message, version: u64) {
        let format = request.options.uint(Number::CONTENT_FORMAT).unwrap_or(0);
        self.reformatted = format != self.format;
        self.format = format;
        self.body = request.payload.clone();
        self.version = version;
        self.moves = false;
    }

    /// What it is, in the format asked for.
    // [RFC7641-4.3.1-1]
    pub(super) fn read(&self, options: &Options) -> Message {
        let mut message = Message::new(Code::CONTENT);
        let accept = options.uint(Number::ACCEPT);
        let (format, body) = match (&self.other, accept) {
            (Some((format, body)), Some(wanted)) if *format == wanted => (*format, body.clone()),
            (_, Some(wanted)) if wanted != self.format => {
                return Message::diagnostic(Code::NOT_ACCEPTABLE, "not in this Content-Format");
            }
            _ => (self.format, self.body.clone()),
        };
        if self.tagged {
            let tag = self.tag();
            message.options.push(Number::ETAG, &tag);
            if options.all(Number::ETAG).any(|known| known == tag) {
                message.code = Code::VALID;
                return message;
            }
        }
        message.options.push_uint(Number::CONTENT_FORMAT, format);
        if self.moves {
            let ticks = self.ticks();
            let text = String::from_utf8_lossy(&body);
            message.options.push_uint(Number::MAX_AGE, 5);
            message.with_payload(format!("{text}{ticks}"))
        } else {
            message.with_payload(body)
        }
    }
}

/// A text that takes several blocks.
fn large() -> String {
    let line = "|  This line of sixty-four characters stands in a large body  |\n";
    (0..28).map(|_| line).collect()
}

/// Those that are there at first.
pub(super) fn initial() -> BTreeMap<String, Resource> {
    let text = |body: &str| Resource::text(body.to_owned());
    let writable = |body: &str| Resource {
        writable: true,
        ..text(body)
    };
    let moving = |body: &str| Resource {
        observable: true,
        moves: true,
        ..writable(body)
    };
    let xml = Bytes::from_static(b"<result>two formats</result>");
    let all = [
        ("/test", writable("the default resource of tests")),
        ("/seg1", text("one segment")),
        ("/seg1/seg2", text("two segments")),
        ("/seg1/seg2/seg3", text("three segments")),
        ("/separate", writable("it took a while")),
        ("/large", text(&large())),
        ("/large-update", writable(&large())),
        ("/obs", moving("tick ")),
        ("/obs-non", moving("tick ")),
        ("/obs-large", moving(&large())),
        ("/obs-pumping", moving("tick ")),
        ("/obs-pumping-non", moving("tick ")),
        ("/obs-reset", moving("tick ")),
        ("/link1", text("the first link")),
        ("/link2", text("the second link")),
        ("/link3", text("the third link")),
        ("/link4", text("the fourth link")),
        ("/link5", text("the fifth link")),
        ("/path/sub1", text("/path/sub1")),
        ("/path/sub2", text("/path/sub2")),
        ("/path/sub3", text("/path/sub3")),
        (
            "/validate",
            Resource {
                tagged: true,
                ..writable("valid until it is changed")
            },
        ),
        (
            "/multi-format",
            Resource {
                other: Some((41, xml)),
                ..text("two formats")
            },
        ),
    ];
    all.map(|(path, resource)| (path.to_owned(), resource))
        .into_iter()
        .collect()
}

/// Links to them, with attributes that filters pick by.
pub(super) fn links() -> Vec<Link> {
    let link = Link::new;
    let large = large().len().to_string();
    vec![
        link("/test")
            .with("title", "default test resource")
            .with("ct", "0"),
        link("/seg1/seg2/seg3").with("title", "long path"),
        link("/query").with("title", "takes queries"),
        link("/location-query").with("title", "answers with Location-Query"),
        link("/separate").with("title", "answers later"),
        link("/large").with("rt", "block").with("sz", &*large),
        link("/large-update")
            .with("rt", "block")
            .with("sz", &*large),
        link("/large-create").with("rt", "block"),
        link("/large-post").with("rt", "block"),
        link("/obs").with("rt", "observe").with("obs", ""),
        link("/obs-non").with("rt", "observe").with("obs", ""),
        link("/obs-large").with("rt", "observe").with("obs", ""),
        link("/obs-pumping").with("rt", "observe").with("obs", ""),
        link("/obs-pumping-non")
            .with("rt", "observe")
            .with("obs", ""),
        link("/obs-reset").with("rt", "observe").with("obs", ""),
        link("/validate").with("title", "varies"),
        link("/create1").with("title", "can be created"),
        link("/multi-format").with("ct", "0 41"),
        link("/link1").with("rt", "Type1 Type2").with("if", "If1"),
        link("/link2").with("rt", "Type2 Type3").with("if", "If2"),
        link("/link3").with("rt", "Type1 Type3").with("if", "foo"),
        link("/link4").with("rt", ""),
        link("/link5"),
        link("/path").with("ct", "40"),
    ]
}

/// What `/path` leads to.
pub(super) fn path_links() -> String {
    let mut out = String::new();
    let below = ["/path/sub1", "/path/sub2", "/path/sub3"].map(Link::new);
    write_links(below.iter(), &mut out);
    out
}
