//! A datastream whose sensor, property or unit changed: what each procedure observed is asked by its name.

use super::house::{House, exception, house, now, text, texts, xml};
use weir_codec::document::Element;
use weir_model::Datastream;

const OLD: &str = "urn:s:old";
const NEW: &str = "urn:s:new";
const PROPERTY: &str = "urn:p:depth";

/// A gauge in metres, that was replaced by another in centimetres, which observes depth later on.
fn replaced() -> House {
    let house = house();
    for (second, value, said) in [
        (
            1,
            "1.5",
            r#""sensor":"urn:s:old","type":"level","unit":"m""#,
        ),
        (4, "50", r#""sensor":"urn:s:new","unit":"cm""#),
        (7, "9", r#""type":"urn:p:depth","unit":"mm""#),
        (2, "2.5", r#""feature":"urn:f:bank""#),
        (5, "51", r#""feature":"urn:f:bank""#),
        (8, "8", r#""feature":"urn:f:bank""#),
    ] {
        let body = format!(
            r#"{{"observations":[{{"topic":"river/level","value":{value},{said},
                "time":"2026-01-01T00:00:0{second}Z"}}]}}"#
        );
        house.publish("#", &body);
    }
    house
}

fn values(house: &House, query: &str) -> Vec<String> {
    let root = house.document(&format!("request=GetObservation&version=2.0.0&{query}"));
    let mut values = texts(&root, "result");
    values.sort_unstable();
    values
}

/// Before and after a restart.
fn each_start(check: impl Fn(&House)) {
    let house = replaced();
    check(&house);
    check(&house.reopened());
}

#[test]
fn each_procedure_and_property_has_what_was_observed_of_it() {
    each_start(|house| {
        for (query, expected) in [
            ("procedure=urn:s:old", &["1.5", "2.5"][..]),
            ("offering=urn:s:old/observations", &["1.5", "2.5"]),
            ("procedure=urn:s:new", &["50", "51", "8", "9"]),
            ("procedure=urn:s:new&observedProperty=level", &["50", "51"]),
            ("observedProperty=urn:p:depth", &["8", "9"]),
            ("observedProperty=level", &["1.5", "2.5", "50", "51"]),
            ("procedure=urn:s:old&featureOfInterest=urn:f:bank", &["2.5"]),
            ("", &["1.5", "2.5", "50", "51", "8", "9"]),
        ] {
            assert_eq!(values(house, query), expected, "{query}");
        }
        let nothing = "request=GetObservation&version=2.0.0&procedure=urn:s:old\
                       &observedProperty=urn:p:depth";
        assert_eq!(texts(&house.document(nothing), "result").len(), 0);
        let old = "request=GetObservation&version=1.0.0&offering=urn:s:old/observations\
                   &observedProperty=level&responseFormat=text/xml;subtype=\"om/1.0.0\"";
        let blocks = texts(&house.document(old), "values").concat();
        assert!(blocks.contains("1.5") && blocks.contains("2.5"), "{blocks}");
        assert!(!blocks.contains("50"), "{blocks}");
    });
}

#[test]
fn each_series_has_a_last_and_a_first_observation() {
    each_start(|house| {
        let last = values(house, "temporalFilter=om:phenomenonTime,latest");
        assert_eq!(last, ["2.5", "51", "8"]);
        let first = values(house, "temporalFilter=om:phenomenonTime,first");
        assert_eq!(first, ["1.5", "50", "9"]);
        let of_old = "procedure=urn:s:old&temporalFilter=om:phenomenonTime";
        assert_eq!(values(house, &format!("{of_old},latest")), ["2.5"]);
        assert_eq!(values(house, &format!("{of_old},first")), ["1.5"]);
    });
}

/// The text of an element below each element of a name.
fn each<'e>(root: &'e Element, of: &str, name: &str) -> Vec<(String, &'e Element)> {
    let mut found = Vec::new();
    let mut ahead = vec![root];
    while let Some(element) = ahead.pop() {
        if element.local == of {
            let named = element.find(name).expect(name);
            let href = named.attribute("href").map(str::to_owned);
            found.push((href.unwrap_or_else(|| named.text()), element));
        }
        ahead.extend(element.elements());
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

#[test]
fn each_offering_has_its_properties_and_its_time() {
    each_start(|house| {
        for (version, procedure) in [("2.0.0", "identifier"), ("1.0.0", "name")] {
            let query = format!("request=GetCapabilities&acceptVersions={version}");
            let root = house.document(&query);
            let offerings = each(&root, "ObservationOffering", procedure);
            let told = offerings.iter().map(|(id, offering)| {
                let begin = offering.find("beginPosition").unwrap().text();
                let end = offering.find("endPosition").unwrap().text();
                let properties = ["observableProperty", "observedProperty"];
                let count = properties.map(|name| offering.all(name).count());
                (&**id, begin, end, count[0] + count[1])
            });
            let at = |second: u8| format!("2026-01-01T00:00:0{second}Z");
            let expected = [
                ("urn:s:new/observations", at(4), at(8), 2),
                ("urn:s:old/observations", at(1), at(2), 1),
            ];
            assert_eq!(told.collect::<Vec<_>>(), expected, "{version}");
        }
    });
}

#[test]
fn the_availability_of_each_series_is_its_own() {
    each_start(|house| {
        let query =
            "request=GetDataAvailability&version=2.0.0&featureOfInterest=urn:weir:feature:river";
        let root = house.document(query);
        let told = each(&root, "dataAvailabilityMember", "beginPosition");
        let told = told.into_iter().map(|(begin, member)| {
            let of = |name: &str| member.child(name).unwrap().attribute("href").unwrap();
            let end = member.find("endPosition").unwrap().text();
            (
                of("procedure"),
                of("observedProperty"),
                begin[17..19].to_owned(),
                end[17..19].to_owned(),
            )
        });
        let told: Vec<_> = told.collect();
        let expected = [
            (OLD, "level", "01".into(), "02".into()),
            (NEW, "level", "04".into(), "05".into()),
            (NEW, PROPERTY, "07".into(), "08".into()),
        ];
        assert_eq!(told, expected);
    });
}

#[test]
fn a_template_and_its_results_are_of_one_series_and_one_unit() {
    each_start(|house| {
        for (offering, property, unit, expected) in [
            ("urn:s:old/observations", "level", "m", ["1.5", "2.5"]),
            ("urn:s:new/observations", "level", "cm", ["50", "51"]),
            ("urn:s:new/observations", PROPERTY, "mm", ["9", "8"]),
        ] {
            let of = format!("version=2.0.0&offering={offering}&observedProperty={property}");
            let template = house.document(&format!("request=GetResultTemplate&{of}"));
            let quantity = template.find("Quantity").unwrap();
            let code = quantity.child("uom").unwrap().attribute("code");
            assert_eq!(code, Some(unit), "{offering}");
            let results = house.document(&format!("request=GetResult&{of}"));
            let values = results.find("resultValues").unwrap().text();
            let told: Vec<_> = values.lines().skip(1).collect();
            let told: Vec<_> = told
                .iter()
                .filter_map(|line| line.split_once(','))
                .collect();
            let told: Vec<_> = told.iter().map(|(_, value)| *value).collect();
            assert_eq!(told, expected, "{offering}");
        }
        let templates = house.document(
            "request=GetObservation&version=1.0.0&offering=urn:s:old/observations\
             &observedProperty=level&responseFormat=text/xml;subtype=\"om/1.0.0\"\
             &responseMode=resultTemplate",
        );
        let id = templates
            .find("Observation")
            .unwrap()
            .attribute("id")
            .unwrap();
        let results = house.document(&format!(
            "request=GetResult&version=1.0.0&ObservationTemplateId={id}"
        ));
        let told = results.find("result").unwrap().text();
        assert!(told.contains("1.5") && !told.contains("50"), "{told}");
    });
}

#[test]
fn results_of_one_procedure_are_in_its_newest_unit_or_refused() {
    let house = house();
    let publish = |second: u8, value: &str, unit: &str| {
        let body = format!(
            r#"{{"observations":[{{"topic":"river/level","value":{value},"unit":"{unit}",
                "sensor":"urn:s:old","type":"level","time":"2026-01-01T00:00:0{second}Z"}}]}}"#
        );
        house.publish("#", &body);
    };
    publish(1, "1.5", "m");
    publish(2, "50", "cm");
    let of = "version=2.0.0&offering=urn:s:old/observations&observedProperty=level";
    let results = house.document(&format!("request=GetResult&{of}"));
    let told = results.find("resultValues").unwrap().text();
    let told: Vec<_> = told
        .lines()
        .filter_map(|line| line.split_once(','))
        .collect();
    assert_eq!(
        told.iter().map(|(_, value)| *value).collect::<Vec<_>>(),
        ["150", "50"]
    );
    assert_eq!(values(&house, "procedure=urn:s:old"), ["1.5", "50"]);
    publish(3, "4", "V");
    for request in ["GetResult", "GetResultTemplate"] {
        let refused = house.refused(&format!("request={request}&{of}"));
        assert_eq!(
            refused,
            ("InvalidParameterValue".into(), "observedProperty".into())
        );
    }
}

#[test]
fn a_filter_compares_in_the_unit_of_the_series() {
    let house = replaced();
    let request = r#"<GetObservation xmlns="http://www.opengis.net/sos/1.0" service="SOS" version="1.0.0"
        xmlns:ogc="http://www.opengis.net/ogc"><offering>urn:s:OWN/observations</offering>
        <observedProperty>level</observedProperty><result><ogc:PropertyIsGreaterThan>
        <ogc:PropertyName>level</ogc:PropertyName><ogc:Literal>2</ogc:Literal></ogc:PropertyIsGreaterThan></result>
        <responseFormat>text/xml;subtype="om/1.0.0"</responseFormat></GetObservation>"#;
    for (own, number, expected) in [("old", "2", "2.5"), ("new", "50", "51")] {
        let request = request
            .replace("OWN", own)
            .replace(">2<", &format!(">{number}<"));
        let answer = house.post("application/xml", request);
        let values = texts(&xml(&answer), "values").concat();
        let told: Vec<_> = values.split(['@', ';', '\n']).map(str::trim).collect();
        let told: Vec<_> = told.iter().filter(|line| !line.is_empty()).collect();
        assert!(
            told.len() == 1 && told[0].ends_with(expected),
            "{own}: {}",
            text(&answer)
        );
    }
}

fn described(house: &House, query: &str) -> Element {
    house.document(&format!(
        "request=DescribeSensor&version=2.0.0\
         &procedureDescriptionFormat=http://www.opengis.net/sensorml/2.0&{query}"
    ))
}

/// [SOS2-8.2-4]
#[test]
fn a_procedure_is_described_as_it_was_at_a_time() {
    each_start(|house| {
        let outputs = |root: &Element| {
            let all = each(root, "output", "uom").into_iter();
            let of = |(_, output): (String, &Element)| {
                let quantity = output.find("Quantity").unwrap();
                let code = quantity.child("uom").unwrap().attribute("code").unwrap();
                format!("{} {code}", quantity.attribute("definition").unwrap())
            };
            all.map(of).collect::<Vec<_>>()
        };
        let valid = |root: &Element| {
            let time = root
                .find("SensorDescription")
                .unwrap()
                .child("validTime")
                .unwrap();
            ["beginPosition", "endPosition"].map(|name| {
                let position = time.find(name).unwrap();
                let open = position.attribute("indeterminatePosition");
                open.map_or_else(|| position.text(), str::to_owned)
            })
        };
        let at = |second: u8| format!("2026-01-01T00:00:0{second}Z");
        let now = described(house, "procedure=urn:s:new");
        assert_eq!(outputs(&now), ["urn:p:depth mm"]);
        assert_eq!(valid(&now), [at(7), "now".into()]);
        let old = described(house, "procedure=urn:s:old");
        assert_eq!(outputs(&old), ["level m"]);
        assert_eq!(valid(&old), ["unknown".into(), at(4)]);
        let then = described(house, &format!("procedure=urn:s:new&validTime={}", at(5)));
        assert_eq!(outputs(&then), ["level cm"]);
        assert_eq!(valid(&then), [at(4), at(7)]);
        let both = format!("procedure=urn:s:new&validTime={}/{}", at(5), at(9));
        let both = described(house, &both);
        assert_eq!(both.all("description").count(), 2);
        for format in [
            "http://www.opengis.net/sensorml/2.0",
            "http://www.opengis.net/sensorML/1.0.1",
        ] {
            let before = format!(
                "request=DescribeSensor&version=2.0.0&procedureDescriptionFormat={format}\
                 &procedure=urn:s:new&validTime={}",
                at(2)
            );
            let expected = ("InvalidParameterValue".into(), "validTime".into());
            assert_eq!(house.refused(&before), expected);
        }
    });
}

fn insert(procedure: &str, second: u8, uom: &str) -> String {
    format!(
        r#"<sos:InsertObservation service="SOS" version="2.0.0" xmlns:sos="http://www.opengis.net/sos/2.0"
        xmlns:om="http://www.opengis.net/om/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"
        xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
        <sos:offering>{procedure}/observations</sos:offering><sos:observation><om:OM_Observation gml:id="o">
        <om:phenomenonTime><gml:TimeInstant gml:id="t"><gml:timePosition>2026-01-01T00:00:0{second}Z</gml:timePosition>
        </gml:TimeInstant></om:phenomenonTime><om:procedure xlink:href="{procedure}"/>
        <om:observedProperty xlink:href="level"/><om:featureOfInterest xlink:href="urn:f:river"/>
        <om:result xsi:type="gml:MeasureType" uom="{uom}">7</om:result></om:OM_Observation></sos:observation>
        </sos:InsertObservation>"#
    )
}

#[test]
fn late_observations_of_an_earlier_sensor_are_its_own() {
    let house = replaced();
    let answer = house.post("application/xml", insert(OLD, 3, "m"));
    assert_eq!(answer.status, 200, "{}", text(&answer));
    assert_eq!(values(&house, "procedure=urn:s:old"), ["1.5", "2.5", "7"]);
    assert_eq!(values(&house, "procedure=urn:s:new").len(), 4);
    let of_old = "procedure=urn:s:old&temporalFilter=om:phenomenonTime,latest";
    assert_eq!(values(&house, of_old), ["7"]);
}

#[test]
fn a_sensor_is_not_deleted_with_what_another_observed() {
    let house = replaced();
    for procedure in [OLD, NEW] {
        let answer = house.post(
            "application/xml",
            format!(
                r#"<swes:DeleteSensor service="SOS" version="2.0.0" xmlns:swes="http://www.opengis.net/swes/2.0">
                <swes:procedure>{procedure}</swes:procedure></swes:DeleteSensor>"#
            ),
        );
        let expected = ("InvalidParameterValue".into(), "procedure".into());
        assert_eq!(exception(&answer), expected);
    }
    assert_eq!(values(&house, "").len(), 6);
}

#[test]
fn an_observation_is_found_by_its_identifier_by_anybody() {
    let house = replaced();
    let root = house.document("request=GetObservation&version=2.0.0&procedure=urn:s:old");
    for id in texts(&root, "identifier") {
        let root = house.document(&format!(
            "request=GetObservationById&version=2.0.0&observation={id}"
        ));
        let procedure = root.find("procedure").unwrap().attribute("href");
        assert_eq!(procedure, Some(OLD), "{id}");
    }
}

#[test]
fn a_declared_datastream_takes_late_observations_as_of_then() {
    let house = replaced();
    let declared = Datastream {
        sensor: Some(NEW.into()),
        property: Some(PROPERTY.into()),
        unit: Some("mm".into()),
        ..Datastream::default()
    };
    let gateway = house.hub.internal().at(now());
    let ticket = gateway.change("river/level", Some(declared)).unwrap();
    house.log.wait_committed(ticket.cursor()).unwrap();
    let late = house.post("application/xml", insert(OLD, 3, "m"));
    assert_eq!(late.status, 200, "{}", text(&late));
    let new = house.post("application/xml", insert(OLD, 9, "m"));
    assert_eq!(exception(&new).0, "InvalidParameterValue");
    assert_eq!(values(&house, "procedure=urn:s:old"), ["1.5", "2.5", "7"]);
}
