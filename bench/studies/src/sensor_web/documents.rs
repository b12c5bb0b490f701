//! What is sent to the gateway: entities of SensorThings, documents and questions of SOS.
//!
//! Written here and not by the project's own codecs, which are what is measured. What is inserted while it is measured
//! has blanks for its times, which the load fills ([`TIME_BLANK`]): no two observations have one time.

use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::requests::Insertion;
use weir_bench_load::load::message::TIME_BLANK;
use weir_bench_load::load::prepare::Post;
use weir_bench_model::calendar::date;
use weir_bench_model::own::Own;

/// Answers of fewer observations are a part of what is there.
const ALL_MIN: usize = 10_000;
/// How many times as much is there then.
const TIMES_AS_MUCH: usize = 10;
/// Datastreams of a Thing, each of which is three entities of at most 2,000 in one request.
const OF_A_THING: usize = 500;
/// Observations in a document that fills a fresh gateway.
const PAGE: usize = 1000;
/// 2026-01-01: what is read begins here and goes on second by second; a million of them end in the same month.
const MONTH: u64 = 20_454;
/// 2027-01-01: what is inserted while it is measured lies on this day or a later one.
const LATER: u64 = 20_819;

const JSON: &str = "application/json";
const XML: &str = "application/xml";

/// Things with so many Datastreams at topics `bench/web/N`, each with a Sensor, an ObservedProperty and an
/// Observation; no more of them in one request than its limit lets pass.
pub(super) fn things(datastreams: usize) -> Vec<Post> {
    let begins = (0..datastreams).step_by(OF_A_THING);
    let each = begins.map(|begin| thing(begin..datastreams.min(begin + OF_A_THING)));
    each.collect()
}

fn thing(datastreams: Range<usize>) -> Post {
    let each: Vec<String> = datastreams.map(datastream).collect();
    let body = format!(
        r#"{{"name":"station","description":"what the bench asks for","Locations":[{{"name":"roof",
        "description":"above all","encodingType":"application/geo+json",
        "location":{{"type":"Point","coordinates":[20.5,44.8]}}}}],"Datastreams":[{}]}}"#,
        each.join(",")
    );
    post("/sta/v1.1/Things", JSON, body)
}

fn datastream(number: usize) -> String {
    let value = number as f64 / 8.0;
    format!(
        r#"{{"name":"temperature {number}","description":"of the air",
        "observationType":"http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
        "unitOfMeasurement":{{"name":"degree Celsius","symbol":"Cel","definition":"ucum:Cel"}},
        "properties":{{"topic":"bench/web/{number}"}},
        "Sensor":{{"name":"thermometer {number}","description":"of platinum","encodingType":"text/html",
        "metadata":"about:blank"}},
        "ObservedProperty":{{"name":"temperature","definition":"urn:bench:temperature","description":"of the air"}},
        "Observations":[{{"phenomenonTime":"2026-01-01T00:00:00Z","result":{value}}}]}}"#
    )
}

/// The latest Observation of each of so many Datastreams in one request (18-088 section 9.3).
pub(super) fn latest(datastreams: usize, of_them: &str, of_observations: &str) -> String {
    format!(
        "/sta/v1.1/Datastreams?$top={datastreams}{of_them}\
         &$expand=Observations($top=1;$orderby=phenomenonTime%20desc{of_observations})"
    )
}

/// Rows of one Datastream.
pub(super) fn data_array(rows: usize) -> Insertion {
    let day = later_day();
    let mut text = String::from(
        r#"[{"Datastream":{"@iot.id":"bench/web/0"},
        "components":["phenomenonTime","result"],"dataArray":["#,
    );
    for row in 0..rows {
        let comma = if row == 0 { "" } else { "," };
        let value = value(row);
        // Writing to a string does not fail.
        let _ = write!(text, r#"{comma}["{day}T{TIME_BLANK}Z",{value}]"#);
    }
    text += "]}]";
    Insertion {
        path: "/sta/v1.1/CreateObservations",
        message: Own::as_it_is(text, JSON),
    }
}

/// One Observation.
pub(super) fn single() -> Insertion {
    let day = later_day();
    let text = format!(r#"{{"phenomenonTime":"{day}T{TIME_BLANK}Z","result":21.5}}"#);
    Insertion {
        path: "/sta/v1.1/Datastreams('bench%2Fweb%2F0')/Observations",
        message: Own::as_it_is(text, JSON),
    }
}

const NAMES: &str = r#"service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
 xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:om="http://www.opengis.net/om/2.0"
 xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:swe="http://www.opengis.net/swe/2.0"
 xmlns:sml="http://www.opengis.net/sensorml/2.0" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance""#;
const MEASUREMENT: &str = "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement";

const POINT: &str = "http://www.opengis.net/def/samplingFeatureType/OGC-OM/2.0/SF_SamplingPoint";

/// A sensor, and the template by which its results are inserted.
pub(super) fn sensor() -> Vec<Post> {
    [insert_sensor(), insert_template()]
        .map(|body| post("/sos", XML, body))
        .into()
}

fn insert_sensor() -> String {
    format!(
        r#"<swes:InsertSensor {NAMES}>
<swes:procedureDescriptionFormat>http://www.opengis.net/sensorml/2.0</swes:procedureDescriptionFormat>
<swes:procedureDescription><sml:PhysicalSystem gml:id="gauge"><gml:identifier
 codeSpace="uniqueID">urn:bench:gauge</gml:identifier></sml:PhysicalSystem></swes:procedureDescription>
<swes:observableProperty>urn:bench:level</swes:observableProperty>
<swes:metadata><sos:SosInsertionMetadata><sos:observationType>{MEASUREMENT}</sos:observationType>
<sos:featureOfInterestType>{POINT}</sos:featureOfInterestType>
</sos:SosInsertionMetadata></swes:metadata></swes:InsertSensor>"#
    )
}

fn insert_template() -> String {
    format!(
        r#"<sos:InsertResultTemplate {NAMES}><sos:proposedTemplate><sos:ResultTemplate>
<swes:identifier>urn:bench:template</swes:identifier><sos:offering>urn:bench:gauge/observations</sos:offering>
<sos:observationTemplate><om:OM_Observation gml:id="template"><om:phenomenonTime nilReason="template"/>
<om:resultTime nilReason="template"/><om:procedure xlink:href="urn:bench:gauge"/>
<om:observedProperty xlink:href="urn:bench:level"/><om:featureOfInterest xlink:href="urn:bench:river"/>
<om:result/></om:OM_Observation></sos:observationTemplate>
<sos:resultStructure><swe:DataRecord><swe:field name="time"><swe:Time
 definition="http://www.opengis.net/def/property/OGC/0/PhenomenonTime"><swe:uom code="s"/></swe:Time></swe:field>
<swe:field name="level"><swe:Quantity definition="urn:bench:level"><swe:uom code="m"/></swe:Quantity></swe:field>
</swe:DataRecord></sos:resultStructure>
<sos:resultEncoding><swe:TextEncoding tokenSeparator="," blockSeparator="@@"/></sos:resultEncoding>
</sos:ResultTemplate></sos:proposedTemplate></sos:InsertResultTemplate>"#
    )
}

/// Observations one by one, as O&M 2.0 has them.
pub(super) fn insert_observation(count: usize) -> Insertion {
    let day = later_day();
    let mut text = format!(
        "<sos:InsertObservation {NAMES}><sos:offering>urn:bench:gauge/observations</sos:offering>"
    );
    for row in 0..count {
        let value = value(row);
        let _ = write!(
            text,
            r##"
<sos:observation><om:OM_Observation gml:id="o{row}"><om:type xlink:href="{MEASUREMENT}"/>
<om:phenomenonTime><gml:TimeInstant gml:id="t{row}">
<gml:timePosition>{day}T{TIME_BLANK}Z</gml:timePosition></gml:TimeInstant></om:phenomenonTime>
<om:resultTime xlink:href="#t{row}"/><om:procedure xlink:href="urn:bench:gauge"/>
<om:observedProperty xlink:href="urn:bench:level"/><om:featureOfInterest xlink:href="urn:bench:river"/>
<om:result xsi:type="gml:MeasureType" uom="m">{value}</om:result></om:OM_Observation></sos:observation>"##
        );
    }
    text += "</sos:InsertObservation>";
    Insertion {
        path: "/sos",
        message: Own::as_it_is(text, XML),
    }
}

/// Rows by the template, at times that the load fills in.
pub(super) fn insert_result_of_now(count: usize) -> Insertion {
    let time = format!("{}T{TIME_BLANK}Z", later_day());
    let rows = (0..count).map(|row| (time.clone(), value(row)));
    Insertion {
        path: "/sos",
        message: Own::as_it_is(insert_result(rows), XML),
    }
}

fn insert_result(rows: impl Iterator<Item = (String, f64)>) -> String {
    let rows: Vec<String> = rows
        .map(|(time, value)| format!("{time},{value}"))
        .collect();
    format!(
        "<sos:InsertResult {NAMES}><sos:template>urn:bench:template</sos:template>\
         <sos:resultValues>{}</sos:resultValues></sos:InsertResult>",
        rows.join("@@")
    )
}

/// A sensor with so many observations, a second after each other; of few that are read ten times as many.
pub(super) fn filled(count: usize) -> Vec<Post> {
    let there = match is_all(count) {
        true => count,
        false => TIMES_AS_MUCH * count,
    };
    let page = |first: usize| {
        let rows = first..there.min(first + PAGE);
        let body = insert_result(rows.map(|row| (stamp(row), value(row))));
        post("/sos", XML, body)
    };
    let pages = (0..there).step_by(PAGE).map(page);
    sensor().into_iter().chain(pages).collect()
}

/// A question for so many observations: all that there are, or by a period those of the first seconds.
pub(super) fn get(operation: &str, further: &str, count: usize) -> String {
    let period = match is_all(count) {
        true => String::new(),
        false => format!(
            "&temporalFilter=om:phenomenonTime,{}/{}",
            stamp(0),
            stamp(count - 1)
        ),
    };
    format!(
        "/sos?service=SOS&version=2.0.0&request={operation}&offering=urn:bench:gauge/observations\
         &observedProperty=urn:bench:level{further}{period}"
    )
}

/// Whether so many observations are all that there are.
fn is_all(count: usize) -> bool {
    count >= ALL_MIN
}

/// The time of a row that is read.
fn stamp(row: usize) -> String {
    let seconds = row as u64;
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let day = date(MONTH + seconds / 86_400);
    format!("{day}T{hour:02}:{minute:02}:{second:02}Z")
}

/// A water level to a centimetre or so, in binary fractions, so that it is written as short as it is read.
fn value(row: usize) -> f64 {
    (row * 37 % 977) as f64 / 64.0
}

/// A day for one round's messages, whose times begin at the time of day: those of two rounds do not meet.
fn later_day() -> String {
    static ROUNDS: AtomicU64 = AtomicU64::new(0);
    date(LATER + ROUNDS.fetch_add(1, Ordering::Relaxed))
}

fn post(path: &str, media_type: &str, body: String) -> Post {
    Post {
        path: path.into(),
        media_type: media_type.into(),
        body,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeSet;

    /// Elements of a name in a document that is well-formed.
    fn elements(xml: &str, wanted: &str) -> usize {
        let mut reader = quick_xml::Reader::from_str(xml);
        let mut count = 0;
        loop {
            match reader.read_event().unwrap() {
                quick_xml::events::Event::Eof => return count,
                quick_xml::events::Event::Start(it) if it.name().as_ref() == wanted => {
                    count += 1;
                }
                _ => {}
            }
        }
    }

    #[test]
    fn entities_and_data_arrays_are_json_with_as_much_as_was_asked_for() {
        let things = things(1600);
        let topics = things.iter().flat_map(|post| {
            let thing: serde_json::Value = serde_json::from_str(&post.body).unwrap();
            let datastreams = thing["Datastreams"].as_array().unwrap().clone();
            assert!(datastreams.len() <= OF_A_THING);
            datastreams
                .into_iter()
                .map(|own| own["properties"]["topic"].to_string())
        });
        let topics: BTreeSet<String> = topics.collect();
        assert_eq!(topics.len(), 1600);
        assert!(topics.contains("\"bench/web/1599\""));
        let arrays: serde_json::Value = serde_json::from_str(data_array(50).message.text).unwrap();
        let rows = arrays[0]["dataArray"].as_array().unwrap();
        assert!(rows.len() == 50 && rows.iter().all(|row| row[1].is_number()));
    }

    #[test]
    fn documents_are_well_formed_and_have_a_time_an_observation() {
        let om = insert_observation(27).message.text;
        assert_eq!(elements(om, "om:OM_Observation"), 27);
        assert_eq!(om.matches(TIME_BLANK).count(), 27);
        let rows = insert_result_of_now(27).message.text;
        assert_eq!(elements(rows, "sos:resultValues"), 1);
        assert_eq!(rows.matches(TIME_BLANK).count(), 27);
        for post in sensor() {
            assert!(
                elements(&post.body, "swes:identifier") + elements(&post.body, "gml:identifier")
                    == 1
            );
        }
    }

    #[test]
    fn what_is_read_is_there_to_the_second() {
        let rows = |posts: &[Post]| -> usize {
            posts[2..]
                .iter()
                .map(|it| it.body.matches('Z').count())
                .sum()
        };
        assert_eq!(rows(&filled(2700)), 27_000);
        assert_eq!(rows(&filled(10_500)), 10_500);
        let part = get("GetResult", "", 2700);
        let period = "&temporalFilter=om:phenomenonTime,2026-01-01T00:00:00Z/2026-01-01T00:44:59Z";
        assert!(part.ends_with(period), "{part}");
        assert!(!get("GetResult", "", 10_000).contains("temporalFilter"));
        assert_eq!(stamp(999_999), "2026-01-12T13:46:39Z");
    }
}
