//! Where things are: their locations, and the historical ones that say where they were and since when.

use crate::create::{Given, Made, millis};
use crate::draft::Draft;
use crate::entity::{Entity, Object};
use crate::fault::{Fault, Result};
use crate::filter::{geometry, time};
use crate::id::Id;
use crate::kind::Kind;
use crate::render::instant;

impl Draft<'_> {
    /// Where a thing is, of what may be several descriptions of one place (18-088 section 8.2.2): the one that is a
    /// geometry, if there is one.
    pub(crate) fn location_of(&self, thing: &Entity) -> Option<Id> {
        let locations = thing.links.get("Locations")?;
        let is_geometry = |id: &&Id| {
            let location = self.entity(Kind::Location, id);
            location.is_some_and(|it| it.body.get("location").and_then(geometry).is_some())
        };
        locations
            .iter()
            .find(is_geometry)
            .or(locations.first())
            .cloned()
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
            all.into_iter().map(|it| &**it)
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
