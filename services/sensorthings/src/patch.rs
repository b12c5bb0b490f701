//! JSON Patch (RFC 6902), as `PATCH` of an entity may be written (18-088 section 10.3.2).
//!
//! What comes out is a merge: the members that differ, those removed as null, so that a patch is checked and
//! done like any other change.

use crate::entity::Object;
use crate::fault::{Fault, Result};
use serde_json::Value as Json;

/// The media type.
pub(crate) const MEDIA: &str = "application/json-patch+json";
/// Operations of one patch: each may copy the document once.
const OPERATIONS_MAX: usize = 1000;
/// Bytes that the operations of one patch add to the document, about.
const ADDED_BYTES_MAX: usize = 4 << 20;
/// Bytes of a value without its text, about.
const VALUE_BYTES: usize = 32;
/// Levels of what comes out: what is read back may have a few more.
const LEVELS_MAX: usize = 100;

/// The merge that does to an object what the operations do.
// [STA-A.3.1.2-5]
pub(crate) fn merge(before: &Object, operations: &Json) -> Result<Object> {
    let missing = || Fault::bad("a list of operations was expected (RFC 6902)");
    let operations = operations.as_array().ok_or_else(missing)?;
    if operations.len() > OPERATIONS_MAX {
        return Err(Fault::over("operations of a patch", OPERATIONS_MAX));
    }
    let mut document = Json::Object(before.clone());
    let mut left = ADDED_BYTES_MAX;
    for (number, operation) in operations.iter().enumerate() {
        let within = |fault: Fault| fault.within(&format!("operation {number}"));
        apply(&mut document, operation, &mut left).map_err(within)?;
    }
    let Json::Object(after) = document else {
        return Err(Fault::bad("what is left is no object"));
    };
    let removed = before.keys().filter(|name| !after.contains_key(*name));
    let mut merge: Object = removed.map(|name| (name.clone(), Json::Null)).collect();
    let differs = |(name, value): &(String, Json)| before.get(name) != Some(value);
    merge.extend(after.into_iter().filter(differs));
    Ok(merge)
}

/// How many bytes a value is, about, and how many levels it has.
fn size(value: &Json) -> (usize, usize) {
    let join = |(bytes, levels): (usize, usize), (more, below): (usize, usize)| {
        (bytes + more, levels.max(below + 1))
    };
    let own = (VALUE_BYTES, 1);
    match value {
        Json::String(text) => (VALUE_BYTES + text.len(), 1),
        Json::Array(list) => list.iter().map(size).fold(own, join),
        Json::Object(members) => {
            let named = members.iter().map(|(name, value)| {
                let (bytes, levels) = size(value);
                (bytes + name.len(), levels)
            });
            named.fold(own, join)
        }
        _ => own,
    }
}

/// Whether a value may be put at a path; its bytes, about.
fn check_size(path: &str, value: &Json) -> Result<usize> {
    let (bytes, levels) = size(value);
    if path.matches('/').count() + levels > LEVELS_MAX {
        Err(Fault::bad(format!("more than {LEVELS_MAX} levels")))
    } else {
        Ok(bytes)
    }
}

/// Takes the bytes of a value that is put at a path from what is left for them.
fn take(left: &mut usize, path: &str, value: &Json) -> Result<()> {
    let bytes = check_size(path, value)?;
    let too_many = || Fault::over("bytes added by a patch", ADDED_BYTES_MAX);
    *left = left.checked_sub(bytes).ok_or_else(too_many)?;
    Ok(())
}

fn apply(document: &mut Json, operation: &Json, left: &mut usize) -> Result<()> {
    let text = |name: &str| {
        let missing = || Fault::bad(format!("`{name}` was expected"));
        operation[name].as_str().ok_or_else(missing)
    };
    let value = || {
        let missing = || Fault::bad("`value` was expected");
        operation.get("value").cloned().ok_or_else(missing)
    };
    let path = text("path")?;
    match text("op")? {
        "add" => {
            let added = value()?;
            take(left, path, &added)?;
            add(document, path, added)
        }
        "remove" => remove(document, path).map(drop),
        "replace" => {
            let put = value()?;
            take(left, path, &put)?;
            *at(document, path)? = put;
            Ok(())
        }
        "move" => {
            let moved = remove(document, text("from")?)?;
            check_size(path, &moved)?;
            add(document, path, moved)
        }
        "copy" => {
            let from = at(document, text("from")?)?;
            take(left, path, from)?;
            let copied = from.clone();
            add(document, path, copied)
        }
        "test" if *at(document, path)? == value()? => Ok(()),
        "test" => Err(Fault::new(409, format!("`{path}` is something else"))),
        other => Err(Fault::bad(format!("there is no operation `{other}`"))),
    }
}

fn nothing(path: &str) -> Fault {
    Fault::new(409, format!("there is nothing at `{path}`"))
}

/// The value that a pointer leads to (RFC 6901).
fn at<'d>(document: &'d mut Json, path: &str) -> Result<&'d mut Json> {
    document.pointer_mut(path).ok_or_else(|| nothing(path))
}

/// What holds the value that a pointer leads to, and the value's name in it.
fn holder<'d>(document: &'d mut Json, path: &str) -> Result<(&'d mut Json, String)> {
    let (above, last) = path.rsplit_once('/').ok_or_else(|| nothing(path))?;
    let name = last.replace("~1", "/").replace("~0", "~");
    Ok((at(document, above)?, name))
}

fn add(document: &mut Json, path: &str, value: Json) -> Result<()> {
    let (holder, name) = holder(document, path)?;
    match holder {
        Json::Object(members) => drop(members.insert(name, value)),
        Json::Array(list) if name == "-" => list.push(value),
        Json::Array(list) => {
            let index = name.parse().ok().filter(|index| *index <= list.len());
            list.insert(index.ok_or_else(|| nothing(path))?, value);
        }
        _ => return Err(nothing(path)),
    }
    Ok(())
}

fn remove(document: &mut Json, path: &str) -> Result<Json> {
    let (holder, name) = holder(document, path)?;
    let removed = match holder {
        Json::Object(members) => members.remove(&name),
        Json::Array(list) => {
            let index = name.parse().ok().filter(|index| *index < list.len());
            index.map(|index| list.remove(index))
        }
        _ => None,
    };
    removed.ok_or_else(|| nothing(path))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn merged(operations: Json) -> Result<Json> {
        let before = json!({"name": "a", "properties": {"list": [1, 2], "a/b": 1}});
        merge(before.as_object().unwrap(), &operations).map(Json::Object)
    }

    // [STA-A.3.1.2-5]
    #[test]
    fn operations_become_the_members_that_differ() {
        for (operations, expected) in [
            (json!([]), json!({})),
            (
                json!([{"op": "add", "path": "/properties/list/1", "value": 9}]),
                json!({"properties": {"list": [1, 9, 2], "a/b": 1}}),
            ),
            (
                json!([{"op": "remove", "path": "/properties/a~1b"},
                       {"op": "copy", "from": "/name", "path": "/properties/list/-"}]),
                json!({"properties": {"list": [1, 2, "a"]}}),
            ),
            (
                json!([{"op": "test", "path": "/name", "value": "a"},
                       {"op": "move", "from": "/name", "path": "/description"}]),
                json!({"name": null, "description": "a"}),
            ),
        ] {
            assert_eq!(
                merged(operations.clone()).unwrap(),
                expected,
                "{operations}"
            );
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (operations, status) in [
            (json!({}), 400),
            (json!([{"op": "add", "path": "/name"}]), 400),
            (json!([{"op": "turn", "path": "/name"}]), 400),
            (json!([{"op": "remove", "path": "/nothing"}]), 409),
            (json!([{"op": "replace", "path": "/a/b", "value": 1}]), 409),
            (
                json!([{"op": "add", "path": "/properties/list/3", "value": 1}]),
                409,
            ),
            (json!([{"op": "test", "path": "/name", "value": "b"}]), 409),
            (json!([{"op": "add", "path": "", "value": 1}]), 409),
        ] {
            assert_eq!(
                merged(operations.clone()).unwrap_err().status,
                status,
                "{operations}"
            );
        }
    }

    #[test]
    fn what_doubles_is_refused_before_it_is_large_or_deep() {
        let copy = |to: String| json!({"op": "copy", "from": "/properties", "path": to});
        let wide = (0..40).map(|number| copy(format!("/properties/a{number}")));
        let wide = Json::Array(wide.collect());
        let over = Fault::over("bytes", 1).status;
        assert_eq!(merged(wide).unwrap_err().status, over);
        let deep = (0..16).map(|power| copy(format!("/properties{}", "/a".repeat(1 << power))));
        assert_eq!(merged(Json::Array(deep.collect())).unwrap_err().status, 400);
    }
}
