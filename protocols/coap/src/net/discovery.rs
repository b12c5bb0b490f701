//! `/.well-known/core`: what there is (RFC 6690, RFC 7252 section 7.2).

use super::translate::LINK_FORMAT;
use crate::wire::{Code, Link, Message, Number, matches_query, query_of, write_links};
use weir_binding::Gateway;
use weir_hub::Principal;
use weir_model::Filter;

/// Where it is.
pub(super) const PATH: &str = "/.well-known/core";
/// Datastreams listed at most: more are found in the catalog.
const DATASTREAMS_MAX: usize = 10_000;

/// Answers with the links that the query picks; a group is not told of nothing (RFC 6690 section 4.1).
// [RFC7252-7.2-1] [RFC6690-4-1]
pub(super) fn answer(request: &Message, links: &[Link]) -> Message {
    if request.code != Code::GET {
        let reason = "GET is possible here";
        return Message::diagnostic(Code::METHOD_NOT_ALLOWED, reason);
    }
    let accept = request.options.uint(Number::ACCEPT);
    if accept.is_some_and(|number| number != u32::from(LINK_FORMAT)) {
        return Message::diagnostic(Code::NOT_ACCEPTABLE, "links are in Content-Format 40");
    }
    let query = query_of(&request.options);
    let picked = |link: &&Link| {
        let mut filters = query.iter().filter(|(_, value)| !value.is_empty());
        filters.all(|(name, value)| matches_query(link, name, value))
    };
    let mut body = String::new();
    write_links(links.iter().filter(picked), &mut body);
    let mut message = Message::new(Code::CONTENT).with_payload(body);
    message
        .options
        .push_uint(Number::CONTENT_FORMAT, u32::from(LINK_FORMAT));
    message
}

/// The services, and every datastream that this principal may read.
// [RFC7252-7.2.1-1]
pub(super) fn links(context: &dyn Gateway, principal: &Principal) -> Vec<Link> {
    let formats: Vec<String> = weir_codec::FORMATS
        .iter()
        .filter_map(|format| format.content_format)
        .map(|number| number.to_string())
        .collect();
    let formats = formats.join(" ");
    let mut links = vec![
        Link::new("/live")
            .with("rt", "weir.live")
            .with("title", "latest values, live; add a topic or filter")
            .with("ct", &*formats)
            .with("obs", ""),
        Link::new("/history")
            .with("rt", "weir.history")
            .with("title", "what was; add a topic or filter")
            .with("ct", &*formats),
        Link::new("/catalog")
            .with("rt", "weir.catalog")
            .with("title", "what the datastreams are")
            .with("ct", "50"),
    ];
    let everything: Vec<_> = Filter::parse("#").into_iter().collect();
    let caller = context.hub().caller(context.now(), principal);
    if let Ok(entries) = caller.and_then(|caller| caller.entries(&everything)) {
        let datastreams = entries.iter().take(DATASTREAMS_MAX).map(|entry| {
            let mut link = Link::new(target(&entry.topic));
            if let Some(property) = entry.datastream.property.as_deref() {
                link = link.with("rt", property);
            }
            if let Some(unit) = entry.datastream.unit.as_deref() {
                link = link.with("u", unit);
            }
            if let Some(name) = entry.datastream.name.as_deref() {
                link = link.with("title", name);
            }
            link.with("if", "weir.datastream").with("obs", "")
        });
        links.extend(datastreams);
    }
    links
}

/// The resource of a topic.
fn target(topic: &str) -> String {
    let mut options = crate::wire::Options::new();
    topic
        .split('/')
        .for_each(|level| options.push(Number::URI_PATH, level.as_bytes()));
    format!("/live{}", crate::wire::path_of(&options))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn asked(query: &str) -> String {
        let mut request = Message::new(Code::GET);
        crate::wire::set_query(&mut request.options, Number::URI_QUERY, query).unwrap();
        let links = [
            Link::new("/a").with("rt", "Type1 Type2").with("obs", ""),
            Link::new("/b").with("rt", "Type2").with("if", "If1"),
        ];
        let answer = answer(&request, &links);
        String::from_utf8(answer.payload.to_vec()).unwrap()
    }

    /// [RFC7252-7.2-1]
    #[test]
    fn links_are_picked_by_the_query() {
        assert_eq!(
            asked(""),
            "</a>;rt=\"Type1 Type2\";obs,</b>;rt=\"Type2\";if=\"If1\""
        );
        assert_eq!(asked("rt=Type1"), "</a>;rt=\"Type1 Type2\";obs");
        assert_eq!(asked("if=If*"), "</b>;rt=\"Type2\";if=\"If1\"");
        assert_eq!(asked("href=/a"), "</a>;rt=\"Type1 Type2\";obs");
        assert_eq!(asked("rt=Type2&href=/b"), "</b>;rt=\"Type2\";if=\"If1\"");
        assert_eq!(asked("title=x"), "");
    }

    #[test]
    fn a_topic_is_a_path_whatever_its_levels_hold() {
        assert_eq!(target("kitchen/temp"), "/live/kitchen/temp");
        assert_eq!(target("a b/50%"), "/live/a%20b/50%25");
    }
}
