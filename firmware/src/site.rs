//! What the device serves.

use weir_comet::{Kind, Resource};

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

/// All resources; topics stand in the places of their numbers.
pub static RESOURCES: [Resource; 4] = [
    SENSOR,
    Resource {
        path: "/live/system",
        media_type: "text/csv",
        kind: Kind::Topic,
    },
    Resource {
        path: "/",
        media_type: "text/html; charset=utf-8",
        kind: Kind::Page(include_bytes!("../pages/index.html")),
    },
    Resource {
        path: "/system",
        media_type: "text/html; charset=utf-8",
        kind: Kind::Page(include_bytes!("../pages/system.html")),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use weir_comet::Site;

    #[test]
    fn it_is_a_site() {
        assert!(Site::new(&RESOURCES).is_ok());
        for topic in [TEMPERATURE, SYSTEM] {
            assert!(matches!(RESOURCES[usize::from(topic)].kind, Kind::Topic));
        }
    }
}
