//! Filters of time, place and result, in every binding that has them.

use super::house::{House, exception, measured, text, texts, xml};
use crate::limits::SPATIAL_FILTERS_MAX;
use serde_json::json;

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
  xmlns:fes="http://www.opengis.net/fes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2""#;

fn observed(house: &House, filter: &str) -> Vec<String> {
    let body = format!(
        "<sos:GetObservation {NAMES}><sos:procedure>urn:s:north</sos:procedure>{filter}</sos:GetObservation>"
    );
    let answer = house.post("application/xml", body);
    texts(&xml(&answer), "result")
}

fn temporal(operator: &str, times: &[&str]) -> String {
    let operand = match times {
        [at] => format!(
            "<gml:TimeInstant gml:id=\"t\"><gml:timePosition>{at}</gml:timePosition></gml:TimeInstant>"
        ),
        _ => format!(
            "<gml:TimePeriod gml:id=\"t\"><gml:beginPosition>{}</gml:beginPosition>\
             <gml:endPosition>{}</gml:endPosition></gml:TimePeriod>",
            times[0], times[1]
        ),
    };
    format!(
        "<sos:temporalFilter><fes:{operator}><fes:ValueReference>om:phenomenonTime</fes:ValueReference>\
         {operand}</fes:{operator}></sos:temporalFilter>"
    )
}

const FIRST: &str = "2026-01-01T00:00:00Z";
const SECOND: &str = "2026-01-01T00:01:00Z";
const THIRD: &str = "2026-01-01T00:02:00Z";

/// [SOS2-8.3-3]
#[test]
fn every_temporal_operator_picks_what_its_name_says() {
    let mut house = measured();
    house.publish(
        "#",
        r#"{"observations":[{"topic":"north/t","sensor":"urn:s:north","type":"temperature","unit":"Cel",
            "value":9,"time":"2026-01-01T00:00:30Z","end":"2026-01-01T00:02:00Z"}]}"#,
    );
    for _ in 0..2 {
        for (operator, times, expected) in [
            ("After", &[SECOND][..], &["2.5"][..]),
            ("Before", &[SECOND], &["0.5"]),
            ("During", &[FIRST, SECOND], &["0.5", "1.5"]),
            ("TEquals", &[SECOND], &["1.5"]),
            ("Begins", &[SECOND, THIRD], &["1.5"]),
            ("Ends", &[FIRST, THIRD], &["9", "2.5"]),
            ("TContains", &[SECOND], &["9"]),
            ("EndedBy", &[SECOND, THIRD], &["9"]),
            ("MetBy", &[FIRST, THIRD], &["2.5"]),
            ("Meets", &[THIRD], &["9", "2.5"]),
            ("BegunBy", &["2026-01-01T00:00:30Z", SECOND], &["9"]),
            ("TOverlaps", &[SECOND, "2026-01-01T00:03:00Z"], &["9"]),
            ("OverlappedBy", &[FIRST, SECOND], &["9"]),
            ("AnyInteracts", &[SECOND, SECOND], &["9", "1.5"]),
        ] {
            let found = observed(&house, &temporal(operator, times));
            assert_eq!(found, expected, "{operator} {times:?}");
        }
        house = house.reopened();
    }
}

fn spatial(operator: &str, geometry: &str) -> String {
    format!(
        "<sos:spatialFilter><fes:{operator}>\
         <fes:ValueReference>om:featureOfInterest/*/sams:shape</fes:ValueReference>{geometry}\
         </fes:{operator}></sos:spatialFilter>"
    )
}

/// [SOS2-9.1-1] [SOS2-12.0-2]
#[test]
fn spatial_operators_pick_by_place() {
    let house = measured();
    let around = "<gml:Polygon gml:id=\"p\"><gml:exterior><gml:LinearRing><gml:posList>\
        50 7 51 7 51 8 50 8 50 7</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>";
    let at = "<gml:Point gml:id=\"p\"><gml:pos>50.5 7.6</gml:pos></gml:Point>";
    for (operator, geometry, count) in [
        ("Within", around, 3),
        ("Intersects", around, 3),
        ("Disjoint", around, 0),
        ("Equals", at, 0),
        (
            "DWithin",
            &format!("{at}<fes:Distance uom=\"m\">8000</fes:Distance>"),
            3,
        ),
        (
            "Beyond",
            &format!("{at}<fes:Distance uom=\"m\">8000</fes:Distance>"),
            0,
        ),
    ] {
        let found = observed(&house, &spatial(operator, geometry));
        assert_eq!(found.len(), count, "{operator}");
    }
    let body = format!(
        "<sos:GetFeatureOfInterest {NAMES}>{}</sos:GetFeatureOfInterest>",
        spatial("Within", around)
    );
    let features = xml(&house.post("application/xml", body));
    assert_eq!(texts(&features, "pos"), ["50.5 7.5"]);
}

/// [SOS2-8.0-3]
#[test]
fn what_cannot_be_asked_for_is_said_in_words() {
    let house = measured();
    let refused = |filter: String, said: &str, locator: &str| {
        let body = format!("<sos:GetObservation {NAMES}>{filter}</sos:GetObservation>");
        let answer = house.post("application/xml", body);
        assert_eq!(answer.status, 400, "{filter}");
        assert!(text(&answer).contains(said), "{}", text(&answer));
        assert!(text(&answer).contains(locator), "{}", text(&answer));
    };
    let open = temporal("During", &[FIRST, SECOND]).replace(
        "<gml:endPosition>",
        "<gml:endPosition indeterminatePosition=\"now\">",
    );
    refused(
        open,
        "of which `now` alone is known",
        "locator=\"temporalFilter\"",
    );
    let at = "<gml:Point><gml:pos>50.5 7.5</gml:pos></gml:Point>";
    let time =
        spatial("Intersects", at).replace("om:featureOfInterest/*/sams:shape", "om:resultTime");
    refused(
        time,
        "`om:resultTime` is no place",
        "locator=\"spatialFilter\"",
    );
    let asked = "request=GetObservation&version=2.0.0&spatialFilter=om:resultTime,1,2,3,4";
    let (code, locator) = exception(&house.get(asked));
    assert_eq!(
        (&*code, &*locator),
        ("InvalidParameterValue", "spatialFilter")
    );
}

/// A box in KVP and JSON; the observations of the house lie at 50.5, 7.5.
const WIDE: [f64; 4] = [50.0, 7.0, 51.0, 8.0];
const APART: [f64; 4] = [50.0, 7.0, 50.2, 8.0];

/// [SOS2-12.0-1]
#[test]
fn all_spatial_filters_of_a_request_are_to_hold() {
    let house = measured();
    let kvp = |boxes: &[[f64; 4]]| {
        let filters = boxes.iter().map(|[south, west, north, east]| {
            format!(
                "&spatialFilter=om:featureOfInterest/*/sams:shape,{south},{west},{north},{east}"
            )
        });
        let query = filters.collect::<String>();
        let found = house.document(&format!("request=GetObservation&version=2.0.0{query}"));
        texts(&found, "result").len()
    };
    let pox = |boxes: &[[f64; 4]]| {
        let filters = boxes.iter().map(|[south, west, north, east]| {
            let corners = format!(
                "<gml:Envelope><gml:lowerCorner>{south} {west}</gml:lowerCorner>\
                 <gml:upperCorner>{north} {east}</gml:upperCorner></gml:Envelope>"
            );
            spatial("BBOX", &corners)
        });
        let filters = filters.collect::<String>();
        observed(&house, &filters).len()
    };
    let json = |boxes: &[[f64; 4]]| {
        let filters = boxes.iter().map(|[south, west, north, east]| {
            let ring = json!([[
                [west, south],
                [east, south],
                [east, north],
                [west, north],
                [west, south]
            ]]);
            json!({"within": {"value": {"type": "Polygon", "coordinates": ring}}})
        });
        let request = json!({"request": "GetObservation", "service": "SOS", "version": "2.0.0",
            "spatialFilter": filters.collect::<Vec<_>>()});
        let answer = house.post("application/json", request.to_string());
        text(&answer).matches("\"OM_Observation\"").count()
    };
    for (boxes, count) in [
        (&[WIDE][..], 3),
        (&[APART], 0),
        (&[WIDE, APART], 0),
        (&[APART, WIDE], 0),
        (&[WIDE, WIDE], 3),
    ] {
        let found = [kvp(boxes), pox(boxes), json(boxes)];
        assert_eq!(found, [count; 3], "{boxes:?}");
    }
    let many = [WIDE; SPATIAL_FILTERS_MAX + 1];
    assert_eq!([pox(&many), json(&many)], [0, 0]);
}

#[test]
fn a_filter_that_is_none_is_refused_with_its_parameter() {
    let house = measured();
    let refused = |filter: &str| {
        let body = format!("<sos:GetObservation {NAMES}>{filter}</sos:GetObservation>");
        exception(&house.post("application/xml", body))
    };
    let reversed = temporal("During", &[SECOND, FIRST]);
    let unknown = temporal("Sometimes", &[FIRST]);
    let ring = "<gml:Polygon gml:id=\"p\"><gml:exterior><gml:LinearRing><gml:posList>50\
        </gml:posList></gml:LinearRing></gml:exterior></gml:Polygon>";
    for (filter, code, locator) in [
        (reversed, "InvalidParameterValue", "temporalFilter"),
        (unknown, "OptionNotSupported", "temporalFilter"),
        (
            spatial("Within", ring),
            "InvalidParameterValue",
            "spatialFilter",
        ),
        (
            spatial("Near", ring),
            "InvalidParameterValue",
            "spatialFilter",
        ),
        (
            spatial(
                "BBOX",
                "<gml:Envelope><gml:lowerCorner>50 north 7</gml:lowerCorner>\
                <gml:upperCorner>51 8</gml:upperCorner></gml:Envelope>",
            ),
            "InvalidParameterValue",
            "spatialFilter",
        ),
        (
            spatial("Within", ""),
            "InvalidParameterValue",
            "spatialFilter",
        ),
    ] {
        assert_eq!(refused(&filter), (code.into(), locator.into()), "{filter}");
    }
}
