//! Which format a media type or a client's wish means (RFC 9110 sections 8.3 and 12.5.1).
//!
//! Parameters that distinguish formats must agree, all others are ignored: `charset=utf-8` or
//! `odata.metadata=minimal` change nothing about the bytes.

use crate::format::{Confidence, Element, Format};
use crate::formats::FORMATS;
use alloc::vec::Vec;

/// Parameters that tell formats of one media type apart.
const DISTINCTIVE: [&str; 6] = ["profile", "version", "s", "c", "v", "subtype"];

/// The format that a `Content-Type` names; `None` where there is none (HTTP: 415).
pub fn by_media(content_type: &str) -> Option<&'static Format> {
    let given = Media::parse(content_type);
    if !given.charset_is_utf8() {
        return None;
    }
    let is = |media: &str| {
        let media = Media::parse(media);
        media.essence.eq_ignore_ascii_case(given.essence) && media.agrees(&given)
    };
    FORMATS.iter().find(|format| medias(format).any(is))
}

/// The format of a message that a `Content-Type` names. Where that says little, another format of the same type
/// that recognises the message comes first: Telegraf calls its lines plain text.
pub fn by_media_of(content_type: &str, message: &[u8]) -> Option<&'static Format> {
    let named = by_media(content_type)?;
    if !named.vague {
        return Some(named);
    }
    let essence = |format: &Format| Media::parse(format.media).essence;
    let mut recognised = FORMATS
        .iter()
        .filter(|format| essence(format) == essence(named));
    recognised
        .find(|format| format.confidence(message) >= Confidence::Likely)
        .or(Some(named))
}

/// The format of which an element of XML is a message, by its name and namespace.
pub fn by_element(name: &str, namespace: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| match format.element {
        Element::Text(own, of) | Element::Named(own, of) => (own, of) == (name, namespace),
        Element::None | Element::Roots(_) => false,
    })
}

/// The format of which a document of XML is a message, by the name of its root.
pub fn by_root(name: &str) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| matches!(format.element, Element::Roots(roots) if roots.contains(&name)))
}

/// The format that a CoAP Content-Format names (RFC 7252 section 12.3).
pub fn by_content_format(number: u16) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| format.content_format == Some(number))
}

/// The format that an `Accept` likes best; `None` where none is acceptable (HTTP: 406).
///
/// Of equally liked ones it is the one named most precisely, then the one named first, then the
/// first of [`FORMATS`]. An empty header accepts everything.
pub fn negotiate(accept: &str) -> Option<&'static Format> {
    if accept.trim_ascii().is_empty() {
        return FORMATS.first();
    }
    let ranges: Vec<Media<'_>> = split(accept, ',').map(Media::parse).collect();
    let mut best: Option<(&'static Format, Wish)> = None;
    for format in FORMATS {
        let Some(wish) = wish(&ranges, format).filter(|wish| wish.quality > 0) else {
            continue;
        };
        if best.is_none_or(|(_, other)| wish.beats(&other)) {
            best = Some((format, wish));
        }
    }
    best.map(|(format, _)| format)
}

/// How a header speaks of a format.
#[derive(Clone, Copy)]
struct Wish {
    /// Thousandths.
    quality: u16,
    /// 0 for `*/*`, 1 for `text/*`, 2 for `text/csv`, 3 with a distinctive parameter.
    precision: u8,
    /// Place in the header.
    place: usize,
}

impl Wish {
    fn beats(&self, other: &Self) -> bool {
        let rank = |wish: &Self| (wish.quality, wish.precision, usize::MAX - wish.place);
        rank(self) > rank(other)
    }
}

/// The most precise range that matches the format decides (RFC 9110 section 12.5.1).
fn wish(ranges: &[Media<'_>], format: &Format) -> Option<Wish> {
    let mut found: Option<Wish> = None;
    for (place, range) in ranges.iter().enumerate() {
        let Some(precision) = best_precision(range, format) else {
            continue;
        };
        if found.is_none_or(|wish| precision > wish.precision) {
            let quality = range.quality();
            found = Some(Wish {
                quality,
                precision,
                place,
            });
        }
    }
    found
}

/// Media types that are only also understood must be named in full.
fn best_precision(range: &Media<'_>, format: &Format) -> Option<u8> {
    let own = precision(range, format.media);
    let also = format.media_also.iter();
    let also = also.filter_map(|media| precision(range, media));
    own.into_iter()
        .chain(also.filter(|&precision| precision > 1))
        .max()
}

/// How precisely a range names a media type; `None` where it does not.
fn precision(range: &Media<'_>, media: &str) -> Option<u8> {
    let media = Media::parse(media);
    match range.essence.strip_suffix("/*") {
        Some("*") => Some(0),
        Some(kind) => media.is_of(kind).then_some(1),
        None if !media.essence.eq_ignore_ascii_case(range.essence) => None,
        None if range.distinctive().next().is_none() => Some(2),
        None => media.agrees(range).then_some(3),
    }
}

fn medias(format: &Format) -> impl Iterator<Item = &'static str> + use<> {
    core::iter::once(format.media).chain(format.media_also.iter().copied())
}

/// A media type or range with its parameters.
struct Media<'a> {
    essence: &'a str,
    parameters: &'a str,
}

impl<'a> Media<'a> {
    fn parse(text: &'a str) -> Self {
        let (essence, parameters) = text.split_once(';').unwrap_or((text, ""));
        Self {
            essence: essence.trim_ascii(),
            parameters,
        }
    }

    /// Whether it is a kind of `text`, `application` and so on.
    fn is_of(&self, kind: &str) -> bool {
        let own = self.essence.split_once('/');
        own.is_some_and(|(own, _)| own.eq_ignore_ascii_case(kind))
    }

    fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        split(self.parameters, ';').filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            Some((name.trim_ascii(), value.trim_ascii().trim_matches('"')))
        })
    }

    fn distinctive(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let distinctive = |name: &str| DISTINCTIVE.iter().any(|own| own.eq_ignore_ascii_case(name));
        // A switch that is off says no more than none.
        let said = move |&(name, value): &(&str, &str)| distinctive(name) && value != "0";
        self.parameters().filter(said)
    }

    fn parameter(&self, name: &str) -> Option<&'a str> {
        let mut parameters = self.parameters();
        parameters
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }

    /// Says whether both have the same distinctive parameters.
    fn agrees(&self, other: &Media<'_>) -> bool {
        let within = |one: &Media<'_>, all: &Media<'_>| {
            let same = |(name, value): (&str, &str)| {
                all.parameter(name)
                    .is_some_and(|own| own.eq_ignore_ascii_case(value))
            };
            one.distinctive().all(same)
        };
        within(self, other) && within(other, self)
    }

    fn charset_is_utf8(&self) -> bool {
        let utf8 = |charset: &str| {
            ["utf-8", "utf8", "us-ascii"]
                .iter()
                .any(|own| own.eq_ignore_ascii_case(charset))
        };
        self.parameter("charset").is_none_or(utf8)
    }

    /// Thousandths; a malformed weight counts as none.
    fn quality(&self) -> u16 {
        match self.parameter("q").map(str::parse::<f32>) {
            None => 1000,
            Some(Ok(weight)) if (0.0..=1.0).contains(&weight) => (weight * 1000.0) as u16,
            Some(_) => 0,
        }
    }
}

/// Splits at a mark outside of quotes.
fn split(text: &str, mark: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    text.split(move |character| {
        quoted ^= character == '"';
        character == mark && !quoted
    })
}

#[cfg(all(test, feature = "all"))]
mod tests {
    use super::*;

    fn chosen(accept: &str) -> &'static str {
        negotiate(accept).map_or("none", |format| format.name)
    }

    #[test]
    fn the_best_liked_format_is_chosen() {
        assert_eq!(chosen("*/*"), "json");
        assert_eq!(chosen(""), "json");
        assert_eq!(chosen("text/csv"), "csv");
        assert_eq!(chosen("text/csv, */*"), "csv");
        assert_eq!(chosen("text/csv;q=0.5, application/json;q=0.4"), "csv");
        assert_eq!(chosen("application/json, text/csv"), "json");
        assert_eq!(chosen("text/csv, application/json"), "csv");
        assert_eq!(
            chosen("*/*, application/json;q=0, text/plain;q=0"),
            "senml-json"
        );
        assert_eq!(chosen("text/*"), "plain");
        assert_eq!(chosen("TEXT/*, application/*;q=0.9"), "plain");
        assert_eq!(chosen("TEXT/Plain ; charset=\"utf-8\""), "plain");
    }

    #[test]
    fn what_is_not_known_is_not_acceptable() {
        assert_eq!(chosen("image/png"), "none");
        assert_eq!(chosen("*/json"), "none");
        assert_eq!(chosen("application"), "none");
        assert_eq!(chosen("application/*/*"), "none");
        assert_eq!(chosen("application/json;q=0"), "none");
        assert_eq!(chosen("text/plain;profile=unheard-of"), "none");
        assert_eq!(chosen("text/csv;q=nonsense"), "none");
    }

    #[test]
    fn a_content_type_is_read_with_its_parameters() {
        let named = |media| by_media(media).map(|format| format.name);
        assert_eq!(named("application/json; charset=UTF-8"), Some("json"));
        assert_eq!(
            named("application/json; odata.metadata=minimal"),
            Some("json")
        );
        assert_eq!(named("text/plain;profile=unheard-of"), None);
        assert_eq!(named("text/plain; charset=iso-8859-1"), None);
        assert_eq!(
            by_content_format(0).map(|format| format.name),
            Some("plain")
        );
    }

    #[test]
    fn parameters_tell_the_formats_of_one_media_type_apart() {
        for (media, name) in [
            ("application/om+xml;version=2.0", "om"),
            ("application/om+xml; version=\"2.0\"; charset=utf-8", "om"),
            ("application/om+xml;version=1.0.0", "om1"),
            ("application/om+xml", "om"),
            ("text/xml;subtype=\"om/1.0.0\"", "om1"),
            ("text/xml", "xml"),
            ("text/plain;profile=swe", "swe-text"),
            ("application/exi", "exi"),
            ("application/exi;c=1", "exi-c"),
            ("application/exi;s=1", "exi-s"),
            ("application/exi;c=1;s=1", "exi-sc"),
            ("application/exi; s=1; c=1", "exi-sc"),
            ("application/exi;v=om", "exi-om"),
            ("application/exi;c=1;v=om", "exi-om-c"),
            ("application/exi;v=om;s=1", "exi-om"),
            ("application/exi;s=1;v=om", "exi-om"),
            ("application/exi;v=om;s=1;c=1", "exi-om-c"),
            ("application/exi; c=1; s=1; v=om", "exi-om-c"),
            ("application/exi;s=0;v=om;c=1", "exi-om-c"),
            ("application/exi;c=0", "exi"),
            ("application/exi;s=0;c=1", "exi-c"),
        ] {
            assert_eq!(
                by_media(media).map(|format| format.name),
                Some(name),
                "{media}"
            );
            assert_eq!(chosen(media), name, "{media}");
        }
        for media in [
            "application/om+xml;version=3.0",
            "application/exi;s=1;v=om;c=2",
            "application/exi;v=sos",
            "application/exi;c=2",
            "text/plain;profile=swe;version=2.0",
            "application/soap+xml;version=1.1",
        ] {
            assert_eq!(by_media(media), None, "{media}");
            assert_eq!(chosen(media), "none", "{media}");
        }
        // The one without parameters is the first of its type, unless one is named.
        assert_eq!(
            chosen("application/exi;q=0.5, application/exi;c=1"),
            "exi-c"
        );
        assert_eq!(chosen("application/exi"), "exi");
        assert_eq!(chosen("application/exi;s=1;q=0, application/*"), "json");
    }

    #[test]
    fn every_format_is_found_by_its_own_media_type() {
        for format in FORMATS {
            assert_eq!(
                by_media(format.media).map(|found| found.name),
                Some(format.name)
            );
            assert_eq!(chosen(format.media), format.name);
        }
    }
}
