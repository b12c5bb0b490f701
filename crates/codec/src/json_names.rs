//! Names that stand twice in an object of JSON: nobody can tell what such an object means (RFC 8259 section 4, RFC 7493
//! section 2.3).

use crate::error::DecodeError;
use crate::json_value::LIMITS;
use crate::syntax::json::Json;
use crate::syntax::{Key, Kind, Pull};
use alloc::collections::BTreeSet;
use alloc::string::String;

/// The first name that stands twice in an object of a JSON text, and at which byte its second value is; `None` of a
/// text that is no JSON, too.
pub fn repeated_name(json: &str) -> Option<(String, usize)> {
    let mut found = None;
    // What is no JSON is refused by whoever reads it.
    walk(&mut Json::new(json, &LIMITS), &mut found).ok();
    found
}

fn walk(json: &mut Json<'_>, found: &mut Option<(String, usize)>) -> Result<(), DecodeError> {
    match json.peek()? {
        Kind::Map => walk_map(json, found),
        Kind::Array => {
            let mut array = json.array()?;
            while json.item(&mut array)? && found.is_none() {
                walk(json, found)?;
            }
            Ok(())
        }
        _ => json.skip(),
    }
}

fn walk_map(json: &mut Json<'_>, found: &mut Option<(String, usize)>) -> Result<(), DecodeError> {
    let (mut map, mut names) = (json.map()?, BTreeSet::new());
    while let Some(Key::Text(name)) = json.key(&mut map)? {
        let name = String::from(name);
        if names.contains(&name) {
            *found = Some((name, json.at()));
            break;
        }
        names.insert(name);
        walk(json, found)?;
        if found.is_some() {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_stands_twice_is_found_with_its_place() {
        for (text, expected) in [
            (r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None),
            (r#"{"a":1,"a":2}"#, Some(("a", 11))),
            (r#"{"a":1, "\u0061" : 2}"#, Some(("a", 19))),
            (r#"[1,{"b":[{"c":1,"c":{}}],"b":1}]"#, Some(("c", 20))),
            (r#"{"a":1,"a"#, None),
            ("", None),
        ] {
            let found = repeated_name(text);
            let found = found.as_ref().map(|(name, at)| (name.as_str(), *at));
            assert_eq!(found, expected, "{text}");
        }
    }
}
