//! XML written: a document of names that are literals, with their prefixes.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// Writes one document on one line, without a declaration.
#[derive(Debug, Default)]
pub struct Xml {
    out: String,
    /// Names of the elements that are open.
    open: Vec<String>,
    /// Whether the start tag written last still lacks its `>`.
    in_tag: bool,
}

impl Xml {
    /// An empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins an element; its name is with its prefix.
    pub fn start(&mut self, name: &str) -> &mut Self {
        self.close_tag();
        self.out.push('<');
        self.out.push_str(name);
        self.open.push(name.to_owned());
        self.in_tag = true;
        self
    }

    /// Begins an element of a prefix, which may be none.
    pub fn start_as(&mut self, prefix: &str, local: &str) -> &mut Self {
        match prefix {
            "" => self.start(local),
            prefix => self.start(&alloc::format!("{prefix}:{local}")),
        }
    }

    /// Adds an attribute to the element just begun.
    pub fn attribute(&mut self, name: &str, value: &str) -> &mut Self {
        self.attribute_as("", name, value)
    }

    /// Adds an attribute of a prefix, which may be none.
    pub fn attribute_as(&mut self, prefix: &str, local: &str, value: &str) -> &mut Self {
        self.out.push(' ');
        if !prefix.is_empty() {
            self.out.push_str(prefix);
            self.out.push(':');
        }
        self.out.push_str(local);
        self.out.push_str("=\"");
        write_escaped(value, &mut self.out);
        self.out.push('"');
        self
    }

    /// Declares prefixes on the element just begun.
    pub fn prefixes(&mut self, prefixes: &[(&str, &str)]) -> &mut Self {
        for (prefix, uri) in prefixes {
            self.attribute_as("xmlns", prefix, uri);
        }
        self
    }

    /// Adds text.
    pub fn text(&mut self, text: &str) -> &mut Self {
        self.close_tag();
        write_escaped(text, &mut self.out);
        self
    }

    /// Adds XML as it is.
    pub fn raw(&mut self, xml: &str) -> &mut Self {
        self.close_tag();
        self.out.push_str(xml);
        self
    }

    /// Ends the element begun last.
    pub fn end(&mut self) -> &mut Self {
        let Some(name) = self.open.pop() else {
            return self;
        };
        if core::mem::take(&mut self.in_tag) {
            self.out.push_str("/>");
            return self;
        }
        self.out.push_str("</");
        self.out.push_str(&name);
        self.out.push('>');
        self
    }

    /// An element that holds text.
    pub fn leaf(&mut self, name: &str, text: &str) -> &mut Self {
        self.start(name).text(text).end()
    }

    /// An element for each text.
    pub fn leaves<T: AsRef<str>>(
        &mut self,
        name: &str,
        texts: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        for text in texts {
            self.leaf(name, text.as_ref());
        }
        self
    }

    /// An element of one attribute.
    pub fn empty(&mut self, name: &str, attribute: &str, value: &str) -> &mut Self {
        self.start(name).attribute(attribute, value).end()
    }

    /// The document so far, and what closes it: for those who put something between.
    pub fn split(mut self) -> (String, String) {
        self.close_tag();
        let head = core::mem::take(&mut self.out);
        while !self.open.is_empty() {
            self.end();
        }
        (head, self.out)
    }

    /// The document, all its elements ended.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.end();
        }
        self.out
    }

    fn close_tag(&mut self) {
        if core::mem::take(&mut self.in_tag) {
            self.out.push('>');
        }
    }
}

/// Appends text so that it may stand in content and in attributes; a character that XML has not becomes
/// U+FFFD (XML 1.0 section 2.2).
pub fn write_escaped(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}
