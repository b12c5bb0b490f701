//! CAPS: what an SOS 1.0 says of itself, with its offerings.
//!
//! Size and density of a file are met line by line: an offering gets lines that are mostly data
//! (references to procedures, properties and features) and lines that are mostly structure (response
//! modes, positions), as many of each as bring the file nearest to its density. What is left of that
//! structure in JSON depends on how much stands in attributes, whose names are said each time, how much
//! in elements alike, which become a list, and how large offerings are; such a [`Style`] is chosen
//! that the JSON comes nearest to its size.

use super::draft::{Draft, Shape, words};
use crate::encoding::codings::json_of;
use weir_bench_model::random::Random;

const NAMESPACES: &[(&str, &str)] = &[
    ("xmlns:sos", "http://www.opengis.net/sos/1.0"),
    ("xmlns:ows", "http://www.opengis.net/ows/1.1"),
    ("xmlns:gml", "http://www.opengis.net/gml"),
    ("xmlns:om", "http://www.opengis.net/om/1.0"),
    ("xmlns:xlink", "http://www.w3.org/1999/xlink"),
    ("xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance"),
    (
        "xsi:schemaLocation",
        "http://www.opengis.net/sos/1.0 http://schemas.opengis.net/sos/1.0.0/sosAll.xsd",
    ),
    ("version", "1.0.0"),
];

const PROPERTIES: [&str; 12] = [
    "air_temperature",
    "air_pressure",
    "relative_humidity",
    "wind_speed",
    "wind_from_direction",
    "precipitation_amount",
    "sea_water_temperature",
    "sea_water_salinity",
    "sea_surface_wave_significant_height",
    "eastward_sea_water_velocity",
    "northward_sea_water_velocity",
    "concentration_of_chlorophyll_in_sea_water",
];

const MODES: [&str; 4] = ["inline", "attached", "out-of-band", "resultTemplate"];

/// Most lines of one offering beside its frame.
const LINES_MAX: usize = 48;
/// About what a line takes, bytes: to know when room is short.
const LINE_BYTES: usize = 110;
/// About what an offering takes without its lines, bytes.
const FRAME_BYTES: usize = 700;
/// About what an operation takes, bytes.
const OPERATION_BYTES: usize = 500;

/// After so many lines of an offering, sensors and features have other names.
const NEW_LINES: usize = 24;
/// How often the range of styles is halved: to a hundredth of what they can do.
const HALVINGS: usize = 8;
/// How many times as long offerings may become.
const LONGER: f64 = 4.0;

/// A capabilities document of a shape, whose JSON is as near to so many bytes as can be.
pub(super) fn document(shape: &Shape, json_bytes: usize, random: &Random) -> String {
    let (mut low, mut high) = (-1.0, 1.0);
    let mut nearest = (usize::MAX, String::new());
    for _ in 0..HALVINGS {
        let share = (low + high) / 2.0;
        let xml = styled(shape, Style::new(share), &mut random.clone());
        let bytes = json_of(&xml).map_or(0, |json| json.len());
        if bytes < json_bytes {
            low = share;
        } else {
            high = share;
        }
        if bytes.abs_diff(json_bytes) < nearest.0 {
            nearest = (bytes.abs_diff(json_bytes), xml);
        }
    }
    nearest.1
}

/// A capabilities document of a shape.
fn styled(shape: &Shape, mut style: Style, random: &mut Random) -> String {
    let mut draft = Draft::new();
    draft.start("sos:Capabilities", NAMESPACES);
    identification(&mut draft, random);
    operations(&mut draft, shape);
    draft.start("sos:Contents", &[]);
    draft.start("sos:ObservationOfferingList", &[]);
    let mut station = 0;
    while draft.room(shape) > FRAME_BYTES + 2 * LINE_BYTES && draft.affords(FRAME_BYTES, shape) {
        offering(&mut draft, shape, station, &mut style, random);
        station += 1;
    }
    draft.fill("gml:description", shape, random, |draft| style.lean(draft));
    draft.finish()
}

fn identification(draft: &mut Draft, random: &mut Random) {
    draft.start("ows:ServiceIdentification", &[]);
    draft.leaf("ows:Title", &[], "Coastal Observations");
    draft.leaf("ows:Abstract", &[], &words(60, random));
    draft.leaf(
        "ows:ServiceType",
        &[("codeSpace", "http://opengeospatial.net")],
        "OGC:SOS",
    );
    draft.leaf("ows:ServiceTypeVersion", &[], "1.0.0");
    draft.end();
    draft.start("ows:ServiceProvider", &[]);
    draft.leaf("ows:ProviderName", &[], "Institute of Coasts");
    draft.empty(
        "ows:ProviderSite",
        &[("xlink:href", "http://coast.example")],
    );
    draft.start("ows:ServiceContact", &[]);
    draft.leaf("ows:IndividualName", &[], "M. Sailor");
    draft.end();
    draft.end();
}

/// As many operations as a file of this size has room for.
fn operations(draft: &mut Draft, shape: &Shape) {
    draft.start("ows:OperationsMetadata", &[]);
    for operation in [
        "GetCapabilities",
        "DescribeSensor",
        "GetObservation",
        "InsertObservation",
    ] {
        if draft.room(shape) < shape.bytes / 2 || !draft.affords(2 * OPERATION_BYTES, shape) {
            break;
        }
        draft.start("ows:Operation", &[("name", operation)]);
        draft.start("ows:DCP", &[]);
        draft.start("ows:HTTP", &[]);
        draft.empty("ows:Get", &[("xlink:href", "http://coast.example/sos?")]);
        draft.empty("ows:Post", &[("xlink:href", "http://coast.example/sos")]);
        draft.end();
        draft.end();
        draft.start("ows:Parameter", &[("name", "service")]);
        draft.start("ows:AllowedValues", &[]);
        draft.leaf("ows:Value", &[], "SOS");
        draft.end();
        draft.end();
        draft.end();
    }
    draft.end();
}

fn offering(
    draft: &mut Draft,
    shape: &Shape,
    station: usize,
    style: &mut Style,
    random: &mut Random,
) {
    let id = format!("station_{station}");
    draft.start("sos:ObservationOffering", &[("gml:id", &id)]);
    draft.leaf("gml:name", &[], &format!("urn:ogc:def:offering:{id}"));
    draft.start("gml:boundedBy", &[]);
    draft.start("gml:Envelope", &[("srsName", "urn:ogc:def:crs:EPSG::4326")]);
    let (north, east) = (38.0 + 8.0 * random.unit(), 4.0 * random.unit());
    draft.leaf("gml:lowerCorner", &[], &format!("{north:.4} {east:.4}"));
    draft.leaf("gml:upperCorner", &[], &format!("{north:.4} {east:.4}"));
    draft.end();
    draft.end();
    draft.start("sos:time", &[]);
    draft.start("gml:TimePeriod", &[]);
    draft.leaf("gml:beginPosition", &[], "2009-01-01T00:00:00Z");
    draft.empty("gml:endPosition", &[("indeterminatePosition", "now")]);
    draft.end();
    draft.end();
    let room = draft.room(shape).saturating_sub(FRAME_BYTES) / LINE_BYTES;
    let lines = 8 + random.below(style.lines_max - 8);
    let (dense, lean) = mix(draft, shape, room.min(lines));
    references(draft, dense, station, style, random);
    (0..lean).for_each(|_| style.lean(draft));
    draft.end();
}

/// How many of so many lines are to be dense, and how many lean.
fn mix(draft: &Draft, shape: &Shape, lines: usize) -> (usize, usize) {
    // What the two kinds of lines weigh, on the average: data and structure.
    const DENSE: (f64, f64) = (84.0, 48.0);
    const LEAN: (f64, f64) = (5.0, 45.0);
    let ratio = shape.density_percent / (100.0 - shape.density_percent);
    let (mut data, mut structure) = (draft.data() as f64, draft.structure() as f64);
    let mut dense = 0;
    for _ in 0..lines {
        let wants_data = data < structure * ratio;
        let (more_data, more_structure) = if wants_data { DENSE } else { LEAN };
        dense += usize::from(wants_data);
        data += more_data;
        structure += more_structure;
    }
    (dense, lines - dense)
}

/// Lines that are mostly data; about one in six says what no line before has said.
fn references(
    draft: &mut Draft,
    lines: usize,
    station: usize,
    style: &mut Style,
    random: &mut Random,
) {
    let network = "urn:ogc:object:feature:Sensor:coastal-observatory:network-of-the-western-coast";
    let features = "http://coast.example/id/features/of/interest/western-coast/sampling-points";
    let properties = "http://mmisw.org/ont/cf/parameter/standard-names-of-properties-observed";
    let near = |random: &mut Random| station.saturating_sub(random.below(12));
    for line in 0..lines {
        let (name, href) = match line % 3 {
            0 => {
                let sensor = near(random);
                let part = line / NEW_LINES;
                ("sos:procedure", format!("{network}:{sensor}.{part}"))
            }
            1 => {
                let property = random.one_of(&PROPERTIES);
                ("sos:observedProperty", format!("{properties}/{property}"))
            }
            _ => {
                let feature = near(random);
                (
                    "sos:featureOfInterest",
                    format!("{features}/{feature}/{}", line / NEW_LINES),
                )
            }
        };
        match style.texts.next() {
            true => draft.leaf("gml:name", &[], &href),
            false => draft.empty(name, &[("xlink:href", &href)]),
        }
    }
}

/// What decides how much of a document's structure is left in JSON.
struct Style {
    /// References that are elements with a text.
    texts: Share,
    /// Lines that are mostly structure and have an attribute.
    attributes: Share,
    /// Most lines of an offering.
    lines_max: usize,
    others: usize,
}

impl Style {
    /// From -1, the least JSON, to 1, the most.
    fn new(share: f64) -> Self {
        let texts = (-share).max(0.0);
        Self {
            texts: Share::of(texts),
            attributes: Share::of(share.max(0.0)),
            lines_max: (LINES_MAX as f64 * (1.0 + texts * (LONGER - 1.0))) as usize,
            others: 0,
        }
    }

    /// A line that is mostly structure.
    fn lean(&mut self, draft: &mut Draft) {
        if self.attributes.next() {
            return draft.empty("gml:endPosition", &[("indeterminatePosition", "now")]);
        }
        match self.others % 2 {
            0 => draft.empty("gml:metaDataProperty", &[]),
            _ => draft.leaf("sos:responseMode", &[], MODES[self.others % MODES.len()]),
        }
        self.others += 1;
    }
}

/// Some of many, spread evenly.
struct Share {
    share: f64,
    owed: f64,
}

impl Share {
    fn of(share: f64) -> Self {
        Self { share, owed: 0.0 }
    }

    /// Says whether the next is one of them.
    fn next(&mut self) -> bool {
        self.owed += self.share;
        let now = self.owed >= 1.0;
        self.owed -= f64::from(u8::from(now));
        now
    }
}
