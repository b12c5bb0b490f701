//! Who may do what: one policy of verbs over topic filters, asked for every delivered topic.

use crate::fault::Fault;
use crate::limits::FILTERS_MAX;
use crate::standing::Standing;
use std::fmt;
use std::sync::{Arc, LazyLock};
use weir_model::Filter;

/// What a principal may want to do with a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Publish observations and messages.
    Publish,
    /// Read last values, history and live messages, and the catalog's entry.
    Read,
    /// Change or delete the catalog's entry.
    Change,
}

impl Verb {
    /// Every verb with its name in policies and errors.
    pub const ALL: &'static [(&'static str, Verb)] = &[
        ("publish", Verb::Publish),
        ("read", Verb::Read),
        ("change", Verb::Change),
    ];

    /// The verb's name.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, verb)| *verb == self)
            .map_or("", |(name, _)| name)
    }
}

/// What a role grants: for each verb the filters of the topics it may be done to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Grants {
    rules: Vec<(Verb, Filter)>,
}

impl Grants {
    /// Grants these verbs on these filters and nothing else.
    pub fn new(rules: Vec<(Verb, Filter)>) -> Self {
        Self { rules }
    }

    /// Grants everything, topics that begin with `$` included.
    pub fn all() -> Self {
        let filters = ["#", "$SYS/#", "$aside/#"]
            .into_iter()
            .filter_map(|text| Filter::parse(text).ok());
        let rules = filters.flat_map(|filter| Verb::ALL.iter().map(move |v| (v.1, filter.clone())));
        Self {
            rules: rules.collect(),
        }
    }

    /// Says whether the verb may be done to this topic.
    pub fn allow(&self, verb: Verb, topic: &str) -> bool {
        self.rules
            .iter()
            .any(|(granted, filter)| *granted == verb && filter.matches(topic))
    }

    /// Says whether the verb may be granted at a topic or somewhere below it, so that asking is not in
    /// vain.
    pub fn may_reach(&self, verb: Verb, topic: &str) -> bool {
        let of_verb = self.rules.iter().filter(|(granted, _)| *granted == verb);
        of_verb
            .into_iter()
            .any(|(_, filter)| reaches(filter, topic))
    }

    /// Says whether some topic that `wanted` matches may be granted, so that asking is not in vain.
    ///
    /// Answers by trying: `true` is given where the filters may overlap.
    pub fn may_overlap(&self, verb: Verb, wanted: &Filter) -> bool {
        let of_verb = self.rules.iter().filter(|(granted, _)| *granted == verb);
        of_verb
            .into_iter()
            .any(|(_, filter)| overlap(filter, wanted))
    }
}

/// Whether a filter may match the topic itself or one below it.
fn reaches(filter: &Filter, topic: &str) -> bool {
    let mut levels = filter.levels();
    for level in topic.split('/') {
        match levels.next() {
            Some("#") => return true,
            Some(wanted) if wanted == "+" || wanted == level => {}
            _ => return false,
        }
    }
    true
}

fn overlap(a: &Filter, b: &Filter) -> bool {
    let (mut left, mut right) = (a.levels(), b.levels());
    loop {
        match (left.next(), right.next()) {
            (Some("#"), _) | (_, Some("#")) | (None, None) => return true,
            (None, Some(_)) | (Some(_), None) => return false,
            (Some("+"), Some(_)) | (Some(_), Some("+")) => {}
            (Some(x), Some(y)) if x == y => {}
            _ => return false,
        }
    }
}

/// On whose behalf something is asked.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The user's or token's name; `anonymous` without.
    pub name: Arc<str>,
    /// What is granted.
    pub grants: Arc<Grants>,
    /// Whether it still is.
    pub standing: Standing,
}

impl Principal {
    /// The principal of a gateway without access rules (loopback, or `--open`).
    pub fn unrestricted() -> Self {
        static EVERYONE: LazyLock<Principal> = LazyLock::new(|| Principal {
            name: "anonymous".into(),
            grants: Arc::new(Grants::all()),
            standing: Standing::default(),
        });
        EVERYONE.clone()
    }

    /// The gateway itself, which alone may publish at topics that begin with `$`.
    pub fn gateway() -> Self {
        Self::of_the_gateway().clone()
    }

    /// Says whether this is the gateway itself; no name in a policy makes anyone that.
    pub fn is_gateway(&self) -> bool {
        Arc::ptr_eq(&self.grants, &Self::of_the_gateway().grants)
    }

    pub(crate) fn of_the_gateway() -> &'static Self {
        static GATEWAY: LazyLock<Principal> = LazyLock::new(|| Principal {
            name: "gateway".into(),
            grants: Arc::new(Grants::all()),
            standing: Standing::default(),
        });
        &GATEWAY
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Refuses too many filters, and those of which nothing may be read.
pub(crate) fn check_filters(principal: &Principal, filters: &[Filter]) -> Result<(), Fault> {
    if filters.len() > FILTERS_MAX {
        return Err(Fault::OverLimit {
            what: "topic filters",
            limit: FILTERS_MAX,
        });
    }
    let in_vain = |filter: &&Filter| !principal.grants.may_overlap(Verb::Read, filter);
    match filters.iter().find(in_vain) {
        Some(filter) => Err(denied(principal, Verb::Read, filter.as_str())),
        None => Ok(()),
    }
}

pub(crate) fn denied(principal: &Principal, verb: Verb, topic: &str) -> Fault {
    Fault::Denied {
        principal: principal.name.clone(),
        verb: verb.name(),
        topic: topic.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn filter(text: &str) -> Filter {
        Filter::parse(text).unwrap()
    }

    #[test]
    fn a_verb_is_granted_on_its_filter_only() {
        let grants = Grants::new(vec![(Verb::Read, filter("heating/+/supply/#"))]);
        assert!(grants.allow(Verb::Read, "heating/plant/supply/temperature"));
        assert!(!grants.allow(Verb::Publish, "heating/plant/supply/temperature"));
        assert!(!grants.allow(Verb::Read, "heating/plant/return/temperature"));
    }

    #[test]
    fn a_message_that_may_lie_nowhere_below_is_known_before() {
        let grants = Grants::new(vec![(Verb::Publish, filter("a/+/c/#"))]);
        for (topic, expected) in [
            ("a", true),
            ("a/x", true),
            ("a/x/c", true),
            ("a/x/c/d/e", true),
            ("b", false),
            ("a/x/d", false),
        ] {
            assert_eq!(grants.may_reach(Verb::Publish, topic), expected, "{topic}");
        }
        let one = Grants::new(vec![(Verb::Publish, filter("a/b"))]);
        assert!(one.may_reach(Verb::Publish, "a") && one.may_reach(Verb::Publish, "a/b"));
        assert!(!one.may_reach(Verb::Publish, "a/b/c") && !one.may_reach(Verb::Read, "a"));
    }

    #[test]
    fn a_subscription_that_can_never_match_is_known_before() {
        let grants = Grants::new(vec![(Verb::Read, filter("heating/#"))]);
        assert!(grants.may_overlap(Verb::Read, &filter("+/plant")));
        assert!(grants.may_overlap(Verb::Read, &filter("#")));
        assert!(!grants.may_overlap(Verb::Read, &filter("cooling/#")));
    }
}
