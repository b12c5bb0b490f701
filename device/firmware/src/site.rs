//! What the device serves.

use weir_comet::{Kind, Resource, Site};

/// Number of the sensor's topic, or the clock's.
pub const TEMPERATURE: u8 = 0;
/// Number of the counters' topic.
pub const SYSTEM: u8 = 1;

#[cfg(not(feature = "clock"))]
const SENSOR: Resource = Resource {
    path: "/live/temperature",
    media_type: "application/senml+json",
    kind: Kind::Topic,
};
#[cfg(feature = "clock")]
const SENSOR: Resource = Resource {
    path: "/live/time",
    media_type: "text/plain",
    kind: Kind::Topic,
};

/// The page, compressed when it is compiled.
#[cfg(not(feature = "smallest"))]
const PAGE: Kind = Kind::Deflated(include_bytes!(concat!(env!("OUT_DIR"), "/index.deflate")));

/// All resources; topics stand in the places of their numbers.
#[cfg(not(feature = "smallest"))]
pub static RESOURCES: [Resource; 3] = [
    SENSOR,
    Resource {
        path: "/live/system",
        media_type: "text/csv",
        kind: Kind::Topic,
    },
    Resource {
        path: "/",
        media_type: "text/html",
        kind: PAGE,
    },
];
/// The sensor alone.
#[cfg(feature = "smallest")]
pub static RESOURCES: [Resource; 1] = [SENSOR];

/// What the device serves.
pub static SITE: Site = match Site::new(&RESOURCES) {
    Ok(site) => site,
    Err(_) => panic!("a resource is too long"),
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_stand_in_the_places_of_their_numbers() {
        let topics = if crate::SMALLEST { 1 } else { 2 };
        for topic in [TEMPERATURE, SYSTEM].into_iter().take(topics) {
            assert!(matches!(RESOURCES[usize::from(topic)].kind, Kind::Topic));
        }
    }
}
