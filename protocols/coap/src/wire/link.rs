//! Links to resources, and which of them a query picks (RFC 6690).

use alloc::string::String;

/// A link: a target and its attributes, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Where the resource is.
    pub target: String,
    /// Names with their values; one without a value has an empty one.
    pub attributes: alloc::vec::Vec<(&'static str, String)>,
}

impl Link {
    /// A link without attributes.
    pub fn new(target: impl Into<String>) -> Self {
        Self {
            target: target.into(),
            ..Self::default()
        }
    }

    /// The link with one more attribute.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.attributes.push((name, value.into()));
        self
    }
}

/// Says whether a link is among those that `name=value` picks (RFC 6690 section 4.1): a value that
/// ends in `*` is a prefix; `rel`, `rt`, `if` and `ct` are lists of which one must fit.
// [RFC6690-4.1-1] [RFC6690-4.1-2]
pub fn matches_query(link: &Link, name: &str, value: &str) -> bool {
    let (wanted, prefix) = match value.strip_suffix('*') {
        Some(wanted) => (wanted, true),
        None => (value, false),
    };
    let fits = |found: &str| {
        if prefix {
            found.starts_with(wanted)
        } else {
            found == wanted
        }
    };
    if name == "href" {
        return fits(&link.target);
    }
    let mut named = link.attributes.iter().filter(|(known, _)| *known == name);
    named.any(|(_, found)| match name {
        "rel" | "rev" | "rt" | "if" | "ct" => found.split(' ').any(&fits) || fits(found),
        _ => fits(found),
    })
}

/// Appends links as `application/link-format` (RFC 6690 section 2).
// [RFC6690-2-1]
pub fn write_links<'a>(links: impl Iterator<Item = &'a Link>, out: &mut String) {
    for link in links {
        if !out.is_empty() {
            out.push(',');
        }
        out.push('<');
        out.push_str(&link.target);
        out.push('>');
        for (name, value) in &link.attributes {
            write_attribute(name, value, out);
        }
    }
}

/// Numbers stand bare, other values quoted; `obs` has none.
fn write_attribute(name: &str, value: &str, out: &mut String) {
    out.push(';');
    out.push_str(name);
    if value.is_empty() && name == "obs" {
        return;
    }
    out.push('=');
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return out.push_str(value);
    }
    out.push('"');
    for character in value.chars() {
        if matches!(character, '"' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sensor() -> Link {
        Link::new("/sensors/temp")
            .with("rt", "temperature-c Type2")
            .with("if", "sensor")
            .with("ct", "0 50")
            .with("sz", "120")
            .with("obs", "")
    }

    /// [RFC6690-2-1]
    #[test]
    fn links_are_written_as_the_format_has_them() {
        let mut out = String::new();
        let second = Link::new("/a").with("title", "say \"hi\"");
        write_links([sensor(), second].iter(), &mut out);
        let first =
            "</sensors/temp>;rt=\"temperature-c Type2\";if=\"sensor\";ct=\"0 50\";sz=120;obs";
        assert_eq!(out, alloc::format!("{first},</a>;title=\"say \\\"hi\\\"\""));
    }

    /// [RFC6690-4.1-1]
    #[test]
    fn a_query_picks_by_whole_value_by_prefix_and_in_lists() {
        let link = sensor();
        for (name, value) in [
            ("rt", "Type2"),
            ("rt", "temp*"),
            ("rt", "*"),
            ("href", "/sensors/temp"),
            ("href", "/sens*"),
            ("sz", "*"),
            ("ct", "50"),
            ("obs", "*"),
        ] {
            assert!(matches_query(&link, name, value), "{name}={value}");
        }
        for (name, value) in [
            ("rt", "temp"),
            ("rt", "type2"),
            ("title", "*"),
            ("href", "/sensors"),
        ] {
            assert!(!matches_query(&link, name, value), "{name}={value}");
        }
    }
}
