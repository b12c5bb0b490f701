//! A batch as JSON: `{"requests":[{"id":"1","method":"POST","url":"Things","body":{...}}]}` (OData JSON
//! format 4.01 section 19.1). Neighbours of one `atomicityGroup` are one set.

use super::step::{Asked, Step};
use crate::fault::{Fault, Result};
use crate::limits::BATCH_REQUESTS_MAX;
use crate::said::read_json;
use bytes::Bytes;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// The steps of a body.
pub(super) fn read(body: &[u8]) -> Result<Vec<Step>> {
    let whole: Json = read_json(body)?;
    let listed = whole["requests"].as_array();
    let listed = listed.ok_or_else(|| Fault::bad("requests: a list was expected"))?;
    if listed.len() > BATCH_REQUESTS_MAX {
        return Err(Fault::over("requests of one batch", BATCH_REQUESTS_MAX));
    }
    let (mut steps, mut names) = (Vec::new(), Names::default());
    for (index, said) in listed.iter().enumerate() {
        let within = |fault: Fault| fault.within(&format!("requests[{index}]"));
        let asked = request(said).map_err(within)?;
        names.take(&asked).map_err(within)?;
        match (&asked.group, steps.last_mut()) {
            (Some(group), Some(Step::Set(set))) if set_is(set, group) => set.push(asked),
            (Some(_), _) => steps.push(Step::Set(vec![asked])),
            (None, _) => steps.push(Step::One(asked)),
        }
    }
    Ok(steps)
}

fn set_is(set: &[Asked], group: &str) -> bool {
    set.first()
        .is_some_and(|first| first.group.as_deref() == Some(group))
}

/// The names given so far: each stands for one request or group, and only what came before can be
/// depended on.
#[derive(Default)]
struct Names {
    known: BTreeSet<String>,
    group: Option<String>,
}

impl Names {
    fn take(&mut self, asked: &Asked) -> Result<()> {
        let unknown = asked
            .depends_on
            .iter()
            .find(|name| !self.known.contains(*name));
        if let Some(unknown) = unknown {
            return Err(Fault::bad(format!(
                "dependsOn: nothing before is `{unknown}`"
            )));
        }
        let id = asked.id.clone().unwrap_or_default();
        let new_group = asked
            .group
            .clone()
            .filter(|group| self.group.as_ref() != Some(group));
        self.group = asked.group.clone();
        for name in std::iter::once(id).chain(new_group) {
            if !self.known.insert(name.clone()) {
                return Err(Fault::bad(format!("`{name}` was named before")));
            }
        }
        Ok(())
    }
}

fn request(said: &Json) -> Result<Asked> {
    let text = |name: &str| {
        let found = said[name].as_str().filter(|text| !text.is_empty());
        found
            .map(str::to_owned)
            .ok_or_else(|| Fault::bad(format!("{name}: a text was expected")))
    };
    let group = said
        .get("atomicityGroup")
        .map(|_| text("atomicityGroup"))
        .transpose()?;
    let method = text("method")?.to_ascii_uppercase();
    if method == "GET" && group.is_some() {
        return Err(Fault::bad("an atomicity group has no GET"));
    }
    let depends_on = match said.get("dependsOn") {
        None => Vec::new(),
        Some(listed) => serde_json::from_value(listed.clone())
            .map_err(|_| Fault::bad("dependsOn: a list of names was expected"))?,
    };
    Ok(Asked {
        id: Some(text("id")?),
        method,
        url: text("url")?,
        headers: headers(said.get("headers"))?,
        body: match said.get("body") {
            None | Some(Json::Null) => Bytes::new(),
            Some(body) => body.to_string().into(),
        },
        depends_on,
        group,
    })
}

fn headers(said: Option<&Json>) -> Result<Vec<(String, String)>> {
    let Some(said) = said else {
        return Ok(Vec::new());
    };
    let expected = || Fault::bad("headers: an object of texts was expected");
    let each = said.as_object().ok_or_else(expected)?.iter();
    each.map(|(name, value)| {
        let value = value.as_str().ok_or_else(expected)?;
        Ok((name.to_ascii_lowercase(), value.to_owned()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn steps(requests: Json) -> Result<Vec<Step>> {
        read(json!({ "requests": requests }).to_string().as_bytes())
    }

    #[test]
    fn neighbours_of_a_group_are_one_set() {
        let post = |id: &str, group: &str| {
            json!({"id": id, "method": "post", "url": "Things",
            "atomicityGroup": group, "body": {}})
        };
        let get = json!({"id": "3", "method": "GET", "url": "Things", "dependsOn": ["g", "1"]});
        let read = steps(json!([post("1", "g"), post("2", "g"), get])).unwrap();
        assert_eq!(
            read.iter()
                .map(|step| step.asked().len())
                .collect::<Vec<_>>(),
            [2, 1]
        );
        assert_eq!(read[0].asked()[0].method, "POST");
        let torn = steps(json!([post("1", "g"), post("2", "h"), post("3", "g")])).unwrap_err();
        assert_eq!(torn.message, "requests[2]: `g` was named before");
    }

    #[test]
    fn what_is_no_request_is_refused_by_its_place_in_the_list() {
        let good = json!({"id": "1", "method": "GET", "url": "Things"});
        for (name, bad) in [
            ("id", json!(1)),
            ("method", json!(null)),
            ("url", json!("")),
            ("dependsOn", json!(["2"])),
            ("dependsOn", json!("1")),
            ("headers", json!({"a": 1})),
            ("atomicityGroup", json!("g")),
        ] {
            let mut said = good.clone();
            said["id"] = json!("2");
            said[name] = bad;
            let fault = steps(json!([good, said])).unwrap_err();
            assert!(
                fault.message.starts_with("requests[1]: "),
                "{name}: {}",
                fault.message
            );
        }
        assert!(
            steps(json!([good, good]))
                .unwrap_err()
                .message
                .contains("before")
        );
        assert_eq!(read(b"{}").unwrap_err().status, 400);
    }
}
