#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use weir_codec::document::{exi, read_xml};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Log, Principal};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Limits, Time};
use weir_service::{AsItIs, AtOnce};

struct House {
    log: Arc<DiskLog>,
    soap: Soap,
}

fn now() -> Time {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

fn house() -> House {
    let log = Arc::new(DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap());
    let options = weir_embedded::Options::default();
    let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options).unwrap();
    let hub = Hub::start(log.clone(), Arc::new(history), Limits::default(), now()).unwrap();
    House {
        log,
        soap: Soap::new(hub),
    }
}

impl House {
    fn send(&self, method: &str, media: &str, query: &str, body: Vec<u8>) -> Response {
        let answer = self.soap.call(Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme: None,
            now: now(),
            method: method.into(),
            path: PATH.into(),
            query: vec![(query.to_owned(), String::new())],
            raw_query: String::new(),
            headers: vec![
                ("host".into(), "weir.example".into()),
                ("content-type".into(), media.into()),
            ],
            body: body.into(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        });
        let mut pending = match answer {
            Answer::Now(response) => return response,
            Answer::Later(pending) => pending,
            _ => panic!("a whole answer was wanted"),
        };
        self.log.wait_committed(self.log.head()).unwrap();
        loop {
            let mut cx = Context::from_waker(std::task::Waker::noop());
            if let Poll::Ready(response) = pending.poll(&mut cx) {
                return response;
            }
            std::thread::yield_now();
        }
    }

    fn ask(&self, version: soap::Version, body: &str) -> Response {
        let media = version.media();
        let envelope = soap::wrap(version, None, "", body);
        self.send("POST", media, "", envelope.into_bytes())
    }
}

fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.body).into_owned()
}

fn xml(response: &Response) -> Element {
    read_xml(&response.body).unwrap_or_else(|_| panic!("{}", text(response)))
}

const PUBLISH: &str = r#"<w:publish xmlns:w="urn:weir:observations"><w:topic>hall</w:topic>
  <w:observation><w:topic>hall/t</w:topic><w:type>temperature</w:type><w:number>21.5</w:number>
  <w:unit>Cel</w:unit>
  <w:time>2026-01-01T00:00:00Z</w:time><w:latitude>44.8</w:latitude><w:longitude>20.4</w:longitude></w:observation>
  <w:observation><w:topic>hall/door</w:topic><w:boolean>true</w:boolean></w:observation>
  <w:observation><w:topic>hall/note</w:topic><w:text> a &lt; b</w:text></w:observation>
  </w:publish>"#;

fn query(operation: &str, members: &str) -> String {
    format!(r#"<w:{operation} xmlns:w="urn:weir:observations">{members}</w:{operation}>"#)
}

const BOTH: [soap::Version; 2] = [soap::Version::V11, soap::Version::V12];

#[test]
fn what_is_published_is_read_with_its_type_in_both_versions() {
    let house = house();
    for version in BOTH {
        let answer = house.ask(version, PUBLISH);
        assert_eq!(answer.status, 200, "{}", text(&answer));
        assert!(xml(&answer).is(version.namespace(), "Envelope"));
        let all = query("latest", "<w:filter>hall/#</w:filter>");
        let root = xml(&house.ask(version, &all));
        let answer = root.find("latestResponse").unwrap();
        let of = |topic: &str| {
            let mut all = answer.all("observation");
            all.find(|own| own.child("topic").unwrap().text() == topic)
                .unwrap()
        };
        assert_eq!(of("hall/t").child("number").unwrap().text(), "21.5");
        assert_eq!(of("hall/t").child("longitude").unwrap().text(), "20.4");
        assert_eq!(of("hall/door").child("boolean").unwrap().text(), "true");
        assert_eq!(of("hall/note").child("text").unwrap().content(), " a < b");
    }
}

/// O&M's further properties (ISO 19156 section 7.2.2).
const WHOLE: &str = "<w:end>2026-01-01T00:00:30Z</w:end>\
  <w:resultTime>2026-01-01T00:01:00Z</w:resultTime>\
  <w:validTime><w:from>2026-01-01T00:00:00Z</w:from><w:to>2026-01-02T00:00:00Z</w:to></w:validTime>\
  <w:quality>good &amp; checked</w:quality><w:parameters>{&quot;depth&quot;:1.5}</w:parameters>";

fn with_whole(members: &str) -> String {
    let feature = "<w:feature>urn:hall</w:feature>";
    PUBLISH.replacen(
        "</w:observation>",
        &format!("{feature}{members}</w:observation>"),
        1,
    )
}

#[test]
fn all_of_an_observation_comes_back_in_the_schemas_order() {
    let house = house();
    let answer = house.ask(soap::Version::V12, &with_whole(WHOLE));
    assert_eq!(answer.status, 200, "{}", text(&answer));
    let asked = query("history", "<w:filter>hall/t</w:filter>");
    let told = text(&house.ask(soap::Version::V11, &asked));
    let ordered = format!("<w:feature>urn:hall</w:feature>{WHOLE}</w:observation>");
    assert!(told.contains(&ordered), "{told}");
}

#[test]
fn what_is_wrong_with_a_further_property_is_told_by_its_name() {
    let house = house();
    for (members, said) in [
        ("<w:end>soon</w:end>", "`end`"),
        (
            "<w:validTime><w:from>2026-01-01T00:00:00Z</w:from></w:validTime>",
            "needs `from` and `to`",
        ),
        (
            "<w:parameters>[1]</w:parameters>",
            "`parameters`: an object was expected",
        ),
        ("<w:parameters>{</w:parameters>", "`parameters`"),
    ] {
        let answer = house.ask(soap::Version::V12, &with_whole(members));
        assert_eq!(answer.status, 400, "{members}");
        let reason = xml(&answer).find("Text").unwrap().text();
        assert!(
            reason.contains("observation 1") && reason.contains(said),
            "{reason}"
        );
    }
}

#[test]
fn a_client_writes_what_the_service_takes() {
    let house = house();
    let root = xml(&house.ask(soap::Version::V12, &with_whole(WHOLE)));
    assert!(root.find("cursor").is_some());
    let all = query("latest", "<w:filter>hall/#</w:filter>");
    let read = client::observations(xml(&house.ask(soap::Version::V11, &all))).unwrap();
    assert_eq!(read.len(), 3);
    let again = client::publish(soap::Version::V12, "hall", &read);
    let sent = house.send(
        "POST",
        "application/soap+xml",
        "",
        again.clone().into_bytes(),
    );
    assert_eq!(sent.status, 200, "{}", text(&sent));
    let same = client::observations(read_xml(again.as_bytes()).unwrap()).unwrap();
    let rows = |batch: &weir_model::Batch| {
        batch
            .rows()
            .map(|row| format!("{row:?}"))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&same), rows(&read));
    let fault = xml(&house.ask(soap::Version::V12, &query("latest", "")));
    assert_eq!(
        client::observations(fault).unwrap_err(),
        "latest needs `filter`"
    );
}

#[test]
fn the_past_comes_in_pages_and_datastreams_are_described() {
    let house = house();
    for value in 0..3 {
        let body = PUBLISH
            .replace("21.5", &value.to_string())
            .replace("T00:00", &format!("T00:0{value}"));
        assert_eq!(house.ask(soap::Version::V12, &body).status, 200);
    }
    let first = query("history", "<w:filter>hall/t</w:filter><w:limit>2</w:limit>");
    let root = xml(&house.ask(soap::Version::V12, &first));
    let next = root.find("next").unwrap().text();
    let rest = format!("<w:filter>hall/t</w:filter><w:limit>2</w:limit><w:page>{next}</w:page>");
    let root = xml(&house.ask(soap::Version::V12, &query("history", &rest)));
    assert_eq!(root.find("number").unwrap().text(), "2");
    assert!(root.find("next").is_none());
    let root = xml(&house.ask(
        soap::Version::V11,
        &query("describe", "<w:filter>hall/t</w:filter>"),
    ));
    assert_eq!(root.find("type").unwrap().text(), "temperature");
}

#[test]
fn an_envelope_in_exi_is_answered_in_exi() {
    let house = house();
    let envelope = soap::wrap(soap::Version::V12, None, "", PUBLISH);
    let packed = exi::from_xml(envelope.as_bytes()).unwrap();
    let answer = house.send("POST", "application/exi", "", packed);
    assert_eq!(answer.status, 200);
    assert!(exi::read(&answer.body).unwrap().find("cursor").is_some());
}

#[test]
fn a_repeat_under_the_same_key_is_stored_once() {
    let house = house();
    let topic = "<w:topic>hall</w:topic>";
    let keyed = PUBLISH.replace(topic, &format!("{topic}<w:key>k1</w:key>"));
    let cursor = |body: &str| {
        let answer = house.ask(soap::Version::V12, body);
        assert_eq!(answer.status, 200, "{}", text(&answer));
        xml(&answer).find("cursor").unwrap().text()
    };
    assert_eq!(cursor(&keyed), cursor(&keyed));
}

#[test]
fn what_is_wrong_is_a_fault_of_the_sender() {
    let house = house();
    let wrong_number = PUBLISH.replace("21.5", "warm");
    let no_value_place = PUBLISH.replace("<w:longitude>20.4</w:longitude>", "");
    let elsewhere = PUBLISH.replace("hall/t<", "attic/t<");
    let unknown = query("fly", "");
    let reversed = query(
        "history",
        "<w:filter>#</w:filter><w:from>2026-01-02T00:00:00Z</w:from>\
         <w:to>2026-01-01T00:00:00Z</w:to>",
    );
    for body in [
        wrong_number,
        no_value_place,
        elsewhere,
        unknown,
        reversed,
        query("latest", ""),
        query("latest", "<w:filter>a#</w:filter>"),
        query("publish", "<w:topic>a</w:topic>"),
        PUBLISH.replace("urn:weir:observations", "urn:other"),
        PUBLISH.replace("<w:unit>", "<w:unit xmlns:w=\"urn:other\">"),
        PUBLISH.replacen(
            "<w:observation>",
            "<w:observation xmlns=\"urn:other\"><sensor/>",
            1,
        ),
        with_whole(&WHOLE.replace("<w:from>", "<w:from xmlns:w=\"urn:other\">")),
        query("latest", "<filter>#</filter>"),
    ] {
        for (version, status, code) in [
            (soap::Version::V11, 500, "env:Client"),
            (soap::Version::V12, 400, "env:Sender"),
        ] {
            let answer = house.ask(version, &body);
            assert_eq!(answer.status, status, "{body}");
            let root = xml(&answer);
            let name = if version == soap::Version::V11 {
                "faultcode"
            } else {
                "Value"
            };
            assert_eq!(root.find(name).unwrap().text(), code);
        }
    }
}

#[test]
fn nothing_that_is_sent_is_passed_over() {
    let house = house();
    let row = |members: &str| PUBLISH.replacen("<w:unit>", &format!("{members}<w:unit>"), 1);
    let topic = "<w:topic>hall</w:topic>";
    for (body, said) in [
        (row("<w:colour>red</w:colour>"), "observation 1: `colour`"),
        (
            row("<w:unit>K</w:unit>"),
            "observation 1: `unit` is there twice",
        ),
        (row("<w:number>3</w:number>"), "`number` is there twice"),
        (row("<w:text>warm</w:text>"), "`number` and `text` are two"),
        (row("<w:sensor><w:topic/></w:sensor>"), "holds `topic`"),
        (
            PUBLISH.replacen(topic, &topic.repeat(2), 1),
            "`topic` is there twice",
        ),
        (
            PUBLISH.replacen(topic, &format!("{topic}<w:qos>1</w:qos>"), 1),
            "`qos` is no",
        ),
        (
            with_whole(&WHOLE.replacen("<w:to>", "<w:until/><w:to>", 1)),
            "`until` is no member of `validTime`, which has from, to",
        ),
        (
            query(
                "history",
                "<w:filter>#</w:filter><w:form>2026-01-01T00:00:00Z</w:form>",
            ),
            "`form` is no member of `history`, which has filter, from, to, limit, page",
        ),
        (
            query("latest", "<w:filter>#</w:filter><w:limit>1</w:limit>"),
            "`limit`",
        ),
        (
            format!("{PUBLISH}{PUBLISH}"),
            "Body has more than one element",
        ),
    ] {
        let answer = house.ask(soap::Version::V12, &body);
        let told = text(&answer);
        assert_eq!(answer.status, 400, "{body}: {told}");
        assert!(
            xml(&answer).find("Text").unwrap().text().contains(said),
            "{told}"
        );
    }
    let all = query("latest", "<w:filter>#</w:filter>");
    assert!(
        xml(&house.ask(soap::Version::V12, &all))
            .find("observation")
            .is_none()
    );
}

#[test]
fn an_answer_is_wanted_by_who_asks_or_it_is_a_fault() {
    let house = house();
    let anonymous = "http://www.w3.org/2005/08/addressing/anonymous";
    let asked = |name: &str, address: &str| {
        let (head, tail) = soap::around(soap::Version::V12, Some("urn:m"), "");
        let wanted = format!("<wsa:{name}><wsa:Address>{address}</wsa:Address></wsa:{name}>");
        let head = head.replace("</env:Header>", &format!("{wanted}</env:Header>"));
        let body = format!("{head}{PUBLISH}{tail}");
        house.send("POST", "application/soap+xml", "", body.into_bytes())
    };
    for name in ["ReplyTo", "FaultTo"] {
        assert_eq!(asked(name, anonymous).status, 200);
        let refused = asked(name, "http://192.0.2.1/elsewhere");
        assert_eq!(refused.status, 400);
        let told = text(&refused);
        let codes = [
            "<env:Value>env:Sender</env:Value><env:Subcode>",
            "wsa:InvalidAddressingHeader</env:Value><env:Subcode>",
            "wsa:OnlyAnonymousAddressSupported</env:Value></env:Subcode></env:Subcode></env:Code>",
        ];
        for code in codes {
            assert!(told.contains(code), "{code} in {told}");
        }
        assert!(told.contains("http://192.0.2.1/elsewhere"), "{told}");
    }
}

#[test]
fn bombs_and_what_is_no_envelope_are_faults() {
    let house = house();
    let envelope = soap::wrap(soap::Version::V12, None, "", PUBLISH);
    let bomb = format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{envelope}");
    let must = envelope.replace(
        "<env:Body>",
        "<env:Header><x:y xmlns:x=\"urn:x\" env:mustUnderstand=\"true\"/></env:Header><env:Body>",
    );
    for (body, code) in [
        (bomb, "env:Sender"),
        ("<a/>".into(), "env:VersionMismatch"),
        (must, "env:MustUnderstand"),
        (String::new(), "env:Sender"),
    ] {
        let answer = house.send("POST", "application/soap+xml", "", body.into_bytes());
        let root = xml(&answer);
        let found = root
            .find("Value")
            .or_else(|| root.find("faultcode"))
            .unwrap();
        assert_eq!(found.text(), code);
    }
}

#[test]
fn the_wsdl_names_every_operation_and_where_the_service_is() {
    let answer = house().send("GET", "", "wsdl", Vec::new());
    let root = xml(&answer);
    assert_eq!(root.all("message").count(), OPERATIONS.len() * 2);
    let address = root
        .find("address")
        .unwrap()
        .attribute("location")
        .unwrap()
        .to_owned();
    assert_eq!(address, "http://weir.example/soap/observations");
    assert_eq!(house().send("GET", "", "", Vec::new()).status, 405);
}

#[test]
fn a_long_envelope_is_read_by_a_worker_and_a_short_one_at_once() {
    let house = house();
    for (spaces, handed_over) in [(0, 0), (AT_ONCE_BYTES, 1)] {
        let drawer = Arc::new(weir_service::Drawer::default());
        let body = query("nothing", &" ".repeat(spaces));
        let answer = house.soap.call(Call {
            principal: Principal::unrestricted(),
            peer: None,
            scheme: None,
            now: now(),
            method: "POST".into(),
            path: PATH.into(),
            query: Vec::new(),
            raw_query: String::new(),
            headers: vec![("content-type".into(), soap::Version::V12.media().into())],
            body: soap::wrap(soap::Version::V12, None, "", &body).into(),
            wrapper: Arc::new(AsItIs),
            workers: drawer.clone(),
            websocket: None,
            incoming: Default::default(),
        });
        assert_eq!(drawer.work_off(), handed_over);
        let response = match answer {
            Answer::Now(response) => response,
            Answer::Later(mut pending) => {
                let mut cx = Context::from_waker(std::task::Waker::noop());
                match pending.poll(&mut cx) {
                    Poll::Ready(response) => response,
                    Poll::Pending => panic!("the work is done"),
                }
            }
            _ => panic!("a whole answer was wanted"),
        };
        assert!(
            text(&response).contains("there is no operation"),
            "{}",
            text(&response)
        );
    }
}
