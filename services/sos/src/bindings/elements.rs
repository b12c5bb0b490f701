//! THE list of what stands directly below each operation's element, by the schemas of OGC 12-006, 09-001 and 06-009r6.

use super::pox::is_observation;
use crate::exception::{Code, Exception};
use crate::names::{OM10, OWS11, SOS20, SWES20};
use crate::params::Version;
use weir_codec::document::Element;

const NEGOTIATED: &[&str] = &["AcceptVersions", "Sections", "AcceptFormats"];

/// Elements of the operation's own namespace.
const OWN: &[(&str, Version, &[&str])] = &[
    ("GetCapabilities", Version::V1, &[]),
    ("GetCapabilities", Version::V2, &[]),
    ("DescribeSensor", Version::V1, &["procedure"]),
    (
        "DescribeSensor",
        Version::V2,
        &["procedure", "procedureDescriptionFormat", "validTime"],
    ),
    ("DeleteSensor", Version::V2, &["procedure"]),
    (
        "GetObservation",
        Version::V1,
        &[
            "offering",
            "eventTime",
            "procedure",
            "observedProperty",
            "featureOfInterest",
            "result",
            "responseFormat",
            "resultModel",
            "responseMode",
        ],
    ),
    (
        "GetObservation",
        Version::V2,
        &[
            "procedure",
            "offering",
            "observedProperty",
            "temporalFilter",
            "featureOfInterest",
            "spatialFilter",
            "responseFormat",
        ],
    ),
    (
        "GetObservationById",
        Version::V1,
        &[
            "ObservationId",
            "responseFormat",
            "resultModel",
            "responseMode",
        ],
    ),
    ("GetObservationById", Version::V2, &["observation"]),
    (
        "GetFeatureOfInterest",
        Version::V1,
        &["FeatureOfInterestId", "location", "eventTime"],
    ),
    (
        "GetFeatureOfInterest",
        Version::V2,
        &[
            "procedure",
            "observedProperty",
            "featureOfInterest",
            "spatialFilter",
        ],
    ),
    (
        "GetDataAvailability",
        Version::V2,
        &[
            "procedure",
            "observedProperty",
            "featureOfInterest",
            "offering",
            "responseFormat",
        ],
    ),
    (
        "GetResultTemplate",
        Version::V2,
        &["offering", "observedProperty"],
    ),
    (
        "GetResult",
        Version::V1,
        &["ObservationTemplateId", "eventTime"],
    ),
    (
        "GetResult",
        Version::V2,
        &[
            "offering",
            "observedProperty",
            "temporalFilter",
            "featureOfInterest",
            "spatialFilter",
        ],
    ),
    (
        "InsertSensor",
        Version::V2,
        &[
            "procedureDescriptionFormat",
            "procedureDescription",
            "observableProperty",
            "relatedFeature",
            "metadata",
        ],
    ),
    (
        "UpdateSensorDescription",
        Version::V2,
        &["procedure", "procedureDescriptionFormat", "description"],
    ),
    ("InsertObservation", Version::V1, &["AssignedSensorId"]),
    (
        "InsertObservation",
        Version::V2,
        &["offering", "observation"],
    ),
    ("InsertResultTemplate", Version::V2, &["proposedTemplate"]),
    ("InsertResult", Version::V2, &["template", "resultValues"]),
    (
        "RegisterSensor",
        Version::V1,
        &["SensorDescription", "ObservationTemplate"],
    ),
    (
        "GetFeatureOfInterestTime",
        Version::V1,
        &["FeatureOfInterestId"],
    ),
    ("DescribeFeatureType", Version::V1, &["FeatureId"]),
    (
        "DescribeObservationType",
        Version::V1,
        &["observedProperty"],
    ),
    ("DescribeResultModel", Version::V1, &["ResultName"]),
];

/// An operation that the version lacks has none.
fn own(operation: &str, version: Version) -> Option<&'static [&'static str]> {
    let found = OWN
        .iter()
        .find(|(name, of, _)| (*name, *of) == (operation, version));
    found.map(|(_, _, elements)| *elements)
}

/// Refuses what does not stand below an operation's element, by its name or by its namespace.
// [SOS2-8.0-3]
pub(super) fn check(root: &Element, version: Version) -> Result<(), Exception> {
    // That there is no such operation is another exception.
    let Some(own) = own(&root.local, version) else {
        return Ok(());
    };
    match root
        .elements()
        .find(|child| !is_expected(root, version, own, child))
    {
        Some(child) => {
            let (local, uri) = (&child.local, &child.uri);
            let sentence = format!(
                "the element {local} of `{uri}` is not expected in {}",
                root.local
            );
            Err(Exception::new(Code::InvalidRequest, local, sentence))
        }
        None => Ok(()),
    }
}

fn is_expected(root: &Element, version: Version, own: &[&str], child: &Element) -> bool {
    let (local, uri) = (child.local.as_str(), child.uri.as_str());
    match (root.local.as_str(), version, local) {
        ("GetCapabilities", _, name) if NEGOTIATED.contains(&name) => uri == OWS11,
        ("GetCapabilities", Version::V2, "extension") => [SOS20, SWES20].contains(&uri),
        (_, Version::V2, "extension") => uri == SWES20,
        ("InsertObservation", Version::V1, name) if is_observation(name) => uri == OM10,
        _ => uri == root.uri && own.contains(&local),
    }
}
