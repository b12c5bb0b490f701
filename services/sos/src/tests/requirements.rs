//! What 12-006 and 06-009r6 ask beyond what other tests show.

use super::house::{exception, measured, text, texts, xml};
use crate::names::{OM20, SML20, SML101, WGS84};

const CAPABILITIES: &str = "request=GetCapabilities&AcceptVersions=2.0.0";

fn xml_attributes(root: &weir_codec::document::Element, local: &str, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    if root.local == local {
        found.extend(root.attribute(name).map(str::to_owned));
    }
    root.elements()
        .for_each(|child| found.extend(xml_attributes(child, local, name)));
    found
}

/// [SOS2-8.1-6] [SOS2-8.1-7] [SOS2-8.1-8] [SOS2-8.1-9] [SOS2-8.1-10] [SOS2-8.0-5] [SOS2-10.1-2]
#[test]
fn capabilities_tell_operations_formats_places_and_times() {
    let root = measured().document(CAPABILITIES);
    let operations = xml_attributes(&root, "Operation", "name");
    for name in [
        "GetCapabilities",
        "DescribeSensor",
        "GetObservation",
        "InsertResult",
    ] {
        assert!(operations.iter().any(|own| own == name), "{name}");
    }
    let changes = |name: &&String| {
        ["Insert", "Delete", "Update"]
            .iter()
            .any(|own| name.starts_with(own))
    };
    let reads = operations.len() - operations.iter().filter(changes).count();
    for (method, expected) in [("Get", reads), ("Post", operations.len())] {
        let links = xml_attributes(&root, method, "href");
        assert_eq!(links.len(), expected, "{method}");
    }
    let profiles = texts(&root, "Profile");
    for class in ["core", "kvp-core", "soap", "insertionCap", "xml"] {
        let class = format!("http://www.opengis.net/spec/SOS/2.0/conf/{class}");
        assert!(profiles.contains(&class), "{class}");
    }
    assert!(texts(&root, "responseFormat").contains(&OM20.into()));
    assert_eq!(
        texts(&root, "procedureDescriptionFormat")[..2],
        [SML20, SML101]
    );
    let areas = xml_attributes(&root, "Envelope", "srsName");
    assert_eq!(areas, [WGS84], "of the one that has a place");
    assert_eq!(texts(&root, "endPosition"), ["2026-01-01T00:02:00Z"; 2]);
}

/// [SOS2-8.2-3] [SOS2-8.3-8] [SOS2-8.3-9] [SOS2-9.1-2] [SOS2-9.2-2]
/// [SOS2-10.3-2] [SOS2-11.2-4] [SOS2-12.0-3]
#[test]
fn what_is_not_there_is_an_exception_with_the_parameter() {
    let house = measured();
    let described = "procedureDescriptionFormat=http://www.opengis.net/sensorml/2.0";
    for (query, code, locator) in [
        ("DescribeSensor", "Missing", "procedure"),
        (
            &*format!("DescribeSensor&procedure=no&{described}"),
            "Invalid",
            "procedure",
        ),
        (
            "DescribeSensor&procedure=urn:s:north",
            "Missing",
            "procedureDescriptionFormat",
        ),
        (
            "GetFeatureOfInterest&featureOfInterest=no",
            "Invalid",
            "featureOfInterest",
        ),
        ("GetFeatureOfInterest&procedure=no", "Invalid", "procedure"),
        (
            "GetFeatureOfInterest&observedProperty=no",
            "Invalid",
            "observedProperty",
        ),
        (
            "GetObservation&observedProperty=no",
            "Invalid",
            "observedProperty",
        ),
        (
            "GetObservation&temporalFilter=om:other,2026-01-01",
            "Invalid",
            "temporalFilter",
        ),
        (
            "GetObservation&spatialFilter=om:featureOfInterest/*/sams:shape,1,1,2,2,\
             urn:ogc:def:crs:EPSG::9999",
            "Invalid",
            "spatialFilter",
        ),
        (
            "GetObservationById&observation=no",
            "Invalid",
            "observation",
        ),
        ("GetObservationById", "Missing", "observation"),
        (
            "GetResult&offering=no&observedProperty=no",
            "Invalid",
            "offering",
        ),
        (
            "GetResultTemplate&offering=urn:s:north/observations",
            "Missing",
            "observedProperty",
        ),
        ("GetDataAvailability&procedure=no", "Invalid", "procedure"),
    ] {
        let refused = house.refused(&format!("version=2.0.0&request={query}"));
        let expected = (format!("{code}ParameterValue"), locator.to_owned());
        assert_eq!(refused, expected, "{query}");
    }
    let form = house.form("version=2.0.0&request=DeleteSensor&procedure=no");
    let expected = ("InvalidParameterValue".into(), "procedure".into());
    assert_eq!(exception(&form), expected);
}

#[test]
fn a_response_mode_of_version_1_is_none_of_2_0() {
    let asked =
        "version=2.0.0&request=GetObservation&responseMode=resultTemplate&procedure=urn:s:north";
    let root = measured().document(asked);
    assert!(root.is(crate::names::SOS20, "GetObservationResponse"));
    assert_eq!(texts(&root, "result"), ["0.5", "1.5", "2.5"]);
}

/// What a page of any origin could have a browser send changes nothing.
#[test]
fn what_changes_something_is_refused_by_a_get() {
    let house = measured();
    for (version, name) in [
        ("2.0.0", "InsertSensor"),
        ("2.0.0", "DeleteSensor"),
        ("2.0.0", "UpdateSensorDescription"),
        ("2.0.0", "InsertObservation"),
        ("2.0.0", "InsertResultTemplate"),
        ("2.0.0", "InsertResult"),
        ("1.0.0", "RegisterSensor"),
        ("1.0.0", "InsertObservation"),
    ] {
        let query = format!("version={version}&request={name}&procedure=urn:s:north");
        let refused = house.get(&query);
        assert_eq!(refused.status, 405, "{query}");
        let allowed = refused.headers.iter().find(|(name, _)| *name == "allow");
        assert_eq!(allowed.map(|(_, value)| value.as_str()), Some("POST"));
        let expected = ("OperationNotSupported".into(), name.into());
        assert_eq!(exception(&refused), expected);
        assert!(text(&refused).contains("POST"), "{}", text(&refused));
    }
    let known = "version=2.0.0&request=GetObservation&procedure=urn:s:north";
    assert_eq!(house.document(known).elements().count(), 3);
    let form = house.form("version=2.0.0&request=DeleteSensor&procedure=urn:s:north");
    assert_eq!(texts(&xml(&form), "deletedProcedure"), ["urn:s:north"]);
}

/// [SOS1-8.3-2] [SOS1-8.4-4] [SOS1-10.1-2] [SOS1-10.2-2] [SOS1-10.3-2] [SOS1-8.1-1]
#[test]
fn version_1_refuses_what_it_does_not_know_by_name() {
    let house = measured();
    let one = "offering=urn:s:north/observations&observedProperty=temperature";
    let om = "responseFormat=text/xml;subtype=\"om/1.0.0\"";
    for (query, code, locator) in [
        (
            "DescribeSensor&procedure=urn:s:north&outputFormat=no",
            "Invalid",
            "outputFormat",
        ),
        ("GetObservation", "Missing", "offering"),
        (
            &*format!("GetObservation&{one}&responseFormat=no"),
            "Invalid",
            "responseFormat",
        ),
        (
            &*format!("GetObservation&{one}&{om}&responseMode=attached"),
            "Invalid",
            "responseMode",
        ),
        (
            &*format!("GetObservation&{one}&{om}&resultModel=no"),
            "Invalid",
            "resultModel",
        ),
        (
            &*format!("GetObservationById&ObservationId=no&{om}"),
            "Invalid",
            "ObservationId",
        ),
        ("GetFeatureOfInterest", "Missing", "FeatureOfInterestId"),
        (
            "GetFeatureOfInterest&FeatureOfInterestId=no",
            "Invalid",
            "FeatureOfInterestId",
        ),
        (
            "GetResult&ObservationTemplateId=no",
            "Invalid",
            "ObservationTemplateId",
        ),
    ] {
        let refused = house.refused(&format!("version=1.0.0&request={query}"));
        let expected = (format!("{code}ParameterValue"), locator.to_owned());
        assert_eq!(refused, expected, "{query}");
    }
    let (code, locator) = house.refused("version=1.0.0&request=InsertSensor");
    assert_eq!(
        (&*code, &*locator),
        ("OperationNotSupported", "InsertSensor")
    );
}

#[test]
fn it_is_told_of_what_there_are_observations_and_when() {
    let house = measured();
    let asked = "version=2.0.0&request=GetDataAvailability";
    let root = house.document(asked);
    assert_eq!(root.elements().count(), 2);
    let root = house.document(&format!("{asked}&procedure=urn:s:north"));
    assert_eq!(
        xml_attributes(&root, "observedProperty", "href"),
        ["temperature"]
    );
    assert_eq!(texts(&root, "beginPosition"), ["2026-01-01T00:00:00Z"]);
    assert_eq!(texts(&root, "endPosition"), ["2026-01-01T00:02:00Z"]);
    let none = house.document(&format!("{asked}&featureOfInterest=no"));
    assert_eq!(none.elements().count(), 0);
}
