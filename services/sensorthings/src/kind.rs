//! The entity types of OGC 18-088 section 8.2: their sets, properties and navigations, as data.

/// An entity type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Thing,
    Location,
    HistoricalLocation,
    Datastream,
    Sensor,
    ObservedProperty,
    Observation,
    FeatureOfInterest,
}

/// A way from an entity to others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Navigation {
    pub(crate) name: &'static str,
    pub(crate) to: Kind,
    pub(crate) many: bool,
    /// Whether an entity of this type cannot be without it.
    pub(crate) needed: bool,
}

/// A property: its name, and whether an entity cannot be without it.
pub(crate) type Property = (&'static str, bool);

const fn one(name: &'static str, to: Kind, needed: bool) -> Navigation {
    let many = false;
    Navigation {
        name,
        to,
        many,
        needed,
    }
}

const fn many(name: &'static str, to: Kind) -> Navigation {
    Navigation {
        name,
        to,
        many: true,
        needed: false,
    }
}

use Kind::{
    Datastream, FeatureOfInterest, HistoricalLocation, Location, Observation, ObservedProperty,
    Sensor, Thing,
};

impl Kind {
    /// Every type, in the order of the service's root.
    pub(crate) const ALL: &'static [Kind] = &[
        Thing,
        Location,
        HistoricalLocation,
        Datastream,
        Sensor,
        ObservedProperty,
        Observation,
        FeatureOfInterest,
    ];

    /// The name of its entity set.
    pub(crate) const fn set(self) -> &'static str {
        match self {
            Thing => "Things",
            Location => "Locations",
            HistoricalLocation => "HistoricalLocations",
            Datastream => "Datastreams",
            Sensor => "Sensors",
            ObservedProperty => "ObservedProperties",
            Observation => "Observations",
            FeatureOfInterest => "FeaturesOfInterest",
        }
    }

    /// The type of the set of this name.
    pub(crate) fn of_set(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.set() == name)
    }

    /// Its properties (18-088 tables 3 to 15).
    pub(crate) const fn properties(self) -> &'static [Property] {
        match self {
            Thing => &[("name", true), ("description", true), ("properties", false)],
            Location => &[
                ("name", true),
                ("description", true),
                ("encodingType", true),
                ("location", true),
                ("properties", false),
            ],
            HistoricalLocation => &[("time", true)],
            Datastream => &[
                ("name", true),
                ("description", true),
                ("observationType", true),
                ("unitOfMeasurement", true),
                ("observedArea", false),
                ("phenomenonTime", false),
                ("resultTime", false),
                ("properties", false),
            ],
            Sensor => &[
                ("name", true),
                ("description", true),
                ("encodingType", true),
                ("metadata", true),
                ("properties", false),
            ],
            ObservedProperty => &[
                ("name", true),
                ("definition", true),
                ("description", true),
                ("properties", false),
            ],
            Observation => &[
                ("phenomenonTime", false),
                ("result", true),
                ("resultTime", false),
                ("resultQuality", false),
                ("validTime", false),
                ("parameters", false),
            ],
            FeatureOfInterest => &[
                ("name", true),
                ("description", true),
                ("encodingType", true),
                ("feature", true),
                ("properties", false),
            ],
        }
    }

    /// The property of this name, as the table spells it.
    pub(crate) fn property(self, name: &str) -> Option<&'static str> {
        let known = self.properties().iter().find(|(known, _)| *known == name);
        known.map(|(known, _)| *known)
    }

    /// Its navigations (18-088 tables 4 to 16).
    pub(crate) const fn navigations(self) -> &'static [Navigation] {
        const OF_THING: &[Navigation] = &[
            many("Datastreams", Datastream),
            many("Locations", Location),
            many("HistoricalLocations", HistoricalLocation),
        ];
        const OF_LOCATION: &[Navigation] = &[
            many("Things", Thing),
            many("HistoricalLocations", HistoricalLocation),
        ];
        const OF_HISTORICAL: &[Navigation] =
            &[one("Thing", Thing, true), many("Locations", Location)];
        const OF_DATASTREAM: &[Navigation] = &[
            one("Thing", Thing, true),
            one("Sensor", Sensor, true),
            one("ObservedProperty", ObservedProperty, true),
            many("Observations", Observation),
        ];
        const DATASTREAMS: &[Navigation] = &[many("Datastreams", Datastream)];
        const OF_OBSERVATION: &[Navigation] = &[
            one("Datastream", Datastream, true),
            one("FeatureOfInterest", FeatureOfInterest, false),
        ];
        const OBSERVATIONS: &[Navigation] = &[many("Observations", Observation)];
        match self {
            Thing => OF_THING,
            Location => OF_LOCATION,
            HistoricalLocation => OF_HISTORICAL,
            Datastream => OF_DATASTREAM,
            Sensor | ObservedProperty => DATASTREAMS,
            Observation => OF_OBSERVATION,
            FeatureOfInterest => OBSERVATIONS,
        }
    }

    /// The navigation of this name.
    pub(crate) fn navigation(self, name: &str) -> Option<&'static Navigation> {
        self.navigations().iter().find(|known| known.name == name)
    }

    /// Whether the link is kept with this type, and not looked up from the other end.
    pub(crate) fn keeps(self, to: Kind) -> bool {
        match self {
            Thing => to == Location,
            HistoricalLocation => matches!(to, Thing | Location),
            Datastream => matches!(to, Thing | Sensor | ObservedProperty),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_can_be_gone_back() {
        for &from in Kind::ALL {
            for way in from.navigations() {
                let back = way.to.navigations().iter().any(|back| back.to == from);
                assert!(back, "{} of {}", way.name, from.set());
            }
        }
    }
}
