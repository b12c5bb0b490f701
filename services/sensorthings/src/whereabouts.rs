//! Where things are: their locations, and the historical ones that say where they were and since when.

use crate::said::millis;

use crate::draft::{Draft, Given, Made};
use crate::entity::{Entity, Object};
use crate::fault::{Fault, Result};
use crate::filter::time;
use crate::id::Id;
use crate::kind::Kind;
use crate::values::instant;

impl Draft<'_> {
    /// Refuses observations that name no feature where none follows from where a thing that was described is.
    pub(crate) fn check_whereabouts(&self, thing: Option<Id>, origin: Option<Id>) -> Result<()> {
        let thing = thing.and_then(|id| self.entity(Kind::Thing, &id));
        let is_somewhere = |thing: &Entity| {
            !thing.links["Locations"].is_empty() || self.context.view.was_somewhere(&thing.id)
        };
        let is_placed = |thing: &Entity| thing.is_implied || is_somewhere(thing);
        if origin.is_some() || thing.as_ref().is_none_or(is_placed) {
            Ok(())
        } else {
            Err(Fault::bad(
                "Observations need a FeatureOfInterest, or a Thing that has a Location",
            ))
        }
    }

    /// Puts an entity that changed, and what follows where it says that a thing is or was somewhere else.
    pub(crate) fn put_changed(&mut self, changed: Entity, moved: bool) -> Result<()> {
        self.put(changed.clone());
        match changed.kind {
            Kind::Thing if moved => {
                let locations = changed.links["Locations"].clone();
                self.locate(&changed.id, locations)
            }
            Kind::HistoricalLocation if self.is_newest(&changed) => {
                self.arrive(&changed);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Things named by a location that is made are there from now on.
    pub(crate) fn move_things(&mut self, location: &Id, given: &Given) -> Result<()> {
        for (_, made) in given.iter().filter(|(name, _)| *name == "Things") {
            if let Made::Entity(_, thing) = made {
                self.locate(thing, vec![location.clone()])?;
            }
        }
        Ok(())
    }

    /// Puts a thing at locations, and notes that it came there.
    pub(crate) fn locate(&mut self, thing: &Id, locations: Vec<Id>) -> Result<()> {
        let known = self.entity(Kind::Thing, thing);
        let mut entity = known.ok_or_else(|| Fault::bad(format!("there is no Things({thing})")))?;
        entity.links.insert("Locations", locations);
        self.put(entity);
        self.note_location(thing)
    }

    /// A new location makes a historical one (18-088 section 8.2.2).
    // [STA-A.3.1.1-9]
    pub(crate) fn note_location(&mut self, thing: &Id) -> Result<()> {
        let locations = self
            .entity(Kind::Thing, thing)
            .and_then(|mut it| it.links.remove("Locations"));
        let body =
            Object::from_iter([("time".to_owned(), instant(millis(self.context.now)).into())]);
        let mut noted = Entity::new(Kind::HistoricalLocation, self.new_id()?, body);
        noted.links.insert("Thing", vec![thing.clone()]);
        noted
            .links
            .insert("Locations", locations.unwrap_or_default());
        self.put(noted);
        Ok(())
    }

    /// Says whether a thing was where this says at a later time than where all others say.
    pub(crate) fn is_newest(&self, noted: &Entity) -> bool {
        let at = |it: &Entity| time::instant(it.body.get("time")?.as_str()?);
        let things = &noted.links["Thing"];
        let view = self.context.view;
        let known = things.iter().flat_map(|thing| {
            let all = view.linking(Kind::Thing, thing, Kind::HistoricalLocation);
            let others = all.into_iter().filter(|it| it.id != noted.id);
            others.map(|it| &**it)
        });
        let drafted = self.puts.values().flatten().filter(|it| {
            it.kind == Kind::HistoricalLocation && it.links["Thing"] == *things && it.id != noted.id
        });
        known.chain(drafted).all(|other| at(other) < at(noted))
    }

    /// A thing is where the newest of its historical locations says (18-088 section 10.2,
    /// historical-location-manual-creation).
    // [STA-A.3.1.1-11]
    pub(crate) fn arrive(&mut self, noted: &Entity) {
        let locations = noted.links.get("Locations").cloned().unwrap_or_default();
        for thing in noted.links.get("Thing").into_iter().flatten() {
            if let Some(mut thing) = self.entity(Kind::Thing, thing) {
                thing.links.insert("Locations", locations.clone());
                self.put(thing);
            }
        }
    }
}
