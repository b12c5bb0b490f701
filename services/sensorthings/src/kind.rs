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
    MultiDatastream,
    Actuator,
    TaskingCapability,
    Task,
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
    Actuator, Datastream, FeatureOfInterest, HistoricalLocation, Location, MultiDatastream,
    Observation, ObservedProperty, Sensor, Task, TaskingCapability, Thing,
};

// [TASKING-1-2]
const OF_CAPABILITY: &[Navigation] = &[
    one("Thing", Thing, true),
    one("Actuator", Actuator, true),
    many("Tasks", Task),
];
// [TASKING-3-2]
const CAPABILITIES: &[Navigation] = &[many("TaskingCapabilities", TaskingCapability)];
// [TASKING-2-2]
const CAPABILITY: &[Navigation] = &[one("TaskingCapability", TaskingCapability, true)];

// [STA-A.5.1.1-1]
const PROPERTIES_OF_MULTI: &[Property] = &[
    ("name", true),
    ("description", true),
    ("observationType", false),
    ("multiObservationDataTypes", true),
    ("unitOfMeasurements", true),
    ("observedArea", false),
    ("phenomenonTime", false),
    ("resultTime", false),
    ("properties", false),
];

// [TASKING-1-1]
const PROPERTIES_OF_CAPABILITY: &[Property] = &[
    ("name", true),
    ("description", true),
    ("taskingParameters", true),
    ("properties", false),
];

impl Kind {
    /// Every type: those of part 1, of its extension for multi-datastreams, of part 2.
    pub(crate) const ALL: &'static [Kind] = &[
        Thing,
        Location,
        HistoricalLocation,
        Datastream,
        Sensor,
        ObservedProperty,
        Observation,
        FeatureOfInterest,
        MultiDatastream,
        Actuator,
        TaskingCapability,
        Task,
    ];

    /// Whether the service's root lists its set: part 1 says which it may (18-088 section 9.2.1).
    pub(crate) const fn is_of_sensing(self) -> bool {
        !matches!(self, Actuator | TaskingCapability | Task)
    }

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
            MultiDatastream => "MultiDatastreams",
            Actuator => "Actuators",
            TaskingCapability => "TaskingCapabilities",
            Task => "Tasks",
        }
    }

    /// The type of the set of this name.
    pub(crate) fn of_set(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.set() == name)
    }

    /// Its properties (18-088 tables 3 to 15 and that of section 12; 17-079r1 section 8).
    pub(crate) const fn properties(self) -> &'static [Property] {
        match self {
            // [STA-A.1.2-1]
            Thing => &[("name", true), ("description", true), ("properties", false)],
            // [STA-A.1.3-1]
            Location => &[
                ("name", true),
                ("description", true),
                ("encodingType", true),
                ("location", true),
                ("properties", false),
            ],
            // [STA-A.1.4-1]
            HistoricalLocation => &[("time", true)],
            // [STA-A.1.5-1]
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
            MultiDatastream => PROPERTIES_OF_MULTI,
            TaskingCapability => PROPERTIES_OF_CAPABILITY,
            // [TASKING-2-1]
            Task => &[("creationTime", false), ("taskingParameters", true)],
            // [STA-A.1.6-1] [TASKING-3-1]
            Sensor | Actuator => &[
                ("name", true),
                ("description", true),
                ("encodingType", true),
                ("metadata", true),
                ("properties", false),
            ],
            // [STA-A.1.7-1]
            ObservedProperty => &[
                ("name", true),
                ("definition", true),
                ("description", true),
                ("properties", false),
            ],
            // [STA-A.1.8-1]
            Observation => &[
                ("phenomenonTime", false),
                ("result", true),
                ("resultTime", false),
                ("resultQuality", false),
                ("validTime", false),
                ("parameters", false),
            ],
            // [STA-A.1.9-1]
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

    /// Whether the service computes a property of this type (18-088 table 9).
    pub(crate) fn is_computed(self, name: &str) -> bool {
        let of_kind = matches!(self, Datastream | MultiDatastream);
        of_kind && matches!(name, "phenomenonTime" | "resultTime" | "observedArea")
    }

    /// Its navigations (18-088 tables 4 to 16).
    pub(crate) const fn navigations(self) -> &'static [Navigation] {
        // [STA-A.1.2-2]
        const OF_THING: &[Navigation] = &[
            many("Datastreams", Datastream),
            many("MultiDatastreams", MultiDatastream),
            many("TaskingCapabilities", TaskingCapability),
            many("Locations", Location),
            many("HistoricalLocations", HistoricalLocation),
        ];
        // [STA-A.1.3-2]
        const OF_LOCATION: &[Navigation] = &[
            many("Things", Thing),
            many("HistoricalLocations", HistoricalLocation),
        ];
        // [STA-A.1.4-2]
        const OF_HISTORICAL: &[Navigation] =
            &[one("Thing", Thing, true), many("Locations", Location)];
        // [STA-A.1.5-2]
        const OF_DATASTREAM: &[Navigation] = &[
            one("Thing", Thing, true),
            one("Sensor", Sensor, true),
            one("ObservedProperty", ObservedProperty, true),
            many("Observations", Observation),
        ];
        // [STA-A.5.1.1-2]
        const OF_MULTI: &[Navigation] = &[
            one("Thing", Thing, true),
            one("Sensor", Sensor, true),
            Navigation {
                needed: true,
                ..many("ObservedProperties", ObservedProperty)
            },
            many("Observations", Observation),
        ];
        // [STA-A.1.6-2] [STA-A.1.7-2]
        const DATASTREAMS: &[Navigation] = &[
            many("Datastreams", Datastream),
            many("MultiDatastreams", MultiDatastream),
        ];
        // [STA-A.1.8-2]
        const OF_OBSERVATION: &[Navigation] = &[
            one("Datastream", Datastream, true),
            one("MultiDatastream", MultiDatastream, false),
            one("FeatureOfInterest", FeatureOfInterest, false),
        ];
        // [STA-A.1.9-2]
        const OBSERVATIONS: &[Navigation] = &[many("Observations", Observation)];
        match self {
            Thing => OF_THING,
            Location => OF_LOCATION,
            HistoricalLocation => OF_HISTORICAL,
            Datastream => OF_DATASTREAM,
            Sensor | ObservedProperty => DATASTREAMS,
            Observation => OF_OBSERVATION,
            FeatureOfInterest => OBSERVATIONS,
            MultiDatastream => OF_MULTI,
            Actuator => CAPABILITIES,
            TaskingCapability => OF_CAPABILITY,
            Task => CAPABILITY,
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
            Datastream | MultiDatastream => matches!(to, Thing | Sensor | ObservedProperty),
            TaskingCapability => matches!(to, Thing | Actuator),
            Task => to == TaskingCapability,
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
