//! The little that is needed to write HTML and SVG safely: text that is escaped, and short numbers.

/// Text as it may stand in an element or in a quoted attribute.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            other => safe.push(other),
        }
    }
    safe
}

/// A cell's name, which may break behind each of its pairs.
pub(super) fn cell(name: &str) -> String {
    escaped(name).replace(';', ";<wbr>")
}

/// Columns of words, which stand to the left.
const WORDS: [&str; 15] = [
    "",
    "asked",
    "cell",
    "claim",
    "contender",
    "figure",
    "against",
    "metric",
    "measured here",
    "paper",
    "runs",
    "status",
    "unit",
    "where",
    "why it is not judged",
];

/// The heads of a table, each a button that sorts.
pub(super) fn heads<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let head = |name: &str| {
        let class = if WORDS.contains(&name) {
            " class=\"words\""
        } else {
            ""
        };
        format!(
            "<th scope=\"col\"{class}><button type=\"button\">{}</button></th>",
            escaped(name)
        )
    };
    names.into_iter().map(head).collect()
}

/// A number as an axis shows it: 1.5k, 20M, 0.05.
pub(super) fn short(value: f64) -> String {
    let (divided, suffix) = match value.abs() {
        v if v >= 1e9 => (value / 1e9, "G"),
        v if v >= 1e6 => (value / 1e6, "M"),
        v if v >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Six decimals at most, none that says nothing.
    let text = format!("{divided:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}{suffix}")
}

/// A coordinate: a tenth of a pixel is enough.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// JSON as it may stand in a script element.
pub(super) fn embedded(json: &str) -> String {
    json.replace("</", "<\\/").replace("<!--", "<\\!--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_ends_an_element_or_an_attribute() {
        assert_eq!(
            escaped(r#"<a href="x">&"#),
            "&lt;a href=&quot;x&quot;&gt;&amp;"
        );
        assert_eq!(embedded(r#"{"a":"</script>"}"#), r#"{"a":"<\/script>"}"#);
    }

    #[test]
    fn axes_show_short_numbers() {
        let shown = [0.05, 1.0, 1500.0, 20e6, 3e9, 0.0].map(short);
        assert_eq!(shown, ["0.05", "1", "1.5k", "20M", "3G", "0"]);
    }
}
