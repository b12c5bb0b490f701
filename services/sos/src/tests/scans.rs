//! Requests for which much would have to be read that is not given.

use super::house::{House, exception, house, text, texts, xml};
use weir_model::{BatchBuilder, Time, Value};
use weir_service::Response;

const COUNT: usize = 30_000;

/// A house with so many observations of one datastream, a millisecond after each other; one of them is -1.
fn many() -> House {
    let house = house();
    let mut rows = BatchBuilder::new();
    for row in 0..COUNT {
        rows.begin();
        rows.time(Time::from_millis(row as i64));
        let last = row + 1 == COUNT;
        rows.value(Value::Number(if last { -1.0 } else { row as f64 }));
        rows.end().unwrap();
    }
    let format = weir_codec::by_name("block").unwrap();
    let mut body = Vec::new();
    (format.encode)(&rows.finish(), &mut body);
    house.publish_as("a/b", format, body);
    house
}

const NAMES: &str = "version=2.0.0&offering=urn:weir:procedure:a/observations&observedProperty=b";
const NONE: &str = "request=GetObservation&featureOfInterest=urn:none";

/// What is less than a bound.
fn less(bound: usize, format: &str) -> String {
    format!(
        r#"<GetObservation service="SOS" version="1.0.0" xmlns="http://www.opengis.net/sos/1.0"
        xmlns:ogc="http://www.opengis.net/ogc"><offering>urn:weir:procedure:a/observations</offering>
        <observedProperty>b</observedProperty><result><ogc:PropertyIsLessThan><ogc:PropertyName>b</ogc:PropertyName>
        <ogc:Literal>{bound}</ogc:Literal></ogc:PropertyIsLessThan></result>
        <responseFormat>{format}</responseFormat></GetObservation>"#
    )
}

fn is_too_costly(response: &Response) -> bool {
    let code = exception(response).0;
    assert_eq!(response.status, 400);
    code == "ResponseExceedsSizeLimit"
}

/// [SOS2-8.3-11]
#[test]
fn a_filter_that_would_read_all_is_an_exception() {
    let mut house = many();
    let swe = "responseFormat=text/plain;profile=swe";
    let rare = less(0, "text/xml;subtype=\"om/1.0.0\"");
    house.sos.house.unwanted_max = COUNT;
    let none = house.document(&format!("{NONE}&{NAMES}"));
    assert!(texts(&none, "result").is_empty());
    let found = xml(&house.post("text/xml", rare.clone()));
    assert_eq!(texts(&found, "values"), ["1970-01-01T00:00:29.999Z,-1;"]);
    house.sos.house.unwanted_max = COUNT / 2;
    assert!(is_too_costly(&house.get(&format!("{NONE}&{NAMES}"))));
    assert!(is_too_costly(&house.get(&format!("{NONE}&{NAMES}&{swe}"))));
    assert!(is_too_costly(&house.post("text/xml", rare)));
    let request = less(0, "text/plain;profile=swe");
    let soap = format!(
        r#"<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>{request}</e:Body></e:Envelope>"#
    );
    let fault = house.post("application/soap+xml", soap);
    assert_eq!(exception(&fault).0, "ResponseExceedsSizeLimit");
    let short = "temporalFilter=om:phenomenonTime,1970-01-01T00:00:00Z/1970-01-01T00:00:01Z";
    let none = house.document(&format!("{NONE}&{NAMES}&{short}"));
    assert!(texts(&none, "result").is_empty());
}

/// [SOS2-8.3-11]
#[test]
fn results_are_counted_as_far_as_the_limit() {
    let mut house = many();
    let all = format!("request=GetResult&{NAMES}");
    house.sos.house.unwanted_max = COUNT;
    let values = texts(&house.document(&all), "resultValues").concat();
    assert!(values.starts_with(&format!("{COUNT}\n")));
    assert_eq!(values.lines().count(), COUNT + 1);
    house.sos.house.unwanted_max = COUNT / 2;
    assert!(is_too_costly(&house.get(&all)));
}

/// What is given pays for what is not.
#[test]
fn an_answer_that_gives_much_may_be_as_long_as_it_is() {
    let mut house = many();
    house.sos.house.unwanted_max = 100;
    let request = less(COUNT / 2, "text/plain;profile=swe");
    let response = house.post("text/xml", request);
    assert_eq!(response.status, 200, "{}", text(&response));
    // Half of them, and the last.
    let given = text(&response).matches("1970-01-01T").count();
    assert_eq!(given, COUNT / 2 + 1);
}

/// Ten places in turn, a thousand times each.
fn moving() -> House {
    let house = house();
    let rows = (0..1000).map(|row| {
        format!(
            r#"{{"topic":"a/b","value":1,"time":"2026-01-01T00:{:02}:{:02}Z","lat":50.5,
            "lon":7.{}}}"#,
            row / 60,
            row % 60,
            row % 10
        )
    });
    let rows = rows.collect::<Vec<_>>().join(",");
    house.publish("#", &format!(r#"{{"observations":[{rows}]}}"#));
    house
}

/// A polygon of so many corners, far from all places.
fn apart(corners: usize) -> String {
    let corners = (0..corners).map(|n| format!("{} 30 ", n as f64 / 1e4));
    let ring = format!("{}1 31 0 30", corners.collect::<String>());
    format!(
        r#"<GetObservation service="SOS" version="2.0.0" xmlns="http://www.opengis.net/sos/2.0"
        xmlns:fes="http://www.opengis.net/fes/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"><spatialFilter>
        <fes:Within><fes:ValueReference>om:featureOfInterest/*/sams:shape</fes:ValueReference><gml:Polygon>
        <gml:exterior><gml:LinearRing><gml:posList>{ring}</gml:posList></gml:LinearRing></gml:exterior>
        </gml:Polygon></fes:Within></spatialFilter></GetObservation>"#
    )
}

#[test]
fn places_among_many_corners_count_as_what_is_read() {
    let mut house = moving();
    house.sos.house.unwanted_max = 10_000;
    let found = |corners| house.post("application/xml", apart(corners));
    assert_eq!(found(4).status, 200);
    assert!(is_too_costly(&found(2000)));
}
