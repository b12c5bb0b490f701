//! The path of a URL (18-088 section 9.2): sets, entities, navigations, properties, `$value`, `$ref`.
//!
//! A path is read by the types that it goes through, so that what comes out exists in the data model.

use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::limits::PATH_LEVELS_MAX;
use weir_model::percent;

/// What a path leads to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Path {
    /// Where it begins, and the entity of that set, if one is named.
    pub(crate) set: Kind,
    pub(crate) id: Option<Id>,
    /// Where it goes from there.
    pub(crate) steps: Vec<Step>,
    pub(crate) end: End,
}

/// One navigation, and the entity among those it leads to, if one is named.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    pub(crate) way: &'static Navigation,
    pub(crate) id: Option<Id>,
}

/// What of the addressed is wanted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum End {
    /// The entity or the collection.
    All,
    /// Links instead of entities.
    Ref,
    /// A property and what lies below it; with `true` its value alone.
    Property(Vec<String>, bool),
}

impl Path {
    /// Type of the addressed, and whether it is a collection.
    pub(crate) fn target(&self) -> (Kind, bool) {
        match self.steps.last() {
            Some(step) => (step.way.to, step.way.many && step.id.is_none()),
            None => (self.set, self.id.is_none()),
        }
    }

    /// The path as a URL has it.
    pub(crate) fn to_url(&self) -> String {
        let id = |id: &Option<Id>| {
            id.as_ref()
                .map_or(String::new(), |id| format!("({})", id.in_url()))
        };
        let mut text = format!("{}{}", self.set.set(), id(&self.id));
        for step in &self.steps {
            text += &format!("/{}{}", step.way.name, id(&step.id));
        }
        match self.end {
            End::Ref => text + "/$ref",
            _ => text,
        }
    }

    /// Reads what follows the root, percent-encoded as received.
    // [STA-A.1.10-1]
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut levels = levels(text)?.into_iter();
        let first = levels.next().unwrap_or_default();
        let (name, id) = level(&first)?;
        let set =
            Kind::of_set(&name).ok_or_else(|| Fault::missing(format!("entity set `{name}`")))?;
        let mut path = Self {
            set,
            id,
            steps: Vec::new(),
            end: End::All,
        };
        while let Some(text) = levels.next() {
            let (kind, is_collection) = path.target();
            if text == "$ref" {
                path.end = End::Ref;
                return path.ends_with(levels.next());
            }
            if is_collection {
                return Err(Fault::missing(format!("`{text}` of a collection")));
            }
            let (name, id) = level(&text)?;
            match kind.navigation(&name) {
                Some(way) if id.is_none() || way.many => path.steps.push(Step { way, id }),
                Some(way) => return Err(Fault::bad(format!("{} is one entity", way.name))),
                None => return path.property(kind, text, levels),
            }
        }
        Ok(path)
    }

    fn ends_with(self, more: Option<String>) -> Result<Self> {
        match more {
            None => Ok(self),
            Some(level) => Err(Fault::missing(format!("`{level}` there"))),
        }
    }

    fn property(
        mut self,
        kind: Kind,
        name: String,
        rest: impl Iterator<Item = String>,
    ) -> Result<Self> {
        let is_one = kind.property(&name).is_some() || matches!(&*name, "id" | "@iot.id");
        if !is_one {
            let set = kind.set();
            return Err(Fault::missing(format!(
                "property or navigation `{name}` of {set}"
            )));
        }
        let mut names: Vec<String> = std::iter::once(name).chain(rest).collect();
        let value = names.last().is_some_and(|last| last == "$value");
        if value {
            names.pop();
        }
        self.end = End::Property(names, value);
        Ok(self)
    }
}

/// The levels, decoded; a slash within quotes is part of an identifier.
fn levels(text: &str) -> Result<Vec<String>> {
    let mut levels = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\'' => quoted = !quoted,
            b'%' if text[at..].starts_with("%27") => quoted = !quoted,
            b'/' if !quoted => {
                levels.push(decoded(&text[begin..at])?);
                begin = at + 1;
            }
            _ => {}
        }
    }
    levels.push(decoded(&text[begin..])?);
    levels.retain(|level| !level.is_empty());
    if levels.len() > PATH_LEVELS_MAX {
        Err(Fault::over("levels of a path", PATH_LEVELS_MAX))
    } else {
        Ok(levels)
    }
}

fn decoded(text: &str) -> Result<String> {
    percent::decode(text).map_err(|error| Fault::bad(format!("the path `{text}`: {error}")))
}

/// A name and what stands in brackets behind it.
fn level(text: &str) -> Result<(String, Option<Id>)> {
    let Some((name, rest)) = text.split_once('(') else {
        return Ok((text.to_owned(), None));
    };
    let inner = rest
        .strip_suffix(')')
        .ok_or_else(|| Fault::bad(format!("`{text}`: a closing bracket is missing")))?;
    if inner.is_empty() {
        return Ok((name.to_owned(), None));
    }
    Ok((name.to_owned(), Some(key(inner)?)))
}

/// An identifier as it stands between brackets, quoted where it is no number.
pub(crate) fn key(inner: &str) -> Result<Id> {
    let quoted = inner
        .strip_prefix('\'')
        .and_then(|inner| inner.strip_suffix('\''));
    match quoted {
        Some(text) if !text.is_empty() => Ok(Id::of_text(&text.replace("''", "'"))),
        None if inner.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Id::of_text(inner)),
        _ => Err(Fault::bad(format!(
            "`{inner}` is no identifier: a number, or a text in single quotes"
        ))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_path_is_read_by_the_types_it_goes_through() {
        let path = Path::parse("Things(1)/Datastreams('a/b''c')/Observations").unwrap();
        assert_eq!(path.id, Some(Id::Number(1)));
        assert_eq!(path.steps[0].id, Some(Id::of_text("a/b'c")));
        assert_eq!(path.target(), (Kind::Observation, true));
        let one = Path::parse("Observations(7)/Datastream/Thing").unwrap();
        assert_eq!(one.target(), (Kind::Thing, false));
        let property = Path::parse("Things(1)/properties/a/b/$value").unwrap();
        let names = ["properties", "a", "b"].map(String::from).to_vec();
        assert_eq!(property.end, End::Property(names, true));
        assert_eq!(
            Path::parse("Things(1)/Locations/$ref").unwrap().end,
            End::Ref
        );
        let encoded = Path::parse("Datastreams(%27a%2Fb%27)").unwrap();
        assert_eq!(encoded.id, Some(Id::of_text("a/b")));
    }

    #[test]
    fn what_leads_nowhere_is_refused() {
        for (path, status) in [
            ("Nothings", 404),
            ("Things/name", 404),
            ("Things(1)/colour", 404),
            ("Things(x)", 400),
            ("Things(1", 400),
            ("Things(1)/Locations/$ref/x", 404),
            ("Observations(1)/Datastream(2)", 400),
            ("Things(1)/%zz", 400),
        ] {
            assert_eq!(Path::parse(path).unwrap_err().status, status, "{path}");
        }
        let deep = "Things(1)".to_owned() + &"/Datastreams(1)/Thing".repeat(40);
        assert_eq!(Path::parse(&deep).unwrap_err().status, 400);
    }
}
