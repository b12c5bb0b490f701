//! Lists of identifiers in KVP whose separators were encoded.
//!
//! By OGC 06-121r9 section 11.3 an encoded comma is part of a value. Many clients encode all of a parameter, so a
//! value that nothing is called, and of whose parts one at least is called something, is a list.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::features::{self, Feature};
use crate::inventory::Inventory;
use std::collections::BTreeMap;

/// Parameters that are lists of identifiers.
const NAMES: &[&str] = &[
    "offering",
    "procedure",
    "observedProperty",
    "featureOfInterest",
    "FeatureOfInterestId",
];

/// Separates what was meant as a list.
pub(crate) fn separate(ask: &mut Ask) -> Result<(), Exception> {
    let params = &ask.params;
    let has_comma = |name: &&&str| params.all(name).iter().any(|value| value.contains(','));
    let doubtful: Vec<_> = NAMES.iter().filter(has_comma).collect();
    if doubtful.is_empty() || !params.lists_are_text {
        return Ok(());
    }
    let mut lists = Vec::new();
    let inventory = ask.inventory()?;
    let features = if doubtful.iter().any(|name| name.starts_with(['f', 'F'])) {
        features::known(ask, &inventory)?
    } else {
        BTreeMap::new()
    };
    for name in doubtful {
        let is_known = |id: &str| is_known(&inventory, &features, name, id);
        for value in params.all(name).iter().filter(|value| value.contains(',')) {
            let mut parts = value.split(',').map(str::trim);
            if !is_known(value) && parts.any(is_known) {
                lists.push((*name, value.clone()));
            }
        }
    }
    for (name, value) in lists {
        ask.params.separate(name, &value);
    }
    Ok(())
}

fn is_known(
    inventory: &Inventory<'_>,
    features: &BTreeMap<String, Feature>,
    name: &str,
    id: &str,
) -> bool {
    match name {
        "offering" => inventory.of_offering(id).next().is_some(),
        "procedure" => inventory.of_procedure(id).next().is_some(),
        "observedProperty" => inventory.of_property(id).next().is_some(),
        _ => features.contains_key(id),
    }
}
