//! Whether what is told of an observation as it comes takes a look at the past: from when to when a datastream
//! has observations is asked of the history, and so are the observations themselves. What is told or asked of many
//! entities is taken for such a look, since it may take as long, and so is how geometries lie.

use crate::filter::Expression;
use crate::kind::Kind;
use crate::query::Query;

/// Whether what a query tells of an entity of this type reads of the past.
pub(super) fn is_read(query: &Query, kind: Kind) -> bool {
    let shown = kind
        .properties()
        .iter()
        .any(|(name, _)| is_of_past(kind, name) && query.selects_part_of(name));
    let mut filter = query.filter.iter();
    let asked = filter
        .any(|filter| asks_of_geometries(filter) || is_any(filter, &|path| is_asked(path, kind)));
    let mut expanded = query.expand.iter();
    shown || asked || expanded.any(|(way, inner)| way.many || is_read(inner, way.to))
}

/// Whether what a query tells of an entity that changed may take long: its filter goes to many, or observations are
/// expanded.
pub(super) fn may_be_long(query: &Query, kind: Kind) -> bool {
    let mut expanded = query.expand.iter();
    let mut filter = query.filter.iter();
    filter.any(|filter| {
        asks_of_geometries(filter) || is_any(filter, &|path| goes_to_many(path, kind))
    }) || expanded.any(|(way, inner)| way.to == Kind::Observation || may_be_long(inner, way.to))
}

fn is_of_past(kind: Kind, name: &str) -> bool {
    kind.is_computed(name) && name != "observedArea"
}

/// Whether this is so of a path of an expression.
fn is_any(filter: &Expression, is_so: &dyn Fn(&[String]) -> bool) -> bool {
    match filter {
        Expression::Literal(_) => false,
        Expression::Path(path) => is_so(path),
        Expression::Not(inner) => is_any(inner, is_so),
        Expression::Binary(_, left, right) => is_any(left, is_so) || is_any(right, is_so),
        Expression::Call(_, arguments) => arguments.iter().any(|one| is_any(one, is_so)),
    }
}

/// Whether it asks how geometries lie, which takes as long as they have corners.
fn asks_of_geometries(filter: &Expression) -> bool {
    match filter {
        Expression::Literal(_) | Expression::Path(_) => false,
        Expression::Not(inner) => asks_of_geometries(inner),
        Expression::Binary(_, left, right) => asks_of_geometries(left) || asks_of_geometries(right),
        Expression::Call(function, arguments) => {
            function.is_of_geometries() || arguments.iter().any(asks_of_geometries)
        }
    }
}

fn is_asked(path: &[String], mut kind: Kind) -> bool {
    path.iter().any(|name| match kind.navigation(name) {
        Some(way) => {
            kind = way.to;
            way.many
        }
        None => is_of_past(kind, name),
    })
}

fn goes_to_many(path: &[String], mut kind: Kind) -> bool {
    path.iter().any(|name| {
        let way = kind.navigation(name);
        kind = way.map_or(kind, |way| way.to);
        way.is_some_and(|way| way.many)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn times_of_datastreams_and_their_observations_are_of_the_past() {
        for (options, expected) in [
            ("", false),
            ("$select=result", false),
            (
                "$filter=result gt 3 and phenomenonTime gt 2026-01-01T00:00:00Z",
                false,
            ),
            (
                "$expand=Datastream($select=name;$expand=Thing),FeatureOfInterest",
                false,
            ),
            ("$expand=Datastream($select=observedArea)", false),
            ("$filter=Datastream/Thing/name eq 'Kitchen'", false),
            ("$expand=Datastream", true),
            ("$expand=Datastream($select=phenomenonTime)", true),
            (
                "$expand=Datastream($select=name;$expand=Observations)",
                true,
            ),
            ("$expand=FeatureOfInterest/Observations", true),
            (
                "$expand=Datastream($select=name;$expand=Thing/Datastreams)",
                true,
            ),
            ("$filter=not (year(Datastream/resultTime) lt 2026)", true),
            (
                "$filter=not st_within(FeatureOfInterest/feature,geography'POINT(1 2)')",
                true,
            ),
            ("$filter=Datastream/Thing/Datastreams/name eq 'x'", true),
            (
                "$expand=Datastream($select=name;$expand=Thing($expand=Datastreams($select=name)))",
                true,
            ),
        ] {
            let pairs = options.split('&').filter_map(|pair| pair.split_once('='));
            let pairs: Vec<_> = pairs
                .map(|(name, value)| (name.into(), value.into()))
                .collect();
            let query = Query::of_pairs(Kind::Observation, &pairs).unwrap();
            assert_eq!(is_read(&query, Kind::Observation), expected, "{options}");
        }
    }
}
