//! The query options of a collection or an entity (18-088 section 9.3), those of `$expand` too.

use crate::fault::{Fault, Result};
use crate::filter::{Expression, parse, parse_prefix, types};
use crate::kind::{Kind, Navigation};
use crate::limits::{DEPTH_MAX, OPTION_BYTES_MAX, TOP_DEFAULT, TOP_MAX};
use std::sync::OnceLock;
use weir_model::percent;

/// What is asked of a collection or an entity.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    pub(crate) filter: Option<Expression>,
    pub(crate) order: Vec<(Expression, bool)>,
    pub(crate) top: Option<usize>,
    pub(crate) skip: usize,
    pub(crate) count: bool,
    /// Empty for all.
    pub(crate) select: Vec<String>,
    pub(crate) expand: Vec<(&'static Navigation, Query)>,
    /// Where the page before ended.
    pub(crate) token: Option<String>,
    pub(crate) format: Option<String>,
    /// The options as they were said.
    pub(crate) said: Vec<(String, String)>,
    /// The same in a URL, once it was asked for.
    pub(crate) url: OnceLock<String>,
}

impl Query {
    /// Reads the pairs of a URL for entities of a type. Options that do not begin with `$` are not the
    /// service's.
    pub(crate) fn of_pairs(kind: Kind, pairs: &[(String, String)]) -> Result<Self> {
        let mut query = Query::default();
        for (name, value) in pairs.iter().filter(|(name, _)| name.starts_with('$')) {
            query.option(kind, name, value, 0)?;
        }
        Ok(query)
    }

    /// How many entities a page holds.
    pub(crate) fn page(&self) -> usize {
        self.top.unwrap_or(TOP_DEFAULT).min(TOP_MAX)
    }

    /// As options of a URL that begins elsewhere, for what stood in `$expand`: where to begin is to follow.
    pub(crate) fn to_url(&self) -> &str {
        self.url.get_or_init(|| options(&self.said))
    }

    /// Whether something is selected by its name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        self.select.is_empty() || self.select.iter().any(|it| it == name)
    }

    /// The paths below a property that are selected, where it is not selected as a whole.
    pub(crate) fn parts_of<'q>(&'q self, name: &str) -> Vec<&'q str> {
        let below = |it: &'q String| it.strip_prefix(name)?.strip_prefix('/');
        if self.selects(name) {
            Vec::new()
        } else {
            self.select.iter().filter_map(below).collect()
        }
    }

    /// Whether a property or something in it is selected.
    pub(crate) fn selects_part_of(&self, name: &str) -> bool {
        let names = |it: &String| {
            let rest = it.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.select.is_empty() || self.select.iter().any(names)
    }

    fn option(&mut self, kind: Kind, name: &str, value: &str, depth: usize) -> Result<()> {
        if value.len() > OPTION_BYTES_MAX {
            return Err(Fault::over("bytes of an option", OPTION_BYTES_MAX));
        }
        let within = |fault: Fault| fault.within(name);
        // OData URL conventions 4.01, 5.1.
        if self.said.iter().any(|(said, _)| said == name) {
            return Err(Fault::bad(format!("the option `{name}` is there twice")));
        }
        self.said.push((name.to_owned(), value.to_owned()));
        match name {
            "$filter" => {
                let filter = parse(value).map_err(within)?;
                types::check_filter(kind, &filter).map_err(within)?;
                self.filter = Some(filter);
            }
            "$orderby" => self.order = order(kind, value).map_err(within)?,
            "$top" => self.top = Some(number(value).map_err(within)?),
            "$skip" => self.skip = number(value).map_err(within)?,
            "$count" => self.count = truth(value).map_err(within)?,
            "$select" => self.select = select(kind, value).map_err(within)?,
            "$expand" => self.expand(kind, value, depth).map_err(within)?,
            "$skiptoken" => self.token = Some(value.to_owned()),
            "$resultFormat" => self.format = Some(value.to_owned()),
            // [STA-A.2.1.3-2]
            _ => {
                let problem = format!("the option `{name}` is not supported");
                return Err(Fault::new(501, problem));
            }
        }
        Ok(())
    }

    /// `Datastreams($top=1;$expand=Sensor),Locations`, also `Datastreams/Sensor`.
    fn expand(&mut self, kind: Kind, text: &str, depth: usize) -> Result<()> {
        if depth >= DEPTH_MAX {
            return Err(Fault::over("depth of $expand", DEPTH_MAX));
        }
        for (item, at) in split(text, ',')? {
            let (path, options) = match item.split_once('(') {
                Some((path, rest)) => {
                    let inner = rest.strip_suffix(')').ok_or_else(|| {
                        Fault::bad_at("a closing bracket is missing", at + item.len())
                    })?;
                    (path, inner)
                }
                None => (item, ""),
            };
            let query = self.along(kind, path.trim(), at)?;
            let (kind, query) = query;
            for (option, _) in split(options, ';')? {
                let pair = option.split_once('=');
                let (name, value) =
                    pair.ok_or_else(|| Fault::bad_at("`$name=value` was expected", at))?;
                query.option(kind, name.trim(), value, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The query of the end of a path, made where there is none yet.
    fn along(&mut self, mut kind: Kind, path: &str, at: usize) -> Result<(Kind, &mut Query)> {
        let mut query = self;
        for (level, name) in path.split('/').enumerate() {
            if level >= DEPTH_MAX {
                return Err(Fault::over("depth of $expand", DEPTH_MAX));
            }
            let way = kind.navigation(name).ok_or_else(|| {
                Fault::bad_at(format!("{} have no navigation `{name}`", kind.set()), at)
            })?;
            let known = query
                .expand
                .iter()
                .position(|(known, _)| known.name == name);
            let index = known.unwrap_or_else(|| {
                query.expand.push((way, Query::default()));
                query.expand.len() - 1
            });
            query = &mut query.expand[index].1;
            kind = way.to;
        }
        Ok((kind, query))
    }
}

fn number(text: &str) -> Result<usize> {
    let number = text.trim().parse();
    number.map_err(|_| Fault::bad(format!("a number from 0 was expected, not `{text}`")))
}

fn truth(text: &str) -> Result<bool> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Fault::bad(format!(
            "true or false was expected, not `{text}`"
        ))),
    }
}

fn select(kind: Kind, text: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (name, at) in split(text, ',')? {
        let name = name.trim();
        let first = name.split('/').next().unwrap_or_default();
        let known = kind.property(first).is_some() || kind.navigation(first).is_some();
        if !known && !matches!(first, "id" | "@iot.id" | "@iot.selfLink") {
            let problem = format!("{} have no `{name}`", kind.set());
            return Err(Fault::bad_at(problem, at));
        }
        if let Some((_, below)) = name.split_once('/')
            && !types::has_members(kind, first)
        {
            return Err(types::nothing_below(first, below));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

fn order(kind: Kind, text: &str) -> Result<Vec<(Expression, bool)>> {
    let mut orders = Vec::new();
    for (item, at) in split(text, ',')? {
        let trimmed = item.trim_end();
        let (path, down) = match trimmed.rsplit_once(' ') {
            Some((path, way)) if way.eq_ignore_ascii_case("desc") => (path, true),
            Some((path, way)) if way.eq_ignore_ascii_case("asc") => (path, false),
            _ => (trimmed, false),
        };
        let (expression, end) = parse_prefix(path).map_err(|mut fault| {
            fault.at = fault.at.map(|within| at + within);
            fault
        })?;
        if end != path.len() {
            return Err(Fault::bad_at("asc or desc was expected", at + end));
        }
        types::check_order(kind, &expression)?;
        orders.push((expression, down));
    }
    Ok(orders)
}

/// The parts between separators that stand outside of brackets and quotes, with where each begins.
fn split(text: &str, separator: char) -> Result<Vec<(&str, usize)>> {
    let (mut parts, mut begin, mut depth, mut quoted) = (Vec::new(), 0, 0_usize, false);
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| Fault::bad_at("a bracket that nothing opened", at))?;
            }
            letter if letter == separator && depth == 0 => {
                parts.push((&text[begin..at], begin));
                begin = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push((&text[begin..], begin));
    parts.retain(|(part, _)| !part.trim().is_empty());
    if depth == 0 && !quoted {
        Ok(parts)
    } else {
        Err(Fault::bad_at(
            "a bracket or a quote that is not ended",
            text.len(),
        ))
    }
}

/// The options of a URL again, but where to begin: that is to follow.
pub(crate) fn options(pairs: &[(String, String)]) -> String {
    let kept = pairs
        .iter()
        .filter(|(name, _)| name != "$skip" && name != "$skiptoken");
    let kept =
        kept.map(|(name, value)| format!("{name}={}&", percent::encode(value, b"$,;:'()/*@!~-._")));
    kept.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn query(kind: Kind, name: &str, value: &str) -> Result<Query> {
        Query::of_pairs(kind, &[(name.to_owned(), value.to_owned())])
    }

    #[test]
    fn expansions_nest_and_join() {
        let text = "Datastreams($top=1;$select=name;$expand=Observations($orderby=result desc;\
                    $filter=result eq 'a;b,(c)')),Datastreams/Sensor,Locations";
        let query = query(Kind::Thing, "$expand", text).unwrap();
        assert_eq!(query.expand.len(), 2);
        let (way, inner) = &query.expand[0];
        assert_eq!(
            (way.name, inner.top, inner.expand.len()),
            ("Datastreams", Some(1), 2)
        );
        assert!(inner.expand[0].1.order[0].1 && inner.expand[0].1.filter.is_some());
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for (name, value) in [
            ("$expand", "Nothing"),
            ("$expand", "Datastreams($top=1"),
            ("$expand", "Datastreams)"),
            ("$select", "colour"),
            ("$top", "-1"),
            ("$count", "yes"),
            ("$orderby", "name up"),
        ] {
            assert_eq!(
                query(Kind::Thing, name, value).unwrap_err().status,
                400,
                "{name}={value}"
            );
        }
        let deep = "Thing/Datastreams/".repeat(40) + "Thing";
        assert!(query(Kind::Datastream, "$expand", &deep).is_err());
        let nested = "Thing($expand=Datastreams($expand=".repeat(20) + &"))".repeat(20);
        assert!(query(Kind::Datastream, "$expand", &nested).is_err());
    }
}
