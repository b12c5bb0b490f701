//! `POST`: an entity with all that is to be made with it (18-088 section 10.2).

use crate::draft::{Draft, Given, Made, Stream, datastream, place};
use crate::entity::{Entity, Object, without_versions};
use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::kind::{Kind, Navigation};
use crate::multi::split;
use crate::said::{check, link, list, millis, properties, row, slug};
use serde_json::{Value as Json, json};
use weir_model::topic;

impl Draft<'_> {
    /// Drafts an entity of a type.
    // [STA-A.3.1.1-1]
    pub(crate) fn insert(&mut self, kind: Kind, body: &Json, given: Given) -> Result<Made> {
        let body = object(kind, body)?;
        check(kind, body, true)?;
        match kind {
            Kind::Observation => self.insert_observation(body, given),
            Kind::Datastream => self.insert_datastream(body, given),
            Kind::MultiDatastream => self.insert_multi(body, given),
            _ => self.insert_entity(kind, body, given),
        }
    }

    fn insert_entity(&mut self, kind: Kind, body: &Object, given: Given) -> Result<Made> {
        let id = self.new_id()?;
        let mut entity = Entity::new(kind, id.clone(), properties(kind, body));
        for way in kind.navigations().iter().filter(|way| kind.keeps(way.to)) {
            let ids = self.links(way, body, &given)?;
            if way.needed && ids.is_empty() {
                return Err(Fault::bad(format!("{} need {}", kind.set(), way.name)));
            }
            if !ids.is_empty() {
                entity.links.insert(way.name, ids);
            }
        }
        self.complete(&mut entity)?;
        self.put(entity.clone());
        let made = Made::Entity(kind, id.clone());
        for way in kind.navigations().iter().filter(|way| !kind.keeps(way.to)) {
            self.insert_children(kind, &made, way, body, &given)?;
        }
        if kind == Kind::Location {
            self.move_things(&id, &given)?;
        }
        if kind == Kind::Thing && entity.links.get("Locations").is_some() {
            self.note_location(&id)?;
        }
        if kind == Kind::HistoricalLocation && self.is_newest(&entity) {
            self.arrive(&entity);
        }
        Ok(made)
    }

    /// Entities that the body has at the other end of a link that they keep.
    fn insert_children(
        &mut self,
        kind: Kind,
        made: &Made,
        way: &'static Navigation,
        body: &Object,
        given: &Given,
    ) -> Result<()> {
        let Some(children) = body.get(way.name) else {
            return Ok(());
        };
        let back = way.to.navigations().iter().find(|back| back.to == kind);
        let Some(back) = back else { return Ok(()) };
        for child in list(way, children)? {
            match link(child) {
                Some(id) if way.to == Kind::Thing => {
                    let Made::Entity(_, location) = made else {
                        continue;
                    };
                    let id = self.known(Kind::Thing, &id)?;
                    // What the path says too is moved once.
                    if !given.contains(&(way.name, Made::Entity(way.to, id.clone()))) {
                        self.locate(&id, vec![location.clone()])?;
                    }
                }
                Some(id) => {
                    let name = way.name;
                    return Err(Fault::bad(format!(
                        "{name}({id}) cannot be taken over here"
                    )));
                }
                None if way.to == Kind::Thing => {
                    let Made::Entity(_, location) = made else {
                        continue;
                    };
                    let thing = self.insert(way.to, child, Vec::new())?;
                    if let Made::Entity(_, thing) = thing {
                        self.locate(&thing, vec![location.clone()])?;
                    }
                }
                None => drop(self.insert(way.to, child, vec![(back.name, made.clone())])?),
            }
        }
        Ok(())
    }

    /// The links of a navigation: those given, those named, those to be made.
    pub(crate) fn links(
        &mut self,
        way: &'static Navigation,
        body: &Object,
        given: &Given,
    ) -> Result<Vec<Id>> {
        let given = given.iter().filter(|(name, _)| *name == way.name);
        let mut ids: Vec<Id> = Vec::new();
        ids.extend(given.filter_map(|(_, made)| match made {
            Made::Entity(_, id) => Some(id.clone()),
            _ => None,
        }));
        let Some(said) = body.get(way.name) else {
            return Ok(ids);
        };
        let by_path = ids.len();
        let said = if way.many {
            list(way, said)?
        } else {
            vec![said]
        };
        for one in said {
            let id = match link(one) {
                Some(id) => self.known(way.to, &id)?,
                None if !way.many && !ids.is_empty() => return Err(Fault::contradiction(way.name)),
                None => match self.insert(way.to, one, Vec::new())? {
                    Made::Entity(_, id) => id,
                    _ => return Err(Fault::bad(format!("{} cannot be made here", way.name))),
                },
            };
            // The path and the body may both say it, and then the same.
            match ids[..by_path].contains(&id) {
                true => {}
                false if !way.many && !ids.is_empty() => {
                    return Err(Fault::contradiction(way.name));
                }
                false => ids.push(id),
            }
        }
        Ok(ids)
    }

    /// An identifier, of something that is there.
    // [STA-A.3.1.1-4] [STA-A.3.1.1-5]
    pub(crate) fn known(&self, kind: Kind, id: &Id) -> Result<Id> {
        let context = self.context;
        let found = self.entity(kind, id);
        let found = found.filter(|it| {
            self.puts.contains_key(&(kind, id.clone()))
                || context.view.may_read(context.grants(), it)
        });
        match found {
            Some(entity) => Ok(entity.id),
            None => Err(Fault::bad(format!(
                "there is no {}({})",
                kind.set(),
                id.in_url()
            ))),
        }
    }

    fn insert_datastream(&mut self, body: &Object, given: Given) -> Result<Made> {
        let kind = Kind::Datastream;
        let mut about = properties(kind, body);
        let mut ids = Vec::new();
        for way in kind.navigations().iter().filter(|way| way.needed) {
            let links = self.links(way, body, &given)?;
            let [id] = &links[..] else {
                return Err(Fault::bad(format!("Datastreams need one {}", way.name)));
            };
            about.insert(way.name.into(), id.to_json());
            ids.push(id.clone());
        }
        let topic = self.new_topic(&mut about, &ids[0])?;
        let mut stream = self.stream(&topic).cloned().unwrap_or_default();
        self.describe(&mut stream, about, &ids);
        self.streams.insert(topic.clone(), stream);
        let made = Made::Datastream(topic);
        if let Some(observations) = body.get("Observations") {
            let way = kind.navigation("Observations");
            for child in way.map_or(Ok(Vec::new()), |way| list(way, observations))? {
                self.insert(Kind::Observation, child, vec![("Datastream", made.clone())])?;
            }
        }
        Ok(made)
    }

    /// What other protocols see of a datastream's description.
    pub(crate) fn describe(&self, stream: &mut Stream, mut about: Object, ids: &[Id]) {
        if !stream.known.descriptions.is_empty() {
            without_versions(&mut about);
        }
        let text = |json: Option<&Json>| json.and_then(Json::as_str).map(Into::into);
        stream.known.name = text(about.remove("name").as_ref()).or(stream.known.name.take());
        let unit = about.get("unitOfMeasurement").map(|unit| &unit["symbol"]);
        stream.known.unit = text(unit).or(stream.known.unit.take());
        if let [thing, sensor, property] = ids {
            let property = self.entity(Kind::ObservedProperty, property);
            stream.known.property = property.and_then(|it| text(it.body.get("name")));
            if let Id::Text(sensor) = sensor {
                stream.known.sensor = Some((**sensor).into());
            }
            let thing = self.entity(Kind::Thing, thing);
            let locations = thing.and_then(|mut it| it.links.remove("Locations"));
            let locations = locations.unwrap_or_default();
            let location = |id| self.entity(Kind::Location, id);
            let place = locations
                .iter()
                .find_map(|id| place(location(id)?.body.get("location")));
            stream.known.place = place.or(stream.known.place);
        }
        stream.about.extend(about);
    }

    /// The topic that `properties/topic` says, or one of the names of thing and datastream.
    fn new_topic(&mut self, about: &mut Object, thing: &Id) -> Result<String> {
        let said = about
            .get("properties")
            .map(|properties| &properties["topic"]);
        if let Some(said) = said.and_then(Json::as_str) {
            topic::check(said).map_err(|error| Fault::bad(format!("properties/topic: {error}")))?;
            self.context.may_describe(said)?;
            let taken = |it: &std::sync::Arc<Entity>| {
                it.links["Thing"]
                    .iter()
                    .any(|id| matches!(id, Id::Number(_)))
            };
            return if datastream(self.context, said).is_some_and(taken) {
                Err(Fault::new(409, format!("`{said}` is a datastream already")))
            } else {
                Ok(said.to_owned())
            };
        }
        let base = self.topic_named(about, thing);
        for number in 1.. {
            let topic = if number == 1 {
                base.clone()
            } else {
                format!("{base}-{number}")
            };
            topic::check(&topic).map_err(|error| Fault::bad(error.to_string()))?;
            self.context.may_describe(&topic)?;
            let is_free = datastream(self.context, &topic).is_none();
            if is_free && !self.streams.contains_key(&topic) {
                return Ok(topic);
            }
        }
        Err(Fault::new(500, "no topic is free"))
    }

    /// A topic of the names of a thing and of what is described.
    pub(crate) fn topic_named(&self, about: &Object, thing: &Id) -> String {
        let name = |entity: Option<Entity>| {
            let name = entity.and_then(|it| it.body.get("name")?.as_str().map(slug));
            name.unwrap_or_else(|| "thing".into())
        };
        let first = match thing {
            Id::Text(prefix) => prefix.to_string(),
            Id::Number(_) => name(self.entity(Kind::Thing, thing)),
        };
        let last = about.get("name").and_then(Json::as_str);
        format!("{first}/{}", last.map_or("datastream".into(), slug))
    }

    fn insert_observation(&mut self, body: &Object, given: Given) -> Result<Made> {
        let mut row = row(body)?;
        row.time = row.time.or_else(|| Some(millis(self.context.now)));
        let multi = self.multi_of(body, &given)?;
        let from = given.iter().find(|(name, _)| *name == "Datastream");
        let topic = match (&multi, from, body.get("Datastream")) {
            (Some(multi), None, None) => multi.key.to_string(),
            (None, Some((_, Made::Datastream(topic))), None) => topic.clone(),
            (None, Some((_, Made::Datastream(topic))), Some(said)) => {
                if link(said).is_some() && self.datastream_of(said)? == *topic {
                    topic.clone()
                } else {
                    return Err(Fault::contradiction("Datastream"));
                }
            }
            (None, _, Some(said)) => self.datastream_of(said)?,
            _ => {
                let problem = "Observations need one Datastream or one MultiDatastream";
                return Err(Fault::bad(problem));
            }
        };
        if let Some(multi) = &multi {
            row = split(multi, row)?;
        }
        let feature = given.iter().find_map(|(name, made)| match made {
            Made::Entity(_, id) if *name == "FeatureOfInterest" => {
                Some(json!({"@iot.id": id.to_json()}))
            }
            _ => None,
        });
        let said = body.get("FeatureOfInterest");
        row.feature = match feature.as_ref().or(said) {
            Some(first) => {
                let id = self.feature_of(first, &topic)?;
                // Both say it where the path does.
                if said.is_some_and(|said| feature.is_some() && link(said).as_ref() != Some(&id)) {
                    return Err(Fault::contradiction("FeatureOfInterest"));
                }
                Some(id)
            }
            None => {
                match &multi {
                    Some(multi) => self.check_multi_placed(multi)?,
                    None => self.check_placed(&topic)?,
                }
                None
            }
        };
        self.rows.push((topic.clone(), row));
        Ok(Made::Observation(topic))
    }

    pub(crate) fn datastream_of(&mut self, said: &Json) -> Result<String> {
        let Some(id) = link(said) else {
            return match self.insert(Kind::Datastream, said, Vec::new())? {
                Made::Datastream(topic) => Ok(topic),
                _ => Err(Fault::bad("a Datastream was expected")),
            };
        };
        if let Id::Text(topic) = &id
            && self.streams.contains_key(&**topic)
        {
            return Ok(topic.to_string());
        }
        let view = self.context.view;
        let by_topic = match &id {
            Id::Text(topic) => view.datastream(topic),
            Id::Number(_) => None,
        };
        let found = by_topic.or_else(|| view.find(Kind::Datastream, &id));
        let found = found.filter(|it| view.may_read(self.context.grants(), it));
        let missing = || Fault::bad(format!("there is no Datastreams({})", id.in_url()));
        found.map(|it| it.key.to_string()).ok_or_else(missing)
    }

    /// A feature that is named or to be made; it remembers of which datastreams it is.
    pub(crate) fn feature_of(&mut self, said: &Json, topic: &str) -> Result<Id> {
        let kind = Kind::FeatureOfInterest;
        let id = match link(said) {
            Some(id) => self.known(kind, &id)?,
            None => match self.insert(kind, said, Vec::new())? {
                Made::Entity(_, id) => id,
                _ => return Err(Fault::bad("a FeatureOfInterest was expected")),
            },
        };
        self.name_feature(&id, topic);
        Ok(id)
    }

    /// Notes that observations of a topic name a feature.
    pub(crate) fn name_feature(&mut self, id: &Id, topic: &str) {
        if let Some(mut feature) = self.entity(Kind::FeatureOfInterest, id)
            && !feature.topics.iter().any(|known| known == topic)
        {
            feature.topics.push(topic.to_owned());
            // To describe what is implied is a change.
            if feature.is_implied {
                self.put(feature)
            } else {
                self.note(feature)
            }
        }
    }

    /// Refuses observations of a topic that name no feature where none follows from where the thing is (18-088 section
    /// 10.2.1.3).
    pub(crate) fn check_placed(&self, topic: &str) -> Result<()> {
        let known = datastream(self.context, topic);
        let (thing, origin) = match (self.streams.get(topic), known) {
            (Some(stream), _) => (stream.link("Thing"), stream.link("FeatureOfInterest")),
            (None, Some(known)) => (known.links["Thing"].first().cloned(), known.origin.clone()),
            (None, None) => (None, None),
        };
        self.check_whereabouts(thing, origin)
    }
}

fn object(kind: Kind, body: &Json) -> Result<&Object> {
    let missing = || Fault::bad(format!("{}: an object was expected", kind.set()));
    body.as_object().ok_or_else(missing)
}
