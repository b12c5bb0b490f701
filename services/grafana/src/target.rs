//! What a target means: topic filters, with variables in them as Grafana puts them in.

use crate::asked::Condition;
use weir_hub::Entry;
use weir_model::Filter;
use weir_service::{Response, nearest};

/// The filters of a target. Grafana fills a variable in as a regular expression: what is not a letter or a
/// digit is escaped, and several values are `(a|b)`.
pub(crate) fn filters(target: &str) -> Result<Vec<Filter>, Response> {
    let filters = spelled_out(target).into_iter().map(|text| {
        Filter::parse(&text)
            .map_err(|error| Response::text(400, format!("bad filter `{text}`: {error}")))
    });
    filters.collect()
}

/// Most filters of one target.
const SPELLED_MAX: usize = 1024;

/// All that a target with `(a|b)` in it stands for, without escapes.
fn spelled_out(target: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut rest = target;
    while let Some((before, values, after)) = choice(rest) {
        let before = plain(before);
        let longer = all
            .iter()
            .flat_map(|head| values.iter().map(|value| head.clone() + &before + value));
        all = longer.take(SPELLED_MAX).collect();
        rest = after;
    }
    let tail = plain(rest);
    all.iter_mut().for_each(|head| head.push_str(&tail));
    all
}

/// The first `(a|b)`: what stands before it, its values, and what follows.
fn choice(text: &str) -> Option<(&str, Vec<String>, &str)> {
    let open = unescaped(text, '(')?;
    let close = open + unescaped(&text[open..], ')')?;
    let mut values = Vec::new();
    let mut inner = &text[open + 1..close];
    while let Some(bar) = unescaped(inner, '|') {
        values.push(plain(&inner[..bar]));
        inner = &inner[bar + 1..];
    }
    // Brackets without a choice are a part of a name.
    if values.is_empty() {
        return None;
    }
    values.push(plain(inner));
    Some((&text[..open], values, &text[close + 1..]))
}

fn unescaped(text: &str, wanted: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, letter)| {
        let here = letter == wanted && !escaped;
        escaped = letter == '\\' && !escaped;
        here.then_some(at)
    })
}

/// The text without its escapes.
fn plain(text: &str) -> String {
    let mut letters = text.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.extend(letters.next()),
            _ => out.push(letter),
        }
    }
    out
}

/// What ad hoc filters can look at.
pub(crate) const KEYS: &[&str] = &["topic", "name", "sensor", "type", "unit"];

/// What an entry has of a key.
pub(crate) fn value<'e>(entry: &'e Entry, key: &str) -> Option<&'e str> {
    let of = &entry.datastream;
    match key {
        "topic" => Some(&entry.topic),
        "name" => of.name.as_deref(),
        "sensor" => of.sensor.as_deref(),
        "type" => of.property.as_deref(),
        "unit" => of.unit.as_deref(),
        _ => None,
    }
}

/// Refuses conditions that nothing is known of.
pub(crate) fn check(conditions: &[Condition]) -> Result<(), Response> {
    for condition in conditions {
        if !KEYS.contains(&condition.key.as_str()) {
            let near = nearest(&condition.key, KEYS);
            let sentence = format!("no key `{}`; {near}", condition.key);
            return Err(Response::text(400, sentence));
        }
        if !matches!(condition.operator.as_str(), "=" | "!=") {
            let sentence = format!("`{}` is not possible; = and != are", condition.operator);
            return Err(Response::text(400, sentence));
        }
    }
    Ok(())
}

/// Says whether all conditions hold for an entry.
pub(crate) fn holds(entry: &Entry, conditions: &[Condition]) -> bool {
    conditions.iter().all(|condition| {
        let is = value(entry, &condition.key) == Some(condition.value.as_str());
        is == (condition.operator == "=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_grafana_writes_them() {
        assert_eq!(spelled_out("heating/+/t"), ["heating/+/t"]);
        assert_eq!(spelled_out(r"heating\/hall"), ["heating/hall"]);
        let many = spelled_out(r"(heating\/hall|ocean\/a\.b)/(t|u)");
        let expected = [
            "heating/hall/t",
            "heating/hall/u",
            "ocean/a.b/t",
            "ocean/a.b/u",
        ];
        assert_eq!(many, expected);
        assert_eq!(spelled_out(r"a (old\)"), ["a (old)"]);
        assert_eq!(spelled_out("a (old)"), ["a (old)"]);
        assert_eq!(spelled_out(r"\"), [""]);
    }
}
