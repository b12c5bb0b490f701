//! The topic tree: from a topic to all whose filter matches it.

use std::collections::HashMap;
use weir_model::Filter;

/// Filters with the ids of those who hold them; a lookup walks the topic's levels, not the filters.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    root: Node,
}

#[derive(Debug, Default)]
struct Node {
    /// Filters that end here.
    here: Vec<u32>,
    /// Filters that end with `#` below here.
    below: Vec<u32>,
    any: Option<Box<Node>>,
    named: HashMap<Box<str>, Node>,
}

impl Node {
    fn is_empty(&self) -> bool {
        self.here.is_empty() && self.below.is_empty() && self.any.is_none() && self.named.is_empty()
    }
}

impl Tree {
    /// Adds a holder of a filter.
    pub(crate) fn insert(&mut self, filter: &Filter, id: u32) {
        let mut node = &mut self.root;
        for level in filter.levels() {
            node = match level {
                "#" => return node.below.push(id),
                "+" => node.any.get_or_insert_default(),
                name => node.named.entry(name.into()).or_default(),
            };
        }
        node.here.push(id);
    }

    /// Takes a holder of a filter out again, and the branches that no one holds any more.
    pub(crate) fn remove(&mut self, filter: &Filter, id: u32) {
        let levels: Vec<_> = filter.levels().collect();
        remove(&mut self.root, &levels, id);
    }

    /// Collects the holders of all filters that match a topic, sorted, each once.
    pub(crate) fn matching(&self, topic: &str, found: &mut Vec<u32>) {
        found.clear();
        let levels: Vec<_> = topic.split('/').collect();
        // MQTT 5.0 section 4.7.2: a wildcard in the first level does not match `$...`.
        collect(&self.root, &levels, topic.starts_with('$'), found);
        found.sort_unstable();
        found.dedup();
    }
}

fn remove(node: &mut Node, levels: &[&str], id: u32) {
    match levels {
        [] => node.here.retain(|&held| held != id),
        ["#"] => node.below.retain(|&held| held != id),
        ["+", rest @ ..] => {
            if let Some(next) = &mut node.any {
                remove(next, rest, id);
                node.any.take_if(|next| next.is_empty());
            }
        }
        [name, rest @ ..] => {
            if let Some(next) = node.named.get_mut(*name) {
                remove(next, rest, id);
                if next.is_empty() {
                    node.named.remove(*name);
                }
            }
        }
    }
}

fn collect(node: &Node, levels: &[&str], dollar: bool, found: &mut Vec<u32>) {
    if !dollar {
        found.extend(&node.below);
    }
    let Some((name, rest)) = levels.split_first() else {
        return found.extend(&node.here);
    };
    if let Some(next) = node.named.get(*name) {
        collect(next, rest, false, found);
    }
    if let (Some(next), false) = (&node.any, dollar) {
        collect(next, rest, false, found);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    fn filters() -> impl Strategy<Value = Vec<String>> {
        let level = prop_oneof![Just("a"), Just("b"), Just("+"), Just("$x"), Just("")];
        let levels = proptest::collection::vec(level, 1..4);
        let filter = (levels, any::<bool>())
            .prop_map(|(levels, rest)| levels.join("/") + if rest { "/#" } else { "" });
        proptest::collection::vec(filter, 0..8)
    }

    proptest! {
        #[test]
        fn the_tree_finds_what_each_filter_matches(
            filters in filters(),
            topic in "[ab$x]{0,2}(/[ab]{0,1}){0,3}",
        ) {
            let parsed: Vec<_> = filters.iter().filter_map(|f| Filter::parse(f).ok()).collect();
            let mut tree = Tree::default();
            for (id, filter) in parsed.iter().enumerate() {
                tree.insert(filter, id as u32);
            }
            let mut found = Vec::new();
            tree.matching(&topic, &mut found);
            let expected = parsed.iter().enumerate().filter(|(_, f)| f.matches(&topic));
            prop_assert_eq!(&found, &expected.map(|(id, _)| id as u32).collect::<Vec<_>>());
            for (id, filter) in parsed.iter().enumerate() {
                tree.remove(filter, id as u32);
            }
            prop_assert!(tree.root.is_empty());
        }
    }
}
