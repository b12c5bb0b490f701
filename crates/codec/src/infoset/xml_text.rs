//! XML written: one line, no declaration, no white space between elements.

use crate::infoset::xml_chars::is_char;
use crate::infoset::{Atom, Emit, Name};
use crate::number::{TimeWriter, write_f64};
use alloc::vec::Vec;

/// A prefix and the namespace that it stands for.
pub(crate) type Prefix = (&'static str, &'static str);

/// Writes one document.
pub(crate) struct XmlText<'o> {
    out: &'o mut Vec<u8>,
    times: TimeWriter,
    /// Namespaces that names may be in; the root declares them all.
    prefixes: &'static [Prefix],
    /// Whether the root is still to come.
    before_root: bool,
    /// Whether the start tag written last still lacks its `>`.
    open: bool,
}

impl<'o> XmlText<'o> {
    /// A document in no namespace.
    pub(crate) fn new(out: &'o mut Vec<u8>) -> Self {
        Self::with_prefixes(&[], out)
    }

    /// A document in these namespaces; names in none have no prefix.
    pub(crate) fn with_prefixes(prefixes: &'static [Prefix], out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            times: TimeWriter::default(),
            prefixes,
            before_root: true,
            open: false,
        }
    }

    /// Elements within a document that declares these prefixes.
    pub(crate) fn within(prefixes: &'static [Prefix], out: &'o mut Vec<u8>) -> Self {
        Self {
            before_root: false,
            ..Self::with_prefixes(prefixes, out)
        }
    }

    /// Writes XML as it is, between elements.
    pub(crate) fn raw(&mut self, xml: &str) {
        self.close_tag();
        self.out.extend_from_slice(xml.as_bytes());
    }

    fn close_tag(&mut self) {
        if core::mem::replace(&mut self.open, false) {
            self.out.push(b'>');
        }
    }

    fn name(&mut self, name: Name<'static>) {
        if !name.uri.is_empty() {
            // Most names have the very text that the table has.
            let mut prefixes = self.prefixes.iter();
            let same = prefixes.find(|(_, uri)| core::ptr::eq(*uri, name.uri));
            let equal = || self.prefixes.iter().find(|(_, uri)| *uri == name.uri);
            let prefix = same.or_else(equal).map_or("", |(prefix, _)| prefix);
            self.out.extend_from_slice(prefix.as_bytes());
            self.out.push(b':');
        }
        self.out.extend_from_slice(name.local.as_bytes());
    }

    fn declare_prefixes(&mut self) {
        for (prefix, uri) in self.prefixes {
            for part in [" xmlns:", prefix, "=\"", uri, "\""] {
                self.out.extend_from_slice(part.as_bytes());
            }
        }
    }

    fn atom(&mut self, value: Atom<'_>) {
        match value {
            Atom::Text(text) => write_text(text, self.out),
            Atom::Number(number) | Atom::Result(number) => write_f64(number, self.out),
            Atom::Bool(true) => self.out.extend_from_slice(b"true"),
            Atom::Bool(false) => self.out.extend_from_slice(b"false"),
            Atom::Time(time) => self.times.write(time, self.out),
            Atom::Json(json) => write_json(json, self.out),
            Atom::JsonString(text) => write_json_string(text, self.out),
            Atom::Name(name) => self.name(name),
            Atom::Pair(one, other) => {
                write_f64(one, self.out);
                self.out.push(b' ');
                write_f64(other, self.out);
            }
            Atom::Id(letter, number) => {
                self.out.extend_from_slice(letter.as_bytes());
                write_f64(number as f64, self.out);
            }
        }
    }
}

impl Emit for XmlText<'_> {
    fn start(&mut self, name: Name<'static>) {
        self.close_tag();
        self.out.push(b'<');
        self.name(name);
        if core::mem::replace(&mut self.before_root, false) {
            self.declare_prefixes();
        }
        self.open = true;
    }

    fn attribute(&mut self, name: Name<'static>, value: Atom<'_>) {
        self.out.push(b' ');
        self.name(name);
        self.out.extend_from_slice(b"=\"");
        self.atom(value);
        self.out.push(b'"');
    }

    fn content(&mut self, value: Atom<'_>) {
        self.close_tag();
        self.atom(value);
    }

    fn end(&mut self, name: Name<'static>) {
        if core::mem::replace(&mut self.open, false) {
            return self.out.extend_from_slice(b"/>");
        }
        self.out.extend_from_slice(b"</");
        self.name(name);
        self.out.push(b'>');
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    write_escaped(text, out, |_forbidden, out| {
        out.extend_from_slice("\u{FFFD}".as_bytes());
    });
}

/// Forbidden characters can only stand inside the strings of JSON, where they may be escaped.
fn write_json(json: &str, out: &mut Vec<u8>) {
    write_escaped(json, out, |forbidden, out| {
        write_unicode_escape(forbidden, out)
    });
}

fn write_json_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\\', '\n', '\r', '\t']) {
        write_json(&rest[..at], out);
        write_unicode_escape(char::from(rest.as_bytes()[at]), out);
        rest = &rest[at + 1..];
    }
    write_json(rest, out);
    out.push(b'"');
}

fn write_unicode_escape(character: char, out: &mut Vec<u8>) {
    let code = character as u32;
    out.extend_from_slice(b"\\u");
    for shift in [12, 8, 4, 0] {
        out.push(b"0123456789abcdef"[(code >> shift & 15) as usize]);
    }
}

/// Bytes that may not stand as they are; those from 0xEF on may begin U+FFFE or U+FFFF.
const fn is_special(byte: u8) -> bool {
    matches!(byte, 0..=0x1F | b'<' | b'>' | b'&' | b'"' | 0xEF)
}

/// Where the first special byte is; many are looked at in one step.
fn special(bytes: &[u8]) -> Option<usize> {
    const STEP: usize = 16;
    let any = |step: &[u8; STEP]| {
        step.iter()
            .fold(false, |found, byte| found | is_special(*byte))
    };
    let (steps, rest) = bytes.as_chunks::<STEP>();
    let begin = steps.iter().take_while(|step| !any(step)).count() * STEP;
    if begin == bytes.len() - rest.len() {
        // What is left is looked at in one step, too.
        let mut last = [b' '; STEP];
        last[..rest.len()].copy_from_slice(rest);
        if !any(&last) {
            return None;
        }
    }
    let found = bytes[begin..].iter().position(|byte| is_special(*byte));
    found.map(|at| begin + at)
}

fn write_escaped(text: &str, out: &mut Vec<u8>, forbidden: impl Fn(char, &mut Vec<u8>)) {
    let mut rest = text;
    while let Some(at) = special(rest.as_bytes()) {
        out.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        let Some(character) = rest.chars().next() else {
            return;
        };
        let len = character.len_utf8();
        match character {
            '<' => out.extend_from_slice(b"&lt;"),
            '>' => out.extend_from_slice(b"&gt;"),
            '&' => out.extend_from_slice(b"&amp;"),
            '"' => out.extend_from_slice(b"&quot;"),
            '\n' => out.extend_from_slice(b"&#10;"),
            '\r' => out.extend_from_slice(b"&#13;"),
            '\t' => out.extend_from_slice(b"&#9;"),
            other if is_char(other) => out.extend_from_slice(&rest.as_bytes()[..len]),
            other => forbidden(other, out),
        }
        rest = &rest[len..];
    }
    out.extend_from_slice(rest.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    #[test]
    fn what_is_special_is_escaped_wherever_it_stands() {
        for before in 0..40 {
            for (special, escaped) in [
                ("<", "&lt;"),
                ("\u{1}", "\u{FFFD}"),
                ("\u{FF1A}", "\u{FF1A}"),
            ] {
                let plain = "a".repeat(before);
                let mut out = Vec::new();
                write_text(&[&*plain, special, &*plain].concat(), &mut out);
                let expected = [&*plain, escaped, &*plain].concat();
                assert_eq!(String::from_utf8(out).as_deref(), Ok(&*expected));
            }
        }
    }
}
