//! Text in XML: what is escaped, and what XML cannot say at all.

/// Appends a text as the value of an attribute in single or double quotes: it reads back as it is, line ends and
/// tabs too (XML 1.0 sections 2.11 and 3.3.3 would change them).
pub fn escape(text: &str, out: &mut String) {
    escape_where(text, out, |byte| {
        is_markup(byte) || b"'\"\n\t".contains(&byte)
    });
}

/// Appends a text as content. Quotes stay as they are there: every reference costs whoever reads it, and a server
/// pays for each, in JSON many times a message.
pub fn escape_content(text: &str, out: &mut String) {
    escape_where(text, out, is_markup);
}

fn escape_where(text: &str, out: &mut String, is_special: impl Fn(u8) -> bool) {
    let mut rest = text;
    while let Some(at) = rest.bytes().position(&is_special) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'\'' => "&apos;",
            b'"' => "&quot;",
            b'\r' => "&#13;",
            b'\n' => "&#10;",
            _ => "&#9;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}

/// What is no text anywhere, and the line end that is another one when it is read (XML 1.0 section 2.11).
fn is_markup(byte: u8) -> bool {
    matches!(byte, b'&' | b'<' | b'>' | b'\r')
}

/// Whether XML can carry each character (XML 1.0 production 2), escaped or not.
pub fn is_carried(text: &str) -> bool {
    text.chars().all(|character| match character {
        '\t' | '\n' | '\r' => true,
        '\u{FFFE}' | '\u{FFFF}' => false,
        character => character >= ' ',
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_would_change_is_escaped() {
        let mut out = String::new();
        escape("a<b>&'\"\r\n\tž", &mut out);
        assert_eq!(out, "a&lt;b&gt;&amp;&apos;&quot;&#13;&#10;&#9;ž");
        out.clear();
        escape_content("{\"a\": 'b'}\r\n\t<&]]>", &mut out);
        assert_eq!(out, "{\"a\": 'b'}&#13;\n\t&lt;&amp;]]&gt;");
        assert!(is_carried("a\tb\u{1F600}"));
        assert!(!is_carried("a\u{1}"));
        assert!(!is_carried("\u{FFFE}"));
    }
}
