//! The datastreams that a request means: what offering, procedure and property pick.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::inventory::{Inventory, Series};
use crate::named::Named;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What offering, procedure and property pick; one that names nothing is invalid.
// [SOS2-8.3-1] [SOS2-8.3-8]
pub(crate) fn selected(ask: &Ask, inventory: &Inventory<'_>) -> Result<Vec<Series>, Exception> {
    let offerings = named(ask, "offering", |id| {
        inventory.of_offering(id).next().is_some()
    })?;
    let procedures = named(ask, "procedure", |id| {
        inventory.of_procedure(id).next().is_some()
    })?;
    let properties = named(ask, "observedProperty", |id| {
        inventory.of_property(id).next().is_some()
    })?;
    // An offering has all that its procedures observe.
    let offering = offerings.iter().flat_map(|id| inventory.procedures_of(id));
    let offering: Vec<String> = offering.collect();
    let any = |all: &[String], own: &str| all.is_empty() || all.iter().any(|name| name == own);
    let is_picked = |own: &Named| {
        any(&offering, &own.procedure)
            && any(procedures, &own.procedure)
            && any(properties, &own.property)
    };
    // What names fewest leads: procedures have few datastreams, a property may have most of all.
    let mut leading: BTreeMap<(&str, &[u8]), &Arc<Named>> = BTreeMap::new();
    let by_topic = |named| {
        let own = Arc::<Named>::as_ref(named);
        ((&*own.topic, own.under()), named)
    };
    match (&offering[..], procedures, properties) {
        ([], [], []) => leading.extend(inventory.all().map(by_topic)),
        ([], [], all) => all
            .iter()
            .for_each(|id| leading.extend(inventory.of_property(id).map(by_topic))),
        ([], all, _) | (all, ..) => all
            .iter()
            .for_each(|id| leading.extend(inventory.of_procedure(id).map(by_topic))),
    }
    let picked = leading.into_values().filter(|named| is_picked(named));
    Ok(picked.map(|named| inventory.series(named)).collect())
}

/// The values of a parameter, each of which must be known.
fn named<'a>(
    ask: &'a Ask,
    name: &str,
    is_known: impl Fn(&str) -> bool,
) -> Result<&'a [String], Exception> {
    let values = ask.params.all(name);
    match values.iter().find(|value| !is_known(value)) {
        Some(value) => Err(Exception::invalid(name, format!("there is no `{value}`"))),
        None => Ok(values),
    }
}
