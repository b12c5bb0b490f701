//! GetCapabilities and GetObservation by KVP.

use super::house::{exception, house, measured, now, text, texts, xml};
use weir_hub::{Media, Publish};

const CAPABILITIES: &str = "request=GetCapabilities&AcceptVersions=";
const OBSERVATION: &str = "request=GetObservation&version=2.0.0";

/// [SOS2-8.1-4]
#[test]
fn what_publishes_without_configuration_is_offered() {
    let root = measured().document(&format!("{CAPABILITIES}2.0.0"));
    let offerings = texts(&root, "identifier");
    let expected = [
        "urn:s:north/observations",
        "urn:weir:procedure:kitchen/observations",
    ];
    assert_eq!(offerings, expected);
    assert_eq!(texts(&root, "lowerCorner"), ["50.5 7.5"]);
    let begins = texts(&root, "beginPosition");
    assert_eq!(begins, ["2026-01-01T00:00:00Z"; 2]);
    assert!(texts(&root, "observableProperty").contains(&"humidity".into()));
}

/// [SOS2-8.1-1] [SOS2-8.1-2]
#[test]
fn sections_and_the_update_sequence_shorten_the_capabilities() {
    let house = measured();
    let root = house.document(&format!("{CAPABILITIES}2.0.0&sections=Contents"));
    assert!(root.child("contents").is_some() && root.elements().count() == 1);
    let sequence = root.attribute("updateSequence").unwrap().to_owned();
    let again = format!("{CAPABILITIES}2.0.0&updateSequence={sequence}");
    assert_eq!(house.document(&again).elements().count(), 0);
    let house = house.reopened();
    assert_eq!(house.document(&again).elements().count(), 0);
    house.publish("", r#"{"observations":[{"topic":"new/t","value":1}]}"#);
    assert!(house.document(&again).elements().count() > 0);
    let none = format!("{CAPABILITIES}2.0.0&sections=Everything");
    assert_eq!(
        house.refused(&none),
        ("InvalidParameterValue".into(), "Sections".into())
    );
}

/// [SOS2-8.1-3]
#[test]
fn versions_are_negotiated_in_the_clients_order() {
    let house = house();
    let version = |list: &str| {
        let root = house.document(&format!("{CAPABILITIES}{list}"));
        root.attribute("version").unwrap().to_owned()
    };
    assert_eq!(version("9.0.0,1.0.0,2.0.0"), "1.0.0");
    assert_eq!(version("2.0.0,1.0.0"), "2.0.0");
    let refused = xml(&house.get(&format!("{CAPABILITIES}3.0.0")));
    let exception = refused.find("Exception").unwrap();
    assert_eq!(
        exception.attribute("exceptionCode"),
        Some("VersionNegotiationFailed")
    );
    assert_eq!(exception.attribute("locator"), None);
}

/// [SOS2-8.3-2] [SOS2-13.2-1]
#[test]
fn observations_of_a_period_come_with_all_that_names_them() {
    let filter = "temporalFilter=om:phenomenonTime,2026-01-01T00:01:00Z/2026-01-01T00:02:00Z";
    let root = measured().document(&format!("{OBSERVATION}&procedure=urn:s:north&{filter}"));
    assert_eq!(texts(&root, "result"), ["1.5", "2.5"]);
    let observation = root.find("OM_Observation").unwrap();
    let href = |name: &str| {
        observation
            .child(name)
            .unwrap()
            .attribute("href")
            .unwrap()
            .to_owned()
    };
    assert_eq!(href("procedure"), "urn:s:north");
    assert_eq!(href("observedProperty"), "temperature");
    assert_eq!(href("featureOfInterest"), "urn:weir:feature:north/t");
    assert_eq!(
        observation.child("result").unwrap().attribute("uom"),
        Some("Cel")
    );
    let id = observation.child("identifier").unwrap().text();
    assert_eq!(id, "urn:weir:observation:north%2Ft:2026-01-01T00:01:00Z");
}

/// [SOS2-9.2-1]
#[test]
fn observations_of_one_time_are_told_apart_by_their_names() {
    let house = measured();
    for value in [7, 8] {
        let body = format!(
            r#"{{"observations":[{{"topic":"north/t","value":{value},"time":"2026-01-01T00:02:00Z"}}]}}"#
        );
        house.publish("#", &body);
    }
    let called = |query: &str| {
        let root = house.document(&format!("{OBSERVATION}&procedure=urn:s:north&{query}"));
        texts(&root, "result")
            .into_iter()
            .zip(texts(&root, "identifier"))
            .collect::<Vec<_>>()
    };
    let all = called("");
    let id = "urn:weir:observation:north%2Ft:2026-01-01T00:02:00Z";
    let of_one_time = [
        ("2.5", id.to_owned()),
        ("7", format!("{id};1")),
        ("8", format!("{id};2")),
    ];
    let of_one_time = of_one_time.map(|(result, id)| (result.to_owned(), id));
    assert_eq!(all[2..], of_one_time);
    assert_eq!(
        called("temporalFilter=om:phenomenonTime,latest"),
        of_one_time[2..]
    );
    let bounds =
        "temporalFilter=om:phenomenonTime,latest&featureOfInterest=urn:weir:feature:north/t";
    assert_eq!(called(bounds), of_one_time[2..]);
    for (result, id) in &all {
        let by_id = format!("request=GetObservationById&version=2.0.0&observation={id}");
        assert_eq!(
            texts(&house.document(&by_id), "result"),
            [result.as_str()],
            "{id}"
        );
    }
    let none = format!("request=GetObservationById&version=2.0.0&observation={id};3");
    assert!(texts(&house.document(&none), "result").is_empty());
}

/// [SOS2-8.3-1] [SOS2-8.3-4] [SOS2-12.0-1]
#[test]
fn offering_property_place_and_the_latest_pick_observations() {
    let house = measured();
    let results = |query: &str| texts(&house.document(&format!("{OBSERVATION}&{query}")), "result");
    assert_eq!(
        results("offering=urn:weir:procedure:kitchen/observations"),
        ["40", "41", "42"]
    );
    assert_eq!(results("observedProperty=temperature").len(), 3);
    assert_eq!(results("observedProperty=humidity,temperature").len(), 6);
    assert_eq!(
        results("temporalFilter=om:phenomenonTime,latest"),
        ["42", "2.5"]
    );
    assert_eq!(results("temporalFilter=om:phenomenonTime,first").len(), 2);
    assert_eq!(
        results("temporalFilter=om:resultTime,2026-01-01T00:01:00Z").len(),
        2
    );
    let shape = "spatialFilter=om:featureOfInterest/*/sams:shape";
    assert_eq!(results(&format!("{shape},50,7,51,8")).len(), 3);
    assert_eq!(results(&format!("{shape},0,0,1,1")).len(), 0);
    assert_eq!(
        results("featureOfInterest=urn:weir:feature:kitchen").len(),
        3
    );
    // A list of identifiers that are numbers is no box.
    let numbers = "featureOfInterest=urn:weir:feature:kitchen,1,2,3,4";
    assert_eq!(results(numbers).len(), 3);
}

/// [SOS1-8.4-1]
#[test]
fn version_1_answers_blocks_of_values() {
    let house = measured();
    let query = "request=GetObservation&version=1.0.0&observedProperty=temperature\
        &offering=_urn_3as_3anorth_2fobservations&responseFormat=text/xml;subtype=\"om/1.0.0\"";
    let root = house.document(query);
    assert_eq!(root.local, "ObservationCollection");
    let values = texts(&root, "values");
    assert!(
        values[0].starts_with("2026-01-01T00:00:00Z,0.5;"),
        "{values:?}"
    );
    let (code, locator) = house.refused("request=GetObservation&version=1.0.0&offering=a");
    assert_eq!(
        (code.as_str(), locator.as_str()),
        ("MissingParameterValue", "observedProperty")
    );
}

#[test]
fn a_block_of_text_describes_itself() {
    let house = measured();
    let response = house.get(&format!(
        "{OBSERVATION}&responseFormat=text/plain;profile=swe"
    ));
    let format = weir_codec::by_name("swe-text").unwrap();
    let mut rows = weir_model::BatchBuilder::new();
    (format.decode)(&response.body, &mut rows, &weir_model::Limits::default()).unwrap();
    assert_eq!(rows.finish().len(), 6, "{}", text(&response));
}

/// [SOS2-8.0-1] [SOS2-8.0-2] [SOS2-8.0-4] [SOS2-8.2-2] [SOS2-8.3-7]
#[test]
fn what_is_wrong_with_a_request_is_said_by_code_and_locator() {
    let house = measured();
    for (query, code, locator) in [
        ("", "MissingParameterValue", "request"),
        ("request=GetObservation", "MissingParameterValue", "version"),
        (
            "request=GetObservation&version=2.1",
            "InvalidParameterValue",
            "version",
        ),
        ("request=Fly&version=2.0.0", "OperationNotSupported", "Fly"),
        (
            "request=GetObservation&version=2.0.0&offering=x",
            "InvalidParameterValue",
            "offering",
        ),
        (
            "request=GetObservation&version=2.0.0&procedure=x",
            "InvalidParameterValue",
            "procedure",
        ),
        (
            "request=GetObservation&version=2.0.0&temporalFilter=2026-02-01/2026-01-01",
            "InvalidParameterValue",
            "temporalFilter",
        ),
        (
            "request=GetObservation&version=2.0.0&responseFormat=text/csv",
            "InvalidParameterValue",
            "responseFormat",
        ),
    ] {
        assert_eq!(
            house.refused(query),
            (code.into(), locator.into()),
            "{query}"
        );
    }
    let unknown = house.get(&format!("{OBSERVATION}&colour=red"));
    assert_eq!(
        unknown.status, 200,
        "OWS Common passes over what it does not know"
    );
    let mut other = super::house::call("GET", "", Default::default());
    other.query = vec![
        ("service".into(), "WMS".into()),
        ("request".into(), "GetCapabilities".into()),
    ];
    let answer = house.call(other);
    assert_eq!(
        exception(&answer),
        ("InvalidParameterValue".into(), "service".into())
    );
    assert_eq!(xml(&answer).attribute("version"), Some("2.0.0"));
}

#[test]
fn what_had_but_bytes_is_offered_from_its_first_observation_on() {
    let house = house();
    let photo = Publish::new(
        "door/photo",
        Media::Opaque("image/png".into()),
        &b"\x89PNG"[..],
    );
    house.hub.internal().at(now()).publish(photo).unwrap();
    let offered = || {
        let root = house.document("request=GetCapabilities");
        root.find("ObservationOffering").is_some()
    };
    assert!(!offered());
    let body = r#"{"observations":[{"topic":"door/photo","value":1}]}"#;
    house.publish("#", body);
    assert!(offered());
}

#[test]
fn an_offering_is_found_by_both_of_its_names() {
    let house = measured();
    let asked = |offering: &str| {
        let document = house.document(&format!(
            "request=GetObservation&version=2.0.0&offering={offering}&temporalFilter=om:phenomenonTime,latest"
        ));
        texts(&document, "result")
    };
    let id = "urn:s:north/observations";
    let name = crate::identifiers::nc_name(id);
    assert_eq!(asked(id), ["2.5"]);
    assert_eq!(asked(&name), ["2.5"]);
    let more = r#"{"observations":[{"topic":"north/wind","sensor":"urn:s:north","type":"wind","value":8,
        "time":"2026-01-01T00:09:00Z"}]}"#;
    house.publish("#", more);
    let mut all = asked(&name);
    all.sort();
    assert_eq!(all, ["2.5", "8"]);
    // What only looks like such a name is none.
    for wrong in ["_urn_3as", "_urn_3As_3anorth_2fobservations", "urn:s:north"] {
        let query = format!("request=GetObservation&version=2.0.0&offering={wrong}");
        assert_eq!(house.refused(&query).1, "offering", "{wrong}");
    }
}

// [SOS2-11.2-5]
#[test]
fn results_of_several_units_are_not_put_into_one_record() {
    let house = house();
    let of = |topic: &str, unit: &str, value: u32| {
        format!(
            r#"{{"topic":"k/{topic}","sensor":"urn:s:k","type":"urn:p:warm","unit":"{unit}",
                "value":{value},"time":"2026-01-01T00:00:00Z"}}"#
        )
    };
    let both = [of("a", "Cel", 20), of("b", "[degF]", 68)].join(",");
    let body = &format!(r#"{{"observations":[{both}]}}"#);
    house.publish("k", body);
    let asked = "version=2.0.0&offering=urn:s:k/observations&observedProperty=urn:p:warm";
    for operation in ["GetResultTemplate", "GetResult"] {
        let (code, locator) = house.refused(&format!("request={operation}&{asked}"));
        assert_eq!(
            (&*code, &*locator),
            ("InvalidParameterValue", "observedProperty")
        );
    }
    let told = house.document(&format!("request=GetObservation&{asked}"));
    let mut told = texts(&told, "result");
    told.sort();
    assert_eq!(told, ["20", "68"]);
}

/// [SOS2-8.3-9] The last and the first of those that are wanted, not those of all that may be wanted.
#[test]
fn the_latest_and_the_first_are_those_that_other_filters_leave() {
    let house = measured();
    for (value, time) in [(8, "2025-01-01T00:00:00Z"), (9, "2026-01-01T20:00:00Z")] {
        let elsewhere = format!(
            r#"{{"observations":[{{"topic":"north/t","sensor":"urn:s:north","type":"temperature",
                "unit":"Cel","value":{value},"time":"{time}","lat":10,"lon":10}}]}}"#
        );
        house.publish("#", &elsewhere);
    }
    let results = |query: &str| {
        let query = format!("{OBSERVATION}&observedProperty=temperature&{query}");
        texts(&house.document(&query), "result")
    };
    let (latest, first) = ("temporalFilter=latest", "temporalFilter=first");
    let there = "spatialFilter=om:featureOfInterest/*/sams:shape,50,7,51,8";
    let nowhere = "spatialFilter=om:featureOfInterest/*/sams:shape,0,0,1,1";
    let period = "eventTime=2026-01-01T00:00:00Z/2026-01-01T00:01:00Z";
    assert_eq!(
        (results(latest), results(first)),
        (vec!["9".into()], vec!["8".into()])
    );
    assert_eq!(results(&format!("{latest}&{there}")), ["2.5"]);
    assert_eq!(results(&format!("{first}&{there}")), ["0.5"]);
    assert_eq!(
        results(&format!("{latest}&{nowhere}")),
        Vec::<String>::new()
    );
    assert_eq!(results(&format!("{first}&{nowhere}")), Vec::<String>::new());
    assert_eq!(results(&format!("{latest}&{period}")), ["1.5"]);
    assert_eq!(results(&format!("{first}&{period}")), ["0.5"]);
}
