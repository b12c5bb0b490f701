//! The same requests in XML, SOAP, EXI and JSON.

use super::house::{call, exception, measured, text, texts, xml};
use weir_codec::document::{exi, soap};

const REQUEST: &str = r#"<sos:GetObservation service="SOS" version="2.0.0"
  xmlns:sos="http://www.opengis.net/sos/2.0" xmlns:fes="http://www.opengis.net/fes/2.0"
  xmlns:gml="http://www.opengis.net/gml/3.2"><sos:procedure>urn:s:north</sos:procedure>
  <sos:temporalFilter><fes:After><fes:ValueReference>om:phenomenonTime</fes:ValueReference>
  <gml:TimeInstant gml:id="t"><gml:timePosition>2026-01-01T00:00:00Z</gml:timePosition></gml:TimeInstant>
  </fes:After></sos:temporalFilter></sos:GetObservation>"#;

/// [SOS2-13.1-1]
#[test]
fn a_request_in_xml_is_the_same_request() {
    let answer = measured().post("application/xml", REQUEST);
    assert_eq!(texts(&xml(&answer), "result"), ["1.5", "2.5"]);
}

/// [SOS2-13.5-1]
#[test]
fn an_envelope_of_either_version_is_answered_in_its_own() {
    let house = measured();
    for (version, media) in [
        (soap::Version::V11, "text/xml"),
        (soap::Version::V12, "application/soap+xml"),
    ] {
        let envelope = soap::wrap(version, None, "", REQUEST);
        let answer = house.post(media, envelope);
        let root = xml(&answer);
        assert!(root.is(version.namespace(), "Envelope"));
        assert_eq!(texts(&root, "result").len(), 2);
        let wrong = soap::wrap(version, None, "", &REQUEST.replace("urn:s:north", "urn:no"));
        let fault = house.post(media, wrong);
        assert_eq!(exception(&fault).0, "InvalidParameterValue");
        let expected = if version == soap::Version::V11 {
            500
        } else {
            400
        };
        assert_eq!(fault.status, expected);
        assert!(xml(&fault).find("Fault").is_some());
    }
}

#[test]
fn exi_is_answered_in_exi() {
    let house = measured();
    let packed = exi::from_xml(REQUEST.as_bytes()).unwrap();
    let answer = house.post("application/exi", packed);
    assert!(
        answer
            .headers
            .contains(&("content-type", "application/exi".into()))
    );
    let root = exi::read(&answer.body).unwrap();
    assert_eq!(texts(&root, "result"), ["1.5", "2.5"]);
    let envelope = soap::wrap(soap::Version::V12, None, "", REQUEST);
    let answer = house.post(
        "application/exi",
        exi::from_xml(envelope.as_bytes()).unwrap(),
    );
    assert_eq!(exi::read(&answer.body).unwrap().local, "Envelope");
    let broken = house.post("application/exi", &b"\x80\x01\x02"[..]);
    let root = exi::read(&broken.body).unwrap();
    assert_eq!(
        root.child("Exception").unwrap().attribute("exceptionCode"),
        Some("InvalidRequest")
    );
}

#[test]
fn json_asks_by_the_same_names_and_is_answered_in_json() {
    let house = measured();
    let request = r#"{"request":"GetObservation","service":"SOS","version":"2.0.0",
        "procedure":["urn:s:north"],"temporalFilter":"om:phenomenonTime,2026-01-01T00:01:00Z"}"#;
    let answer = house.post("application/json", request);
    let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(told["request"], "GetObservation");
    assert_eq!(
        told["observationData"]["OM_Observation"]["result"]["value"],
        "1.5"
    );
    let refused = house.post("application/json", r#"{"request":"GetObservation"}"#);
    let told: serde_json::Value = serde_json::from_slice(&refused.body).unwrap();
    assert_eq!(told["Exception"]["exceptionCode"], "MissingParameterValue");
}

/// [SOS2-8.0-3]
#[test]
fn bombs_depth_and_unknown_elements_are_invalid_requests() {
    let house = measured();
    let bomb = format!("<!DOCTYPE a [<!ENTITY x \"y\">]>{REQUEST}");
    let file = format!("<!DOCTYPE a SYSTEM \"file:///etc/passwd\">{REQUEST}");
    let deep = format!("{}{}", "<a>".repeat(100), "</a>".repeat(100));
    let wrong = REQUEST.replace("sos/2.0", "sos/9.0");
    let strange = REQUEST.replace(
        "</sos:GetObservation>",
        "<sos:colour/></sos:GetObservation>",
    );
    for body in [bomb, file, deep, wrong, strange, "<a".into(), String::new()] {
        let answer = house.post("application/xml", body.clone());
        assert_eq!(
            (answer.status, exception(&answer).0.as_str()),
            (400, "InvalidRequest"),
            "{body}"
        );
    }
    let version = REQUEST.replace("\"2.0.0\"", "\"1.0.0\"");
    let answer = house.post("text/xml", version);
    assert_eq!(
        exception(&answer),
        ("InvalidParameterValue".into(), "version".into())
    );
    let foreign = REQUEST.replace("fes/2.0", "fes/9.0");
    let answer = house.post("text/xml", foreign);
    let invalid = ("InvalidRequest".into(), "temporalFilter".into());
    assert_eq!(exception(&answer), invalid);
    let within = REQUEST.replace("fes:After", "fes:Sometimes");
    let answer = house.post("text/xml", within);
    assert_eq!(
        exception(&answer),
        ("OptionNotSupported".into(), "temporalFilter".into())
    );
    assert_eq!(answer.status, 501);
}

/// [SOS2-8.0-3]
#[test]
fn an_element_that_an_operation_lacks_is_an_invalid_request() {
    let house = measured();
    for (operation, child) in [
        (
            "sos:GetObservation",
            "<x:procedure xmlns:x=\"urn:nonsense\">urn:s:north</x:procedure>",
        ),
        ("sos:GetObservation", "<procedure>urn:s:north</procedure>"),
        (
            "sos:GetObservation",
            "<swes:procedure>urn:s:north</swes:procedure>",
        ),
        ("sos:GetObservation", "<sos:template>urn:t:1</sos:template>"),
        ("sos:GetObservation", "<sos:eventTime/>"),
        (
            "sos:GetResult",
            "<sos:responseFormat>a</sos:responseFormat>",
        ),
        ("sos:GetCapabilities", "<sos:AcceptVersions/>"),
        (
            "swes:DescribeSensor",
            "<sos:procedure>urn:s:north</sos:procedure>",
        ),
        (
            "swes:DescribeSensor",
            "<sos:template>urn:t:1</sos:template>",
        ),
        ("swes:DescribeSensor", "<sos:extension/>"),
        (
            "one:GetObservation",
            "<sos:offering>urn:s:north/observations</sos:offering>",
        ),
        ("one:GetObservation", "<one:temporalFilter/>"),
        ("one:InsertObservation", "<one:Measurement/>"),
    ] {
        let inner = format!(
            r#"<{operation} service="SOS" xmlns:sos="http://www.opengis.net/sos/2.0"
            xmlns:swes="http://www.opengis.net/swes/2.0" xmlns:one="http://www.opengis.net/sos/1.0">
            {child}</{operation}>"#
        );
        let enclosed = soap::wrap(soap::Version::V12, None, "", &inner);
        let packed = exi::from_xml(inner.as_bytes()).unwrap();
        for (media, body) in [
            ("application/xml", inner.clone().into_bytes()),
            ("application/soap+xml", enclosed.into_bytes()),
            ("application/exi", packed),
        ] {
            let mut call = call("POST", media, body.into());
            call.headers
                .push(("accept".into(), "application/xml".into()));
            let answer = house.call(call);
            // In what is read no further than to the observations, these are the decoder's to refuse.
            if media == "application/xml" && operation == "one:InsertObservation" {
                continue;
            }
            assert_eq!(answer.status, 400, "{operation} {child} {media}");
            assert_eq!(
                exception(&answer).0,
                "InvalidRequest",
                "{operation} {child}"
            );
        }
    }
}

#[test]
fn other_media_and_methods_are_refused() {
    let house = measured();
    assert_eq!(house.post("text/csv", "a,b").status, 415);
    assert_eq!(house.call(call("PUT", "", Default::default())).status, 405);
    let form = "service=SOS&request=GetObservation&version=2.0.0&procedure=urn%3As%3Anorth";
    let answer = house.post("application/x-www-form-urlencoded", form);
    assert_eq!(texts(&xml(&answer), "result").len(), 3, "{}", text(&answer));
}
