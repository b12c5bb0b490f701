//! A sensor's life in version 1.0.0 in every binding, asked as clients of 52North's server ask: names without a prefix,
//! features named by their `gml:id`, an offering of its own name.

use super::dialect::Binding;
use super::house::{House, exception, house, text, texts};
use serde_json::{Value as Json, json};
use weir_codec::document::exi;

const NAMES: &str = r#"service="SOS" version="1.0.0" xmlns="http://www.opengis.net/sos/1.0"
  xmlns:om="http://www.opengis.net/om/1.0" xmlns:sml="http://www.opengis.net/sensorML/1.0.1"
  xmlns:swe="http://www.opengis.net/swe/1.0.1" xmlns:gml="http://www.opengis.net/gml"
  xmlns:ogc="http://www.opengis.net/ogc" xmlns:sa="http://www.opengis.net/sampling/1.0"
  xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink""#;

const SENSOR: &str = "http://example.org/procedure/gauge";
const LEVEL: &str = "http://example.org/property/level";
const FEATURE: &str = "http://example.org/feature/weir";
const FORMAT: &str = "text/xml;subtype=\"om/1.0.0\"";

fn request(operation: &str, inner: &str) -> String {
    format!("<{operation} {NAMES}>{inner}</{operation}>")
}

fn register() -> String {
    let inner = format!(
        r#"<SensorDescription><sml:SensorML version="1.0.1"><sml:member><sml:System><sml:identification>
        <sml:IdentifierList><sml:identifier><sml:Term definition="urn:ogc:def:identifier:OGC:uniqueID"><sml:value>
        {SENSOR}
        </sml:value></sml:Term></sml:identifier></sml:IdentifierList></sml:identification>
        <sml:capabilities name="offerings"><swe:SimpleDataRecord><swe:field name="All of the gauge">
        <swe:Text definition="urn:ogc:def:identifier:OGC:offeringID">
        <swe:value>http://example.org/offering/gauge</swe:value></swe:Text></swe:field></swe:SimpleDataRecord>
        </sml:capabilities>
        <sml:inputs><sml:InputList><sml:input name="level"><swe:ObservableProperty definition="{LEVEL}"/></sml:input>
        </sml:InputList></sml:inputs><sml:outputs><sml:OutputList><sml:output name="level">
        <swe:Quantity definition="{LEVEL}"><swe:uom code="cm"/></swe:Quantity></sml:output></sml:OutputList>
        </sml:outputs></sml:System></sml:member></sml:SensorML></SensorDescription><ObservationTemplate><om:Measurement>
        <om:samplingTime/><om:procedure/><om:observedProperty/><om:featureOfInterest/><om:result uom="">0.0</om:result>
        </om:Measurement></ObservationTemplate>"#
    );
    request("RegisterSensor", &inner)
}

fn insert() -> String {
    let inner = format!(
        r#"<AssignedSensorId>{SENSOR}</AssignedSensorId><om:Measurement><om:samplingTime><gml:TimeInstant>
        <gml:timePosition>2026-03-01T12:00:00+01:00</gml:timePosition></gml:TimeInstant></om:samplingTime>
        <om:procedure xlink:href="{SENSOR}"/><om:observedProperty xlink:href="{LEVEL}"/><om:featureOfInterest>
        <sa:SamplingPoint gml:id="{FEATURE}"><gml:name>Weir</gml:name><sa:sampledFeature xlink:href=""/><sa:position>
        <gml:Point><gml:pos srsName="urn:ogc:def:crs:EPSG::4326">52.5 7.5</gml:pos></gml:Point></sa:position>
        </sa:SamplingPoint></om:featureOfInterest><om:result uom="cm">10.5</om:result></om:Measurement>"#
    );
    request("InsertObservation", &inner)
}

fn get_observation(inner: &str) -> String {
    let inner = format!(
        r#"<offering>http://example.org/offering/gauge</offering><eventTime><ogc:TM_During>
        <ogc:PropertyName>om:samplingTime</ogc:PropertyName><gml:TimePeriod>
        <gml:beginPosition>2026-03-01T10:00:00.000Z</gml:beginPosition>
        <gml:endPosition>2026-03-01T12:00:00.000Z</gml:endPosition></gml:TimePeriod></ogc:TM_During></eventTime>
        <procedure>{SENSOR}</procedure><observedProperty>{LEVEL}</observedProperty>
        <featureOfInterest>{inner}</featureOfInterest><responseFormat>{FORMAT}</responseFormat>
        <resultModel>om:Measurement</resultModel><responseMode>inline</responseMode>"#
    );
    request("GetObservation", &inner)
}

/// What is read back in a binding.
fn read(house: &House, binding: Binding) {
    let named = format!("<ObjectID>{FEATURE}</ObjectID>");
    let area = "<ogc:BBOX><ogc:PropertyName>urn:ogc:data:location</ogc:PropertyName>\
        <gml:Envelope srsName=\"urn:ogc:def:crs:EPSG::4326\"><gml:lowerCorner>50.0 7.0</gml:lowerCorner>\
        <gml:upperCorner>53.0 10.0</gml:upperCorner></gml:Envelope></ogc:BBOX>";
    for filter in [&named, area] {
        let found = binding.told(house, &get_observation(filter));
        let measured = found.find("Measurement").unwrap();
        assert_eq!(texts(measured, "result"), ["10.5"], "{binding:?}");
        let sampled = measured.find("sampledFeature").unwrap();
        assert_eq!(sampled.attribute("href"), Some(FEATURE));
    }
    let id = format!(
        "<ObservationId>urn:weir:observation:{}:2026-03-01T11:00:00Z</ObservationId>\
         <responseFormat>{FORMAT}</responseFormat>",
        weir_model::percent::encode(&crate::identifiers::topic_of(SENSOR, LEVEL), b"")
    );
    let found = binding.told(house, &request("GetObservationById", &id));
    assert_eq!(texts(&found, "values"), ["2026-03-01T11:00:00Z,10.5;"]);
    let feature = format!("<FeatureOfInterestId>{FEATURE}</FeatureOfInterestId>");
    let found = binding.told(house, &request("GetFeatureOfInterest", &feature));
    let point = found.find("SamplingPoint").unwrap();
    assert_eq!(
        (texts(point, "name"), texts(point, "pos")),
        (vec![FEATURE.to_owned()], vec!["52.5 7.5".to_owned()],)
    );
}

/// [SOS1-9.2-1] [SOS1-9.3-1] [SOS1-11.1-1]
#[test]
fn a_sensors_life_in_1_0_is_told_in_every_binding() {
    for binding in Binding::ALL {
        let house = house();
        let root = binding.told(&house, &register());
        assert_eq!(texts(&root, "AssignedSensorId"), [SENSOR], "{binding:?}");
        let root = binding.told(&house, &insert());
        let assigned = texts(&root, "AssignedObservationId").remove(0);
        assert!(assigned.starts_with("urn:weir:observation:"), "{assigned}");
        let again = binding.told(&house, &insert());
        let second = texts(&again, "AssignedObservationId");
        assert_eq!(second, [format!("{assigned};1")]);
        read(&house, binding);
        let accept = "<ows:AcceptVersions><ows:Version>1.0.0</ows:Version></ows:AcceptVersions>\
            <ows:Sections><ows:Section>Contents</ows:Section></ows:Sections>";
        let root = binding.told(&house, &request("GetCapabilities", accept));
        let offering = root.find("ObservationOffering").unwrap();
        let names = ["http://example.org/offering/gauge", "All of the gauge"];
        assert_eq!(texts(offering, "name"), names);
        let describe = format!("<procedure>{SENSOR}</procedure>");
        let describe = request("DescribeSensor", &describe).replacen(
            " version=\"1.0.0\"",
            " version=\"1.0.0\" outputFormat=\"text/xml;subtype=&quot;sensorML/1.0.1&quot;\"",
            1,
        );
        let root = binding.told(&house, &describe);
        assert_eq!(
            root.find("Term").map(|own| texts(own, "value")),
            Some(vec![SENSOR.into()])
        );
    }
}

/// [SOS1-11.1-1]
#[test]
fn what_is_wrong_in_1_0_is_told_in_the_bindings_own_form() {
    let house = house();
    let wrong = get_observation("").replace("http://example.org/offering/gauge", "urn:no");
    let soap = format!(
        r#"<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body>{wrong}</e:Body></e:Envelope>"#
    );
    let invalid = ("InvalidParameterValue".to_owned(), "offering".to_owned());
    assert_eq!(
        exception(&house.post("application/soap+xml", soap)),
        invalid
    );
    let packed = exi::from_xml(wrong.as_bytes()).unwrap();
    let answer = house.post("application/exi", packed);
    let root = exi::read(&answer.body).unwrap();
    let report = root.find("Exception").unwrap();
    assert_eq!(report.attribute("locator"), Some("offering"));
    assert_eq!(root.attribute("version"), Some("1.0.0"));
}

/// [SOS1-11.1-1]
#[test]
fn version_1_is_asked_in_json_by_the_names_of_its_parameters() {
    let house = house();
    let pox = Binding::ALL[0];
    pox.told(&house, &register());
    let told = |members: Json| -> Json {
        let mut request = json!({"service": "SOS", "version": "1.0.0"});
        for (name, value) in members.as_object().into_iter().flatten() {
            request[name] = value.clone();
        }
        let answer = house.post("application/json", request.to_string());
        assert_eq!(answer.status, 200, "{}", text(&answer));
        serde_json::from_slice(&answer.body).unwrap()
    };
    let inserted = told(json!({
        "request": "InsertObservation",
        "AssignedSensorId": SENSOR,
        "observation": {
            "procedure": SENSOR,
            "observedProperty": LEVEL,
            "featureOfInterest": FEATURE,
            "phenomenonTime": "2026-03-01T11:00:00Z",
            "result": {"uom": "cm", "value": 10.5},
        },
    }));
    let id = inserted["AssignedObservationId"].as_str().unwrap();
    let named = json!({
        "request": "GetObservation",
        "offering": "http://example.org/offering/gauge",
        "observedProperty": [LEVEL],
        "responseFormat": FORMAT,
        "eventTime": {"during": {"ref": "om:samplingTime", "value": ["2026-03-01", "2026-03-02"]}},
        "resultModel": "om:Measurement",
    });
    let found = told(named);
    let measured = &found["member"]["Measurement"];
    assert_eq!(measured["result"]["value"], "10.5", "{found}");
    let by_id =
        json!({"request": "GetObservationById", "ObservationId": id, "responseFormat": FORMAT});
    assert!(
        told(by_id)
            .to_string()
            .contains("2026-03-01T11:00:00Z,10.5;")
    );
    let capabilities = told(json!({"request": "GetCapabilities", "AcceptVersions": ["1.0.0"]}));
    assert_eq!(capabilities["version"], "1.0.0");
    let sensor = json!({
        "request": "DescribeSensor",
        "procedure": SENSOR,
        "outputFormat": "text/xml;subtype=\"sensorML/1.0.1\"",
    });
    assert!(told(sensor).to_string().contains(SENSOR));
}
