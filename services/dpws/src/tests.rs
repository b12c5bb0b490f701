#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::eventing::MANAGER;
use crate::limits::{ENVELOPE_BYTES_MAX, SUBSCRIPTIONS_OF_ONE_MAX};
use crate::metadata::HOSTED;
use crate::names::{EVENTING, EXCHANGE, GENERATIONS, Generation, OASIS, TRANSFER, XMLSOAP};
use std::net::IpAddr;
use weir_binding::{AsItIs, AtOnce, Response};
use weir_codec::document::addressing::{Header, Properties};
use weir_codec::document::soap::Version;
use weir_codec::document::{Element, read_xml};
use weir_embedded::EmbeddedHistory;
use weir_hub::Grants;
use weir_hub::Principal;
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::Limits;

/// In the place of the plain web service.
struct Operations;

impl Service for Operations {
    fn name(&self) -> &'static str {
        "soap"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &["/soap"]
    }

    fn call(&self, call: Call) -> Answer {
        Answer::Now(Response::text(200, format!("operation at {}", call.path)))
    }
}

fn now() -> Time {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

fn peer() -> Option<IpAddr> {
    Some("192.0.2.9".parse().unwrap())
}

struct House {
    dpws: Dpws,
    who: Principal,
}

fn house() -> House {
    let log = Arc::new(DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap());
    let options = weir_embedded::Options::default();
    let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options).unwrap();
    let hub = Hub::start(log, Arc::new(history), Limits::default(), now()).unwrap();
    let mut section = Section::new("dpws");
    section.set("scopes", "urn:weir:test");
    House {
        dpws: Dpws::configure(hub, section, Arc::new(Operations)).unwrap(),
        who: Principal::unrestricted(),
    }
}

impl House {
    fn send(&self, method: &str, path: &str, body: &[u8]) -> Response {
        let answer = self.dpws.call(Call {
            principal: self.who.clone(),
            peer: peer(),
            scheme: None,
            now: now(),
            method: method.into(),
            path: path.into(),
            query: vec![("wsdl".to_owned(), String::new())],
            raw_query: String::new(),
            headers: vec![("host".into(), "weir.example".into())],
            body: body.to_vec().into(),
            wrapper: Arc::new(AsItIs),
            workers: Arc::new(AtOnce),
            websocket: None,
            incoming: Default::default(),
        });
        match answer {
            Answer::Now(response) => response,
            _ => panic!("a whole answer was wanted"),
        }
    }

    fn ask(&self, generation: &Generation, path: &str, action: &str, body: &str) -> Response {
        self.send("POST", path, message(generation, action, body).as_bytes())
    }

    fn subscribe(&self, members: &str) -> Response {
        let body = format!(
            "<e:Subscribe xmlns:e=\"{EVENTING}\" xmlns:a=\"{}\">{members}</e:Subscribe>",
            OASIS.addressing
        );
        self.ask(&OASIS, HOSTED, &format!("{EVENTING}/Subscribe"), &body)
    }

    fn manage(&self, path: &str, name: &str, members: &str) -> Response {
        let body = format!("<e:{name} xmlns:e=\"{EVENTING}\">{members}</e:{name}>");
        self.ask(&OASIS, path, &format!("{EVENTING}/{name}"), &body)
    }
}

fn message(generation: &Generation, action: &str, body: &str) -> String {
    let header = Header {
        namespace: generation.addressing,
        to: "http://weir.example/dpws",
        action,
        message_id: Some("urn:uuid:1"),
        ..Header::default()
    };
    header.around(Version::V12, body)
}

fn xml(response: &Response) -> Element {
    let text = String::from_utf8_lossy(&response.body).into_owned();
    read_xml(&response.body).unwrap_or_else(|_| panic!("{text}"))
}

/// The innermost code of a fault, without its prefix.
fn fault(response: &Response) -> String {
    let root = xml(response);
    let mut code = root.find("Code").unwrap();
    while let Some(closer) = code.child("Subcode") {
        code = closer;
    }
    let value = code.child("Value").unwrap().text();
    value.rsplit(':').next().unwrap().to_owned()
}

const SINK: &str = "<e:Delivery><e:NotifyTo><a:Address>http://192.0.2.9:9/</a:Address>\
                    </e:NotifyTo></e:Delivery>";

#[test]
fn the_device_says_what_it_is_in_either_generation() {
    let house = house();
    for generation in GENERATIONS {
        let action = format!("{TRANSFER}/Get");
        let answer = house.ask(generation, PATH, &action, "");
        assert_eq!(answer.status, 200);
        let root = xml(&answer);
        let properties = Properties::of(&root);
        assert_eq!(properties.namespace, generation.addressing);
        assert_eq!(properties.action.unwrap(), format!("{action}Response"));
        assert_eq!(root.find("RelatesTo").unwrap().text(), "urn:uuid:1");
        let dialects: Vec<_> = root.find("Metadata").unwrap().elements().collect();
        let of = |name: &str| {
            let dialect = format!("{}/{name}", generation.profile);
            let mut sections = dialects.iter();
            sections.any(|own| own.attribute("Dialect") == Some(&dialect))
        };
        assert!(of("ThisModel") && of("ThisDevice") && of("Relationship"));
        let device = house.dpws.house.device(now());
        let host = root.find("Host").unwrap().find("Address").unwrap().text();
        assert_eq!(host, device.address);
        let hosted = root.find("Hosted").unwrap().find("Address").unwrap().text();
        assert_eq!(hosted, format!("http://weir.example{HOSTED}"));
    }
}

#[test]
fn the_hosted_service_has_a_wsdl_and_says_where() {
    let house = house();
    let action = format!("{EXCHANGE}/GetMetadata/Request");
    let root = xml(&house.ask(&OASIS, HOSTED, &action, ""));
    let location = root.find("Location").unwrap().text();
    assert_eq!(location, format!("http://weir.example{HOSTED}?wsdl"));
    let wsdl = xml(&house.send("GET", HOSTED, b""));
    let port = wsdl.find("portType").unwrap();
    assert_eq!(port.attribute("EventSource"), Some("true"));
}

#[test]
fn a_start_has_a_greater_number_whatever_the_clock_says() {
    let hub = house().dpws.house.hub.clone();
    let before = now().plus_nanos(-3_600_000_000_000);
    let later = now().plus_nanos(3_600_000_000_000);
    let numbers = [now(), before, now(), later].map(|at| instance(&hub, at));
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
}

#[test]
fn metadata_of_one_dialect_is_given_alone() {
    let house = house();
    let action = format!("{EXCHANGE}/GetMetadata/Request");
    let dialects = |path: &str, members: &str| {
        let body = format!("<x:GetMetadata xmlns:x=\"{EXCHANGE}\">{members}</x:GetMetadata>");
        let root = xml(&house.ask(&OASIS, path, &action, &body));
        let sections = root.find("Metadata").unwrap().elements();
        let dialect = |own: &Element| own.attribute("Dialect").unwrap().to_owned();
        sections.map(dialect).collect::<Vec<_>>()
    };
    let model = format!("{}/ThisModel", OASIS.profile);
    let of = |dialect: &str| format!("<x:Dialect>{dialect}</x:Dialect>");
    assert_eq!(
        (dialects(PATH, "").len(), dialects(HOSTED, "").len()),
        (3, 2)
    );
    assert_eq!(dialects(PATH, &of(&model)), [&*model]);
    let wsdl = "http://schemas.xmlsoap.org/wsdl/";
    assert_eq!(dialects(HOSTED, &of(wsdl)), [wsdl]);
    assert!(dialects(HOSTED, &of(&model)).is_empty());
    assert!(dialects(PATH, "<x:Identifier>urn:x</x:Identifier>").is_empty());
}

#[test]
fn what_is_no_action_of_the_profile_is_an_operation() {
    let house = house();
    for body in [
        message(&OASIS, "urn:weir:observations#latest", "<a/>"),
        Header::default().around(Version::V11, "<a/>"),
    ] {
        let answer = house.send("POST", HOSTED, body.as_bytes());
        assert_eq!(answer.body, "operation at /soap/observations\n");
    }
}

#[test]
fn a_directed_question_is_answered_even_where_another_is_meant() {
    let house = house();
    for generation in GENERATIONS {
        let action = format!("{}/Probe", generation.discovery);
        let probe = |members: &str| {
            let uri = generation.discovery;
            let body = format!("<d:Probe xmlns:d=\"{uri}\">{members}</d:Probe>");
            house.ask(generation, PATH, &action, &body)
        };
        let found = xml(&probe("<d:Scopes>urn:weir:test</d:Scopes>"));
        let address = found.find("XAddrs").unwrap().text();
        assert_eq!(address, "http://weir.example/dpws");
        let none = xml(&probe("<d:Scopes>urn:other</d:Scopes>"));
        assert!(none.find("ProbeMatches").unwrap().first().is_none());
        let refused = probe("<d:Scopes MatchBy=\"urn:x\">urn:other</d:Scopes>");
        assert_eq!(fault(&refused), "MatchingRuleNotSupported");
    }
}

#[test]
fn a_subscription_lives_from_subscribe_to_unsubscribe() {
    let house = house();
    let answer = house.subscribe(&format!("{SINK}<e:Expires>PT60S</e:Expires>"));
    assert_eq!(answer.status, 200);
    let root = xml(&answer);
    assert_eq!(root.find("Expires").unwrap().text(), "PT60S");
    let manager = root.find("SubscriptionManager").unwrap();
    let manager = manager.find("Address").unwrap().text();
    let path = manager.strip_prefix("http://weir.example").unwrap();
    assert!(path.starts_with(MANAGER));
    let renewed = house.manage(path, "Renew", "<e:Expires>2026-01-02T00:10:00Z</e:Expires>");
    let expires = xml(&renewed).find("Expires").unwrap().text();
    assert_eq!(expires, "2026-01-02T00:10:00Z");
    let status = xml(&house.manage(path, "GetStatus", ""));
    assert_eq!(status.find("Expires").unwrap().text(), "PT600S");
    let somebody = House {
        who: Principal {
            name: "mallory".into(),
            ..Principal::unrestricted()
        },
        ..house
    };
    let none = format!("{MANAGER}/00000000-0000-4000-8000-000000000000");
    for name in ["Renew", "GetStatus", "Unsubscribe"] {
        let answers = [path, &none].map(|path| {
            let answer = somebody.manage(path, name, "");
            let body = xml(&answer).child("Body").cloned();
            (answer.status, answer.headers, body)
        });
        assert_eq!(answers[0], answers[1], "another's {name} is one of nothing");
    }
    let house = House {
        who: Principal::unrestricted(),
        ..somebody
    };
    assert_eq!(house.manage(path, "Unsubscribe", "").status, 200);
    let gone = [
        ("Renew", "UnableToRenew"),
        ("GetStatus", "DestinationUnreachable"),
    ];
    for (name, expected) in gone {
        assert_eq!(fault(&house.manage(path, name, "")), expected);
    }
}

#[test]
fn what_cannot_be_subscribed_is_refused_by_the_book() {
    let house = house();
    let action = format!("Dialect=\"{}/Action\"", OASIS.profile);
    let sink = |address: &str| SINK.replace("192.0.2.9:9", address);
    let pull = SINK.replace("<e:Delivery>", "<e:Delivery Mode=\"urn:pull\">");
    for (members, expected) in [
        (String::new(), "InvalidMessage"),
        ("<e:Delivery/>".into(), "InvalidMessage"),
        (pull, "DeliveryModeRequestedUnavailable"),
        (sink("192.0.2.8:9"), "InvalidMessage"),
        (sink("127.0.0.1:8080"), "InvalidMessage"),
        (
            format!("{SINK}<e:EndTo><a:Address>http://10.0.0.1/</a:Address></e:EndTo>"),
            "InvalidMessage",
        ),
        (
            format!("{SINK}<e:Expires>PT0S</e:Expires>"),
            "InvalidExpirationTime",
        ),
        (
            format!("{SINK}<e:Filter>/a</e:Filter>"),
            "FilteringRequestedUnavailable",
        ),
        (
            format!("{SINK}<e:Filter {action}>urn:x</e:Filter>"),
            "FilterActionNotSupported",
        ),
        (
            format!("{SINK}<e:Filter Dialect=\"urn:weir:device/Topics\">a#</e:Filter>"),
            "InvalidMessage",
        ),
    ] {
        let refused = house.subscribe(&members);
        assert!(refused.status >= 400, "{members}");
        assert_eq!(fault(&refused), expected, "{members}");
    }
}

#[test]
fn subscriptions_are_limited() {
    let house = house();
    for _ in 0..SUBSCRIPTIONS_OF_ONE_MAX {
        assert_eq!(house.subscribe(SINK).status, 200);
    }
    let refused = house.subscribe(SINK);
    assert_eq!(refused.status, 429);
    assert_eq!(fault(&refused), "EventSourceUnableToProcess");
}

#[test]
fn who_may_read_nothing_subscribes_to_nothing() {
    let house = House {
        who: Principal {
            name: "anonymous".into(),
            grants: Arc::new(Grants::default()),
            standing: Default::default(),
        },
        ..house()
    };
    assert_eq!(house.subscribe(SINK).status, 401);
}

#[test]
fn what_is_no_message_of_the_profile_is_a_fault() {
    let house = house();
    let good = message(&OASIS, &format!("{TRANSFER}/Get"), "");
    let anywhere =
        "<wsa:ReplyTo><wsa:Address>http://10.0.0.1/</wsa:Address></wsa:ReplyTo></env:Header>";
    let long = format!("{good}{}", " ".repeat(ENVELOPE_BYTES_MAX));
    for (body, status, expected) in [
        (good.replace("/Get<", "/Delete<"), 400, "ActionNotSupported"),
        (
            good.replace("MessageID", "Id"),
            400,
            "MessageAddressingHeaderRequired",
        ),
        (
            good.replace(Version::V12.namespace(), Version::V11.namespace()),
            500,
            "VersionMismatch",
        ),
        (
            good.replace("</env:Header>", anywhere),
            400,
            "OnlyAnonymousAddressSupported",
        ),
        (
            format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{good}"),
            400,
            "Sender",
        ),
        (long, 413, "Sender"),
        (String::new(), 400, "Sender"),
    ] {
        let answer = house.send("POST", PATH, body.as_bytes());
        assert_eq!(
            (answer.status, fault(&answer).as_str()),
            (status, expected),
            "{body:.200}"
        );
    }
    let old = message(&XMLSOAP, "urn:x", "").replace("MessageID", "Id");
    let answer = house.send("POST", PATH, old.as_bytes());
    assert_eq!(fault(&answer), "MessageInformationHeaderRequired");
    assert_eq!(house.send("PUT", PATH, b"").status, 405);
    assert_eq!(house.send("POST", "/dpws/other", b"").status, 404);
}
