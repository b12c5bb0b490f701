//! The bytes of a stream, cut where stanzas end (RFC 6120 section 4.2).
//!
//! What it deliberately does not do: understand a stanza: it counts tags, and the reader of documents reads
//! what stands between. The decision worth arguing: each stanza is read as a document of its own inside the
//! start tag of its stream, so that prefixes declared there hold, and a reader that wants whole documents
//! serves a stream that never ends. A stanza over a limit is passed over, not the end of the stream: a
//! component's stream carries what everybody says, and what one says must not cost the others.

use super::element::Element;
use crate::limits::{DEPTH_MAX, STANZA_BYTES_MAX};
use std::fmt;
use weir_exi::{Error, ErrorKind};

/// What stands next in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The stream begins: its root element, empty.
    Opened(Element),
    /// A first-level element, and the document that it was read from.
    Stanza(Element, Vec<u8>),
    /// A first-level element over a limit, of which nothing but the start tag was read.
    Skipped(Skipped),
    /// The stream ends.
    Closed,
}

/// A stanza that is over a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The stanza as its start tag has it; `None` where that is over a limit itself.
    pub head: Option<Element>,
    /// The limit, and where it was reached.
    pub fault: StreamFault,
}

/// Why a stream cannot be read on, in the words of RFC 6120 section 4.9.3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamFault {
    /// The condition of the stream error.
    pub condition: &'static str,
    /// What is wrong, and where.
    pub text: String,
}

impl fmt::Display for StreamFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.condition, self.text)
    }
}

impl std::error::Error for StreamFault {}

/// Where the scan is in the markup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scan {
    /// In text, or between stanzas.
    Text,
    /// Behind a `<`.
    Less,
    /// In a tag; `u8` is the quote that is open, or 0.
    Tag { ends: bool, quote: u8, slash: bool },
    /// In an XML declaration.
    Declaration,
    /// Behind `<!`, of which so many bytes were read.
    Bang(usize),
    /// In a CDATA section, behind so many closing brackets.
    Data(usize),
}

const CDATA: &[u8] = b"[CDATA[";
/// What ends the document that a stanza is read in.
const AFTER: &[u8] = b"</";

/// Cuts one stream.
#[derive(Debug)]
pub struct Framer {
    /// The start tag of the stream.
    root: Vec<u8>,
    /// What ends it.
    root_end: Vec<u8>,
    /// From the beginning of what comes next on.
    buffer: Vec<u8>,
    /// Bytes of it that were looked at.
    at: usize,
    scan: Scan,
    depth: u64,
    /// Bytes of the start tag of the stanza that is begun, once elements may stand in it.
    head: usize,
    /// The stanza that is begun is over a limit: its bytes are counted and dropped.
    skipped: Option<Skipped>,
    /// The stream ended; what stands behind it is nobody's.
    closed: bool,
    /// Bytes that were taken before the buffer, for errors.
    before: u64,
}

impl Default for Framer {
    fn default() -> Self {
        Self {
            root: Vec::new(),
            root_end: Vec::new(),
            buffer: Vec::new(),
            at: 0,
            scan: Scan::Text,
            depth: 0,
            head: 0,
            skipped: None,
            closed: false,
            before: 0,
        }
    }
}

impl Framer {
    /// Takes bytes, in pieces of any size.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether nothing is begun and nothing waits to be cut.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// What stands next, if it is whole.
    ///
    /// # Errors
    /// The stream breaks a rule, or a limit before its first stanza; nothing can be read behind it.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, StreamFault> {
        loop {
            if self.closed {
                return Ok(None);
            }
            if self.depth <= 1 && self.scan == Scan::Text {
                self.skip_space()?;
            }
            let Some(&byte) = self.buffer.get(self.at) else {
                return self.wait().map(|()| None);
            };
            self.at += 1;
            if let Some(frame) = self.step(byte)? {
                return Ok(Some(frame));
            }
        }
    }

    /// Nothing but white space stands between stanzas; it keeps the connection (RFC 6120 section 4.6.1).
    // [RFC6120-4.2-1]
    fn skip_space(&mut self) -> Result<(), StreamFault> {
        let space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let count = self.buffer.iter().take_while(|byte| space(byte)).count();
        self.drop_front(count);
        match self.buffer.first() {
            None | Some(b'<') => Ok(()),
            Some(_) => Err(self.fault("not-well-formed", "text between stanzas")),
        }
    }

    fn drop_front(&mut self, count: usize) {
        self.buffer.drain(..count);
        self.before += count as u64;
        self.at = 0;
    }

    /// All that is there was looked at, and more is to come.
    fn wait(&mut self) -> Result<(), StreamFault> {
        self.bounded()?;
        if self.skipped.is_some() {
            self.drop_front(self.at);
        }
        Ok(())
    }

    fn bounded(&mut self) -> Result<(), StreamFault> {
        if self.at > STANZA_BYTES_MAX {
            self.skip(format!("more than {STANZA_BYTES_MAX} bytes in one stanza"))
        } else {
            Ok(())
        }
    }

    /// The stanza that is begun is over a limit: it is passed over. Before there are stanzas the stream ends.
    // [RFC6120-13.12-1]
    fn skip(&mut self, text: String) -> Result<(), StreamFault> {
        let fault = self.fault("policy-violation", &text);
        if self.root.is_empty() {
            return Err(fault);
        }
        if self.skipped.is_none() {
            let head = self.head()?;
            self.skipped = Some(Skipped { head, fault });
        }
        Ok(())
    }

    fn fault(&self, condition: &'static str, text: &str) -> StreamFault {
        let byte = self.before + self.at as u64;
        let text = format!("{text}, at byte {byte} of the stream");
        StreamFault { condition, text }
    }

    // [RFC6120-11.1-1]
    fn restricted(&self) -> StreamFault {
        let text = "a comment, an instruction or a document type (RFC 6120 section 11.1)";
        self.fault("restricted-xml", text)
    }

    fn step(&mut self, byte: u8) -> Result<Option<Frame>, StreamFault> {
        self.scan = match (self.scan, byte) {
            (Scan::Text, b'<') => Scan::Less,
            (Scan::Text, _) => {
                self.at += memchr::memchr(b'<', &self.buffer[self.at..])
                    .unwrap_or(self.buffer.len() - self.at);
                Scan::Text
            }
            (Scan::Less, b'/') => Scan::Tag {
                ends: true,
                quote: 0,
                slash: false,
            },
            (Scan::Less, b'!') => Scan::Bang(0),
            (Scan::Less, b'?') if self.depth == 0 => Scan::Declaration,
            (Scan::Less, b'?') => return Err(self.restricted()),
            (Scan::Less, _) => Scan::Tag {
                ends: false,
                quote: 0,
                slash: false,
            },
            (Scan::Declaration, b'>') => {
                let declaration = self.at;
                self.drop_front(declaration);
                Scan::Text
            }
            (Scan::Declaration, _) => Scan::Declaration,
            (Scan::Bang(read), byte) => match CDATA.get(read) {
                Some(wanted) if *wanted == byte && self.depth > 1 => {
                    if read + 1 == CDATA.len() {
                        Scan::Data(0)
                    } else {
                        Scan::Bang(read + 1)
                    }
                }
                _ => return Err(self.restricted()),
            },
            (Scan::Data(brackets), b'>') if brackets >= 2 => Scan::Text,
            (Scan::Data(brackets), b']') => Scan::Data(brackets + 1),
            (Scan::Data(_), _) => Scan::Data(0),
            (Scan::Tag { ends, quote, slash }, byte) => return self.tag(ends, quote, slash, byte),
        };
        Ok(None)
    }

    fn tag(
        &mut self,
        ends: bool,
        quote: u8,
        slash: bool,
        byte: u8,
    ) -> Result<Option<Frame>, StreamFault> {
        let quote = match (quote, byte) {
            (0, b'\'' | b'"') => byte,
            (0, b'>') => {
                self.scan = Scan::Text;
                return self.tag_ended(ends, slash);
            }
            (open, byte) if open == byte => 0,
            (open, _) => open,
        };
        let slash = byte == b'/' && quote == 0;
        self.scan = Scan::Tag { ends, quote, slash };
        Ok(None)
    }

    fn tag_ended(&mut self, ends: bool, empty: bool) -> Result<Option<Frame>, StreamFault> {
        match (ends, empty) {
            (true, _) if self.depth <= 1 => {
                self.closed = true;
                return Ok(Some(Frame::Closed));
            }
            (true, _) => self.depth -= 1,
            (false, true) if self.depth == 0 => return self.opened(true).map(Some),
            (false, true) => {}
            (false, false) => self.depth += 1,
        }
        if self.depth == 2 && self.head == 0 {
            self.head = self.at;
        }
        if self.depth > DEPTH_MAX.into() {
            self.skip(format!("more than {DEPTH_MAX} elements open at once"))?;
        }
        match (self.depth, ends || empty) {
            (1, false) => self.opened(false).map(Some),
            (1, true) => self.stanza().map(Some),
            _ => Ok(None),
        }
    }

    /// The start tag of the stream is whole.
    fn opened(&mut self, empty: bool) -> Result<Frame, StreamFault> {
        self.bounded()?;
        let mut document = self.buffer[..self.at].to_vec();
        let name = document[1..]
            .iter()
            .take_while(|byte| !b" \t\r\n/>".contains(byte));
        let name: Vec<u8> = name.copied().collect();
        self.root_end = [AFTER, &name, b">"].concat();
        let tag = self.at;
        if empty {
            document.truncate(tag - 2);
            document.push(b'>');
        }
        self.root = document.clone();
        document.extend_from_slice(&self.root_end);
        let root = self.read(Element::read(&document))?;
        self.drop_front(tag);
        Ok(Frame::Opened(root))
    }

    fn stanza(&mut self) -> Result<Frame, StreamFault> {
        self.bounded()?;
        let frame = match self.skipped.take() {
            Some(skipped) => Frame::Skipped(skipped),
            None => self.whole()?,
        };
        self.drop_front(self.at);
        self.head = 0;
        Ok(frame)
    }

    /// The stanza, which is within what can be counted without reading it.
    fn whole(&self) -> Result<Frame, StreamFault> {
        let document = [&self.root, &self.buffer[..self.at], &self.root_end].concat();
        match Element::read_within(&document) {
            Err(error) if is_over_limit(&error) => {
                let fault = self.fault("policy-violation", &error.to_string());
                let head = self.head()?;
                Ok(Frame::Skipped(Skipped { head, fault }))
            }
            read => Ok(Frame::Stanza(self.read(read)?, document)),
        }
    }

    /// The stanza as its start tag has it.
    fn head(&self) -> Result<Option<Element>, StreamFault> {
        let Some(tag) = self.buffer[..self.head].strip_suffix(b">") else {
            return Ok(None);
        };
        let document = [&self.root, tag, b"/>", &self.root_end].concat();
        match Element::read_within(&document) {
            Err(error) if is_over_limit(&error) => Ok(None),
            read => self.read(read).map(Some),
        }
    }

    fn read(&self, read: Result<Option<Element>, Error>) -> Result<Element, StreamFault> {
        match read {
            Ok(Some(element)) => Ok(element),
            Ok(None) => Err(self.fault("not-well-formed", "no element")),
            Err(error) => Err(self.fault("not-well-formed", &error.to_string())),
        }
    }
}

fn is_over_limit(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::OverLimit(_))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::limits::{ATTRIBUTES_MAX, NODES_MAX};
    use proptest::prelude::*;

    const OPEN: &str = "<?xml version='1.0'?><stream:stream xmlns='jabber:client' \
                        xmlns:stream='http://etherx.jabber.org/streams' id='a' version='1.0'>";

    fn frames(text: &str) -> Result<Vec<Frame>, StreamFault> {
        frames_in(text, usize::MAX)
    }

    /// The frames of a text that comes in pieces of so many bytes.
    fn frames_in(text: &str, piece: usize) -> Result<Vec<Frame>, StreamFault> {
        let mut framer = Framer::default();
        let mut frames = Vec::new();
        for piece in text.as_bytes().chunks(piece) {
            framer.push(piece);
            while let Some(frame) = framer.next_frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    // [RFC6120-4.2-1]
    #[test]
    fn a_stream_is_its_root_its_stanzas_and_its_end() {
        let text = format!(
            "{OPEN}<stream:features/> \n<message to='a>b'><body>1 &lt; 2<![CDATA[ </body>]]></body>\
             </message></stream:stream>"
        );
        let frames = frames(&text).unwrap();
        let [
            Frame::Opened(root),
            Frame::Stanza(features, _),
            Frame::Stanza(message, _),
            Frame::Closed,
        ] = &frames[..]
        else {
            panic!("{frames:?}");
        };
        assert_eq!(root.attribute("id"), Some("a"));
        assert!(features.is("http://etherx.jabber.org/streams", "features"));
        assert_eq!(message.attribute("to"), Some("a>b"));
        let body = message.find("jabber:client", "body").unwrap();
        assert_eq!(body.own_text(), "1 < 2 </body>");
    }

    // [RFC6120-4.9-1] [RFC6120-11.1-1]
    #[test]
    fn what_the_rules_forbid_ends_the_stream_with_its_condition() {
        for (stanza, condition) in [
            ("<!-- x -->", "restricted-xml"),
            ("<a><!-- x --></a>", "restricted-xml"),
            ("<a><?x y?></a>", "restricted-xml"),
            ("<!DOCTYPE a>", "restricted-xml"),
            ("<a>&b;</a>", "not-well-formed"),
            ("<a></b>", "not-well-formed"),
            ("<a b='1' b='2'/>", "not-well-formed"),
            ("<c:a/>", "not-well-formed"),
            ("text", "not-well-formed"),
        ] {
            let fault = frames(&format!("{OPEN}{stanza}")).unwrap_err();
            assert_eq!(fault.condition, condition, "{stanza:.20}");
        }
        let long = format!("<stream:stream a='{}'", "x".repeat(STANZA_BYTES_MAX));
        assert_eq!(frames(&long).unwrap_err().condition, "policy-violation");
    }

    // [RFC6120-13.12-1]
    #[test]
    fn a_stanza_over_a_limit_is_passed_over() {
        let attributes: String = (0..=ATTRIBUTES_MAX)
            .map(|at| format!(" a{at}=''"))
            .collect();
        let deep = ["<a>", "</a>"].map(|tag| tag.repeat(DEPTH_MAX as usize));
        let long = "x".repeat(STANZA_BYTES_MAX);
        for (inner, text) in [
            (deep.concat(), "elements open at once"),
            (format!("<a>{long}</a>"), "bytes in one stanza"),
            (
                format!("<a><![CDATA[{long}</iq>]]></a>"),
                "bytes in one stanza",
            ),
            (format!("<a b='{long}'/>"), "bytes in one stanza"),
            (format!("<a{attributes}/>"), "attributes"),
            ("<a/>".repeat(NODES_MAX as usize / 2), "events"),
        ] {
            let stream = format!("{OPEN}<iq id='1' to='>'>{inner}</iq> <iq id='2'/>");
            for piece in [1 << 16, usize::MAX] {
                let frames = frames_in(&stream, piece).unwrap();
                let [_, Frame::Skipped(skipped), Frame::Stanza(next, _)] = &frames[..] else {
                    panic!("{text}: {frames:.200?}");
                };
                let head = skipped.head.as_ref().unwrap();
                assert_eq!(
                    (head.attribute("id"), head.attribute("to")),
                    (Some("1"), Some(">"))
                );
                assert!(
                    skipped.fault.text.contains(text),
                    "{text}: {}",
                    skipped.fault
                );
                assert_eq!(next.attribute("id"), Some("2"));
            }
        }
        for stanza in [
            format!("<iq{attributes}><a/></iq>"),
            format!("<iq a='{long}'/>"),
        ] {
            let frames = frames(&format!("{OPEN}{stanza}<iq/>")).unwrap();
            assert!(matches!(
                &frames[1..],
                [
                    Frame::Skipped(Skipped { head: None, .. }),
                    Frame::Stanza(..)
                ]
            ));
        }
    }

    #[test]
    fn what_is_passed_over_is_not_kept() {
        let mut framer = Framer::default();
        framer.push(format!("{OPEN}<a><b>").as_bytes());
        for _ in 0..100 {
            framer.push("<c>x</c>".repeat(STANZA_BYTES_MAX / 64).as_bytes());
            while framer.next_frame().unwrap().is_some() {}
            assert!(framer.buffer.len() <= STANZA_BYTES_MAX);
        }
    }

    proptest! {
        #[test]
        fn pieces_of_any_size_are_cut_alike(cuts in proptest::collection::vec(1_usize..40, 0..20)) {
            let text = format!("{OPEN}<iq id='1'><q xmlns='x'>a</q></iq>\n<a/></stream:stream>");
            let whole = frames(&text).unwrap();
            let mut framer = Framer::default();
            let mut rest = text.as_bytes();
            let mut got = Vec::new();
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let (piece, behind) = rest.split_at(cut.min(rest.len()));
                framer.push(piece);
                rest = behind;
                while let Some(frame) = framer.next_frame().unwrap() {
                    got.push(frame);
                    if got.len() > 10 { break; }
                }
            }
            prop_assert_eq!(got, whole);
        }
    }
}
