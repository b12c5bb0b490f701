//! Offerings: names for what a procedure observes, and which procedures' observations they have.
//!
//! An offering is data of the sensor's record, so it is kept and forgotten with the sensor, whatever service put it
//! there; a procedure that names none has one named after it. What is attached to a procedure observes for it, so its
//! offerings have that too. The decision worth arguing: a procedure with several offerings has all that it observes
//! in each, since a datastream is described once (docs/decisions/0054).

use crate::identifiers::{offering_of, procedure_of};
use crate::records::{OwnOffering, attached_of, offerings_of, related_of};
use crate::related::Related;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// What the records of sensors say of offerings.
#[derive(Clone, Default)]
pub(crate) struct Offerings {
    announced: BTreeMap<String, Announced>,
    /// Procedures by the offerings that they name.
    by_id: BTreeMap<String, BTreeSet<String>>,
    /// Procedures by what they are attached to.
    attached: BTreeMap<String, BTreeSet<String>>,
}

/// What one record says.
#[derive(Clone)]
struct Announced {
    offerings: Vec<OwnOffering>,
    attached_to: Vec<String>,
    related: Vec<Related>,
}

impl Announced {
    fn is_nothing(&self) -> bool {
        self.offerings.is_empty() && self.attached_to.is_empty() && self.related.is_empty()
    }
}

impl Offerings {
    /// Takes a sensor's record.
    pub(crate) fn take(&mut self, procedure: &str, sensor: &Json) {
        self.forget(procedure);
        let announced = Announced {
            offerings: offerings_of(sensor),
            attached_to: attached_of(sensor),
            related: related_of(sensor),
        };
        if announced.is_nothing() {
            return;
        }
        let ids = announced.offerings.iter().map(|own| &own.id);
        ids.for_each(|id| add(&mut self.by_id, id, procedure));
        let wholes = announced.attached_to.iter();
        wholes.for_each(|whole| add(&mut self.attached, whole, procedure));
        self.announced.insert(procedure.to_owned(), announced);
    }

    /// Forgets a sensor's record.
    pub(crate) fn forget(&mut self, procedure: &str) {
        let Some(announced) = self.announced.remove(procedure) else {
            return;
        };
        let ids = announced.offerings.iter().map(|own| &own.id);
        ids.for_each(|id| remove(&mut self.by_id, id, procedure));
        let wholes = announced.attached_to.iter();
        wholes.for_each(|whole| remove(&mut self.attached, whole, procedure));
    }

    /// The procedures whose records say something of offerings.
    pub(crate) fn procedures(&self) -> impl Iterator<Item = &str> {
        self.announced.keys().map(String::as_str)
    }

    /// The offerings that a procedure names, in its order; none where it has one named after it.
    pub(crate) fn named_by(&self, procedure: &str) -> &[OwnOffering] {
        let announced = self.announced.get(procedure);
        announced.map_or(&[], |announced| &announced.offerings)
    }

    /// The features that a procedure is related to.
    pub(crate) fn related_to(&self, procedure: &str) -> &[Related] {
        let announced = self.announced.get(procedure);
        announced.map_or(&[], |announced| &announced.related)
    }

    /// The offerings of a procedure: those it names, or the one named after it.
    pub(crate) fn owned_by(&self, procedure: &str) -> Vec<OwnOffering> {
        match self.named_by(procedure) {
            [] => vec![OwnOffering {
                id: offering_of(procedure),
                name: None,
            }],
            named => named.to_vec(),
        }
    }

    /// The offerings that what a procedure observes is in: its own, and those of all that it is attached to.
    pub(crate) fn with(&self, procedure: &str) -> BTreeSet<String> {
        let wholes = |procedure: &str| {
            let announced = self.announced.get(procedure);
            announced.map_or(&[][..], |own| &own.attached_to[..])
        };
        let all = reached(procedure, |own| wholes(own).iter());
        let owned = all.iter().flat_map(|own| self.owned_by(own));
        owned.map(|own| own.id).collect()
    }

    /// The procedure itself and all that is attached to it, however far down.
    pub(crate) fn below(&self, procedure: &str) -> BTreeSet<String> {
        reached(procedure, |own| {
            self.attached.get(own).into_iter().flatten()
        })
    }

    /// The procedures that own an offering: those that name it, or the one that it is named after.
    pub(crate) fn owners(&self, id: &str) -> BTreeSet<String> {
        if let Some(owners) = self.by_id.get(id) {
            return owners.clone();
        }
        let named_after = procedure_of(id);
        let named_after = named_after.filter(|own| self.named_by(own).is_empty());
        named_after.into_iter().collect()
    }

    /// The procedures whose observations an offering has.
    pub(crate) fn procedures_of(&self, id: &str) -> BTreeSet<String> {
        let owners = self.owners(id).into_iter();
        owners.flat_map(|owner| self.below(&owner)).collect()
    }
}

fn add(index: &mut BTreeMap<String, BTreeSet<String>>, key: &str, procedure: &str) {
    let procedures = index.entry(key.to_owned()).or_default();
    procedures.insert(procedure.to_owned());
}

fn remove(index: &mut BTreeMap<String, BTreeSet<String>>, key: &str, procedure: &str) {
    let Some(procedures) = index.get_mut(key) else {
        return;
    };
    procedures.remove(procedure);
    if procedures.is_empty() {
        index.remove(key);
    }
}

/// What is reached from a procedure step by step, itself included; a ring is gone through once.
fn reached<'a, I: Iterator<Item = &'a String>>(
    from: &str,
    next: impl Fn(&str) -> I,
) -> BTreeSet<String> {
    let mut met = BTreeSet::from([from.to_owned()]);
    let mut ahead = vec![from.to_owned()];
    while let Some(procedure) = ahead.pop() {
        for other in next(&procedure) {
            if met.insert(other.clone()) {
                ahead.push(other.clone());
            }
        }
    }
    met
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn record(offerings: &[&str], attached_to: &[&str]) -> Json {
        let named = offerings.iter().map(|id| json!({"id": id}));
        json!({"properties": {"offerings": named.collect::<Vec<_>>(), "attachedTo": attached_to}})
    }

    fn set(all: &[&str]) -> BTreeSet<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn an_offering_has_what_is_attached_however_far_down() {
        let mut offerings = Offerings::default();
        offerings.take("station", &record(&["o", "p"], &["mast"]));
        offerings.take("mast", &record(&[], &["station"]));
        offerings.take("cup", &record(&[], &["mast"]));
        assert_eq!(
            offerings.procedures_of("o"),
            set(&["cup", "mast", "station"])
        );
        assert_eq!(offerings.procedures_of("p"), offerings.procedures_of("o"));
        let cup = set(&["cup/observations", "mast/observations", "o", "p"]);
        assert_eq!(offerings.with("cup"), cup);
        assert_eq!(offerings.procedures_of("station/observations"), set(&[]));
        offerings.take("station", &record(&["q"], &[]));
        assert_eq!(offerings.procedures_of("o"), set(&[]));
        assert_eq!(
            offerings.procedures_of("q"),
            set(&["cup", "mast", "station"])
        );
        offerings.forget("mast");
        assert_eq!(
            offerings.with("cup"),
            set(&["cup/observations", "mast/observations"])
        );
        assert_eq!(offerings.procedures_of("q"), set(&["station"]));
    }

    #[test]
    fn records_that_say_anything_else_name_no_offerings() {
        let mut offerings = Offerings::default();
        for wrong in [
            json!(7),
            json!({"id": 7}),
            json!(["o", {"name": "n"}, {"id": ""}]),
        ] {
            offerings.take(
                "s",
                &json!({"properties": {"offerings": wrong, "attachedTo": 1}}),
            );
            let owned: Vec<_> = offerings
                .owned_by("s")
                .into_iter()
                .map(|own| own.id)
                .collect();
            assert_eq!(owned, ["s/observations"]);
        }
    }
}
