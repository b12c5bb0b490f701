//! Insertions that would be refused in part.

use super::house::{House, house, text, texts};
use weir_service::Response;

/// Observations of one property, each of a feature of its own.
fn insert(house: &House, features: impl Iterator<Item = String>) -> Response {
    let observations = features.enumerate().map(|(second, feature)| {
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        format!(
            r#"<sos:observation><om:OM_Observation gml:id="o"><om:phenomenonTime><gml:TimeInstant gml:id="t">
            <gml:timePosition>2026-01-01T{hour:02}:{minute:02}:{second:02}Z</gml:timePosition></gml:TimeInstant>
            </om:phenomenonTime><om:procedure xlink:href="urn:s:north"/>
            <om:observedProperty xlink:href="temperature"/><om:featureOfInterest xlink:href="{feature}"/>
            <om:result xsi:type="gml:MeasureType" uom="Cel">1</om:result></om:OM_Observation></sos:observation>"#
        )
    });
    let body = format!(
        r#"<sos:InsertObservation service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
        xmlns:om="http://www.opengis.net/om/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"
        xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
        <sos:offering>urn:s:north/observations</sos:offering>{}</sos:InsertObservation>"#,
        observations.collect::<String>()
    );
    house.post("application/xml", body)
}

fn offered() -> House {
    let house = house();
    let one = r#"{"observations":[{"topic":"north/t","sensor":"urn:s:north","type":"temperature","unit":"Cel",
        "value":0,"time":"2025-01-01T00:00:00Z"}]}"#;
    house.publish("#", one);
    house
}

fn count(house: &House, query: &str, local: &str) -> usize {
    let asked = format!("version=2.0.0&request={query}");
    texts(&house.document(&asked), local).len()
}

#[test]
fn more_features_than_one_request_takes_are_kept() {
    let house = offered();
    let answer = insert(&house, (0..5000).map(|number| format!("urn:f:{number}")));
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(count(&house, "GetObservation", "result"), 5001);
    let last = "GetFeatureOfInterest&featureOfInterest=urn:f:4999";
    assert_eq!(count(&house, last, "featureMember"), 1);
}

#[test]
fn an_observation_of_a_feature_beyond_room_is_refused_first() {
    let house = offered();
    let long = format!("urn:f:{}", "x".repeat(1024));
    let answer = insert(&house, ["urn:f:1".to_owned(), long].into_iter());
    assert_eq!(answer.status, 400, "{}", text(&answer));
    assert_eq!(count(&house, "GetObservation", "result"), 1);
    let other = house.get("version=2.0.0&request=GetFeatureOfInterest&featureOfInterest=urn:f:1");
    assert_eq!(other.status, 400, "{}", text(&other));
}
