//! Whether what is told of an observation as it comes takes a look at the past: from when to when a datastream
//! has observations is asked of the history, and so are the observations themselves.

use crate::computed::is_computed;
use crate::filter::Expression;
use crate::kind::Kind;
use crate::query::Query;

/// Whether what a query tells of an entity of this type reads of the past.
pub(super) fn is_read(query: &Query, kind: Kind) -> bool {
    let shown = kind
        .properties()
        .iter()
        .any(|(name, _)| is_of_past(kind, name) && query.selects_part_of(name));
    let asked = query.filter.iter().any(|filter| is_asked(filter, kind));
    let mut expanded = query.expand.iter();
    shown
        || asked
        || expanded.any(|(way, inner)| way.to == Kind::Observation || is_read(inner, way.to))
}

fn is_of_past(kind: Kind, name: &str) -> bool {
    is_computed(kind, name) && name != "observedArea"
}

fn is_asked(filter: &Expression, kind: Kind) -> bool {
    match filter {
        Expression::Literal(_) => false,
        Expression::Path(path) => is_named(path, kind),
        Expression::Not(inner) => is_asked(inner, kind),
        Expression::Binary(_, left, right) => is_asked(left, kind) || is_asked(right, kind),
        Expression::Call(_, arguments) => arguments.iter().any(|one| is_asked(one, kind)),
    }
}

fn is_named(path: &[String], mut kind: Kind) -> bool {
    path.iter().any(|name| match kind.navigation(name) {
        Some(way) => {
            kind = way.to;
            kind == Kind::Observation
        }
        None => is_of_past(kind, name),
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
