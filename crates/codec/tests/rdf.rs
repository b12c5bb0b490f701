//! Graphs as other people's serializers write them, and the errors of those that are none.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name, sample};
use weir_model::{Batch, BatchBuilder, Limits, Place, Value};

fn read(format: &str, text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name(format).unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn write(format: &str, batch: &Batch) -> String {
    let mut out = Vec::new();
    (by_name(format).unwrap().encode)(batch, &mut out);
    String::from_utf8(out).unwrap()
}

fn check(batch: &Batch) {
    let row = batch.row(0);
    assert_eq!(batch.len(), 1);
    assert_eq!((row.topic, row.value), ("a/b", Value::Number(21.5)));
    assert_eq!((row.sensor, row.unit), (Some("urn:dev:1"), Some("Cel")));
    assert_eq!(row.property, Some("air-temperature"));
    let time = row.time.unwrap().to_string();
    assert_eq!(time, "2026-11-20T09:41:00Z");
    let place = Place {
        latitude: 44.5,
        longitude: 20.25,
    };
    assert_eq!(row.place, Some(place));
}

#[test]
fn turtle_with_every_abbreviation_reads() {
    let text = r#"# a comment
BASE <http://www.w3.org/ns/sosa/x>
PREFIX sosa: <./>
@prefix : <urn:weir:> .
@prefix time: <http://www.w3.org/2006/time#>.
@prefix qudt: <http://qudt.org/schema/qudt/>.
@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#>.
@base <http://www.w3.org/ns/> .
_:t time:inXSDDateTime '''2026-11-20T10:41:00+01:00'''^^<http://www.w3.org/2001/XMLSchema#dateTime> .
_:q qudt:numericValue 2.15e1; qudt:unit _:u ;; . # spare semicolons
[] a <sosa/Observation>, <urn:other> ;
   :topic """a/b""" ;
   sosa:madeBySensor <urn:dev:\u0031>; <http://example.org/ignored> ( 1 true [ :topic "x" ] "z"@en-GB ) ;
   sosa:observedProperty <urn:weir:name:air%2Dtemperature> ;
   sosa:hasResult _:q ; sosa:phenomenonTime _:t.
_:u qudt:ucumCode "Cel" .
<urn:dev:1> geo:lat 44.5 ; geo:long 20.25 .
"#;
    check(&read("turtle", text).unwrap());
}

#[test]
fn json_ld_with_a_context_of_its_own_reads() {
    let text = r#"{"@context":[{"s":"http://www.w3.org/ns/sosa/","time":"http://www.w3.org/2006/time#",
        "when":{"@id":"s:phenomenonTime"},"unit":{"@id":"http://qudt.org/schema/qudt/hasUnit","@type":"@id"},
        "q":"http://qudt.org/schema/qudt/","geo":"http://www.w3.org/2003/01/geo/wgs84_pos#","@vocab":"urn:weir:"}],
      "@graph":[
       {"when":{"time:inXSDDateTimeStamp":{"@value":"2026-11-20T09:41:00Z","@type":"x:y"}},
        "@type":["s:Observation","urn:z"],"topic":["a/b"],
        "s:madeBySensor":{"@id":"urn:dev:1","geo:location":{"geo:lat":44.5,"geo:long":20.25}},
        "s:observedProperty":{"@id":"urn:weir:name:air-temperature"},
        "s:hasSimpleResult":{"@value":21.5},"s:hasResult":[{"unit":"_:u"}]},
       {"@id":"_:u","q:ucumCode":"Cel","@type":"q:Unit"}]}"#;
    check(&read("jsonld", text).unwrap());
}

#[test]
fn expanded_json_ld_reads() {
    let text = r#"[{"@id":"_:b1","@type":["http://www.w3.org/ns/sosa/Observation"],
        "urn:weir:topic":[{"@value":"a/b"}],
        "http://www.w3.org/ns/sosa/madeBySensor":[{"@id":"urn:dev:1"}],
        "http://www.w3.org/ns/sosa/observedProperty":[{"@id":"urn:weir:name:air-temperature"}],
        "http://www.w3.org/ns/sosa/hasSimpleResult":
          [{"@type":"http://www.w3.org/2001/XMLSchema#double","@value":"2.15E1"}],
        "http://www.w3.org/ns/sosa/hasResult":[{"@id":"_:b2"}],
        "http://www.w3.org/ns/sosa/phenomenonTime":[{"@id":"_:b3"}],
        "http://www.w3.org/2003/01/geo/wgs84_pos#lat":[{"@value":44.5}],
        "http://www.w3.org/2003/01/geo/wgs84_pos#long":[{"@value":20.25}]},
       {"@id":"_:b2","http://qudt.org/schema/qudt/hasUnit":[{"@id":"_:b4"}]},
       {"@id":"_:b3","http://www.w3.org/2006/time#inXSDDateTimeStamp":[{"@value":"2026-11-20T09:41:00Z"}]},
       {"@id":"_:b4","http://qudt.org/schema/qudt/ucumCode":[{"@value":"Cel"}]}]"#;
    check(&read("jsonld", text).unwrap());
}

#[test]
fn an_observation_without_a_result_has_the_empty_list() {
    let sosa = "http://www.w3.org/ns/sosa/";
    let json = format!(
        r#"[{{"@type":"{sosa}Observation","{sosa}hasResult":[{{"@list":[]}}]}},
            {{"@type":"{sosa}Observation","{sosa}hasSimpleResult":{{"@set":[true]}}}}]"#
    );
    let batch = read("jsonld", &json).unwrap();
    assert_eq!(
        (batch.value(0), batch.value(1)),
        (Value::Null, Value::Bool(true))
    );
    let turtle = format!("[] a <{sosa}Observation> ; <{sosa}hasResult> ( ) .");
    assert_eq!(read("turtle", &turtle).unwrap().value(0), Value::Null);
}

#[test]
fn an_observation_is_written_with_the_terms_of_sosa() {
    let batch = sample::message(1, 0).select(|row| row == 0);
    let turtle = write("turtle", &batch);
    let expected = concat!(
        r#"[] a sosa:Observation ; weir:topic "heating/substation-1/supply/temperature" ; "#,
        r#"sosa:madeBySensor <urn:dev:mac:0024befffe800010> ; "#,
        r#"sosa:observedProperty <urn:weir:name:water-temperature> ; "#,
        r#"sosa:hasSimpleResult 75.88e0 ; sosa:hasResult [ a qudt:QuantityValue ; "#,
        r#"qudt:numericValue 75.88e0 ; qudt:hasUnit [ qudt:ucumCode "Cel"^^qudt:UCUMcs ] ] ; "#,
        r#"sosa:phenomenonTime [ a time:Instant ; "#,
        r#"time:inXSDDateTimeStamp "2026-11-20T09:41:00.250Z"^^xsd:dateTimeStamp ] ; "#,
        r#"geo:location [ geo:lat 44.813503e0 ; geo:long 20.462207e0 ] ."#,
    );
    assert!(turtle.contains(expected), "{turtle}");
    let triples = write("ntriples", &batch);
    assert!(triples.starts_with(concat!(
        "_:b0 <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ",
        "<http://www.w3.org/ns/sosa/Observation> .\n",
        "_:b0 <urn:weir:topic> \"heating/substation-1/supply/temperature\" .\n",
    )));
    assert_eq!(triples.lines().count(), 16);
    let json = write("jsonld", &batch);
    let expected = r#""madeBySensor":"urn:dev:mac:0024befffe800010""#;
    assert!(json.contains(expected), "{json}");
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let fault = |format: &str, text: &str| read(format, text).unwrap_err().to_string();
    for (text, what) in [
        (
            "a:b a:c 1 .",
            "expected a prefix that was declared at byte 0",
        ),
        (
            "<urn:a> <urn:b> 1 ",
            "the message ends too early at byte 18",
        ),
        (
            "<urn:a> <urn:b> 1 ,",
            "the message ends too early at byte 19",
        ),
        (
            "<urn:a b> a <urn:b> .",
            "expected a character that an IRI allows at byte 6",
        ),
        (
            "<urn:a> <urn:b> \"x\ny\" .",
            "expected no line break in a string at byte 18",
        ),
        (
            "<urn:a> <urn:b> \"\\q\" .",
            "expected an escape of a character: \\uXXXX or \\UXXXXXXXX at byte 17",
        ),
    ] {
        assert_eq!(fault("turtle", text), what, "{text}");
    }
    let abbreviated = "@prefix a: <urn:a> .";
    assert_eq!(fault("ntriples", abbreviated), "expected an IRI at byte 0");
    let sosa = "http://www.w3.org/ns/sosa/";
    let none = format!("<urn:o> a <{sosa}Observation> .");
    assert_eq!(
        fault("turtle", &none),
        "an observation needs a `value` at byte 10"
    );
    let time = format!("<urn:o> <{sosa}hasSimpleResult> 1 ; <{sosa}resultTime> \"noon\" .");
    assert_eq!(
        fault("turtle", &time),
        "expected a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits at byte 95"
    );
    let remote = r#"{"@context":"http://example.org/"}"#;
    assert_eq!(
        fault("jsonld", remote),
        "expected a context that stands in the document: none is fetched at byte 12"
    );
}

#[test]
fn a_prefix_that_multiplies_is_refused() {
    let long = "x".repeat(9000);
    let text = format!("@prefix a: <urn:{long}> . a:b a:c a:d .");
    let error = read("turtle", &text).unwrap_err().to_string();
    assert!(
        error.starts_with("bytes of an IRI over the limit"),
        "{error}"
    );
    let context = format!(r#"{{"@context":{{"a":"urn:{long}"}},"a:b":1}}"#);
    let error = read("jsonld", &context).unwrap_err().to_string();
    assert!(
        error.starts_with("bytes of an IRI over the limit"),
        "{error}"
    );
    let long = "x".repeat(8000);
    let many: String = (0..10_000)
        .map(|index| format!("a:{index} a a:t .\n"))
        .collect();
    let text = format!("@prefix a: <urn:{long}> .\n{many}");
    let error = read("turtle", &text).unwrap_err().to_string();
    assert!(
        error.starts_with("bytes of names and literals over"),
        "{error}"
    );
}
