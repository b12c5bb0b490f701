//! How the time of an observation lies to that of a filter (ISO 19108 section 5.2.3.5, OGC 09-026r1
//! section 7.9).
//!
//! The decision worth arguing: During takes the ends of its period in, as other servers do and clients
//! expect; strictly they are Begins and Ends.

use crate::moment::Span;
use weir_model::Time;

/// A begin and an end; an instant has the same twice.
pub(crate) type Period = (Time, Time);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    After,
    Before,
    Begins,
    BegunBy,
    Contains,
    During,
    EndedBy,
    Ends,
    Equals,
    Meets,
    MetBy,
    Overlaps,
    OverlappedBy,
    AnyInteracts,
}

/// Each with its name in Filter Encoding 2.0 and in SOS 1.0.0, where it has one there.
pub(crate) const RELATIONS: &[(Relation, &str, &str)] = &[
    (Relation::After, "After", "TM_After"),
    (Relation::Before, "Before", "TM_Before"),
    (Relation::Begins, "Begins", "TM_Begins"),
    (Relation::BegunBy, "BegunBy", "TM_BegunBy"),
    (Relation::Contains, "TContains", "TM_Contains"),
    (Relation::During, "During", "TM_During"),
    (Relation::EndedBy, "EndedBy", "TM_EndedBy"),
    (Relation::Ends, "Ends", "TM_Ends"),
    (Relation::Equals, "TEquals", "TM_Equals"),
    (Relation::Meets, "Meets", "TM_Meets"),
    (Relation::MetBy, "MetBy", "TM_MetBy"),
    (Relation::Overlaps, "TOverlaps", "TM_Overlaps"),
    (Relation::OverlappedBy, "OverlappedBy", "TM_OverlappedBy"),
    (Relation::AnyInteracts, "AnyInteracts", ""),
];

// [SOS2-8.3-3]
impl Relation {
    /// By its name in either version.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let mut all = RELATIONS.iter().filter(|_| !name.is_empty());
        all.find(|(_, new, old)| name == *new || name == *old)
            .map(|own| own.0)
    }

    /// Whether an observation's time lies so to a filter's.
    pub(crate) fn holds(self, (b, e): Period, (from, to): Period) -> bool {
        match self {
            Relation::After => b > to,
            Relation::Before => e < from,
            Relation::Begins => b == from && e < to,
            Relation::BegunBy => b == from && e > to,
            Relation::Contains => b < from && e > to,
            Relation::During => b >= from && e <= to,
            Relation::EndedBy => e == to && b < from,
            Relation::Ends => e == to && b > from,
            Relation::Equals => b == from && e == to,
            Relation::Meets => e == from,
            Relation::MetBy => b == to,
            Relation::Overlaps => b < from && e > from && e < to,
            Relation::OverlappedBy => b > from && b < to && e > to,
            Relation::AnyInteracts => b <= to && e >= from,
        }
    }

    /// Where the begin of such a time can lie: what is read of the past.
    pub(crate) fn begins(self, (from, to): Period) -> Span {
        let Span {
            from: first,
            to: last,
        } = Span::ALL;
        let (from, to) = match self {
            Relation::After => (to.plus_nanos(1), last),
            Relation::Begins | Relation::BegunBy | Relation::Equals => (from, from.plus_nanos(1)),
            Relation::During | Relation::Ends | Relation::OverlappedBy => (from, to.plus_nanos(1)),
            Relation::MetBy => (to, to.plus_nanos(1)),
            Relation::Before | Relation::Contains | Relation::EndedBy | Relation::Overlaps => {
                (first, from)
            }
            Relation::Meets => (first, from.plus_nanos(1)),
            Relation::AnyInteracts => (first, to.plus_nanos(1)),
        };
        Span { from, to }
    }

    /// Whether that alone tells it of an observation whose time is an instant.
    pub(crate) fn is_told_by_begin(self) -> bool {
        matches!(self, Relation::After | Relation::Before | Relation::During)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Time {
        Time::from_nanos(second * 1_000_000_000)
    }

    /// Which relations hold between two periods.
    fn held(own: (i64, i64), other: (i64, i64)) -> Vec<&'static str> {
        let all = RELATIONS.iter().filter(|(relation, ..)| {
            relation.holds((at(own.0), at(own.1)), (at(other.0), at(other.1)))
        });
        all.map(|(_, name, _)| *name).collect()
    }

    #[test]
    fn every_way_of_two_periods_to_lie_has_its_relation() {
        let other = (10, 20);
        for (own, expected) in [
            ((21, 25), &["After"][..]),
            ((1, 5), &["Before"]),
            ((10, 15), &["Begins", "During", "AnyInteracts"]),
            ((10, 25), &["BegunBy", "AnyInteracts"]),
            ((5, 25), &["TContains", "AnyInteracts"]),
            ((12, 18), &["During", "AnyInteracts"]),
            ((5, 20), &["EndedBy", "AnyInteracts"]),
            ((15, 20), &["During", "Ends", "AnyInteracts"]),
            ((10, 20), &["During", "TEquals", "AnyInteracts"]),
            ((5, 10), &["Meets", "AnyInteracts"]),
            ((20, 25), &["MetBy", "AnyInteracts"]),
            ((5, 15), &["TOverlaps", "AnyInteracts"]),
            ((15, 25), &["OverlappedBy", "AnyInteracts"]),
        ] {
            assert_eq!(held(own, other), expected, "{own:?}");
        }
    }

    #[test]
    fn what_is_read_holds_all_that_may_match() {
        for (relation, name, _) in RELATIONS {
            let other = (at(10), at(20));
            let span = relation.begins(other);
            for (begin, length) in (0..30).flat_map(|b| [(b, 0), (b, 3), (b, 10), (b, 15)]) {
                let own = (at(begin), at(begin + length));
                let holds = relation.holds(own, other);
                assert!(!holds || span.holds(own.0), "{name} {begin} {length}");
                if relation.is_told_by_begin() && length == 0 {
                    assert_eq!(holds, span.holds(own.0), "{name} {begin}");
                }
            }
        }
    }
}
