//! A document as JSON: for clients that read no XML.
//!
//! Each element is a member by its local name: text where it has nothing else, else an object of its
//! attributes and elements, its own text under `value`; elements of one name are a list. It is the mapping
//! that paper 004 measures (section 4.1: XML made JSON element by element).

use super::{Element, Node};
use crate::syntax::json_text::write_string;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// The content of an element as a JSON object, with members put before it; an attribute named as one of them is
/// left out.
pub fn write(element: &Element, before: &[(&str, &str)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (name, value) in before {
        member(name, out);
        write_string(value, out);
        out.push(b',');
    }
    let is_new = |name: &str| before.iter().all(|(own, _)| *own != name);
    write_members(element, is_new, out);
    if out.last() == Some(&b',') {
        out.pop();
    }
    out.push(b'}');
}

fn member(name: &str, out: &mut Vec<u8>) {
    write_string(name, out);
    out.push(b':');
}

/// Every member ends with a comma.
fn write_members(element: &Element, is_wanted: impl Fn(&str) -> bool, out: &mut Vec<u8>) {
    let attributes = element.attributes.iter();
    for own in attributes.filter(|own| is_wanted(&own.local)) {
        member(&own.local, out);
        write_string(&own.value, out);
        out.push(b',');
    }
    for (name, all) in by_name(element) {
        member(name, out);
        match &all[..] {
            [one] => write_value(one, out),
            many => write_list(many, out),
        }
        out.push(b',');
    }
    let text = element.text();
    if !text.is_empty() {
        member("value", out);
        write_string(&text, out);
        out.push(b',');
    }
}

/// The elements in it by name, in the order in which the names come first.
fn by_name(element: &Element) -> Vec<(&str, Vec<&Element>)> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found: Vec<(&str, Vec<&Element>)> = Vec::new();
    for inner in element.elements() {
        let next = found.len();
        let place = *places.entry(inner.local.as_str()).or_insert(next);
        if place == next {
            found.push((&inner.local, Vec::new()));
        }
        found[place].1.push(inner);
    }
    found
}

fn write_list(all: &[&Element], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, element) in all.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_value(element, out);
    }
    out.push(b']');
}

fn write_value(element: &Element, out: &mut Vec<u8>) {
    let only_text = element.attributes.is_empty()
        && element
            .nodes
            .iter()
            .all(|node| matches!(node, Node::Text(_)));
    if only_text {
        write_string(&element.text(), out)
    } else {
        write(element, &[], out)
    }
}

/// The same as text.
pub fn to_string(element: &Element, before: &[(&str, &str)]) -> String {
    let mut out = Vec::new();
    write(element, before, &mut out);
    String::from_utf8(out).unwrap_or_default()
}
