#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use serde_json::Value as Json;
use std::task::{Context, Poll, Waker};
use weir_embedded::EmbeddedHistory;
use weir_hub::{Grants, Hub, Media, Principal, Publish, Verb};
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Filter, Limits, Time};
use weir_service::{AsItIs, AtOnce, Credential, Endpoint, Logins, Operation, Place, Way};

const READ: Way = Way {
    schemes: &[("web", ["http", "https"])],
    operations: &[Operation::Read, Operation::Publish],
    target: "/live/{path}?as={format}",
    channel: "/live/{path}",
    subprotocol: None,
    terms: &[("v:method", r#""GET""#)],
    vocabulary: ("v", "urn:v#"),
    credential: Credential::Field,
    lists_formats: true,
    media: None,
};

const WAYS: &[Way] = &[
    READ,
    Way {
        schemes: &[("bus", ["bus", "buses"])],
        operations: &[Operation::Observe],
        target: "/$as/{format}/{path}",
        channel: "$as/{format}/{topic}",
        subprotocol: Some("s.{format}"),
        terms: &[("v:filter", r#""{topic}""#)],
        credential: Credential::Query("token"),
        lists_formats: false,
        ..READ
    },
];

fn now() -> Time {
    "2026-01-02T00:00:00Z".parse().unwrap()
}

fn endpoint(transport: &str, address: &str, is_web: bool) -> Endpoint {
    Endpoint {
        transport: transport.into(),
        place: Place::Address(address.parse().unwrap()),
        is_web,
        ways: WAYS,
    }
}

/// A gateway with some datastreams.
fn premises() -> Premises {
    let log = Arc::new(DiskLog::open(Arc::new(SimDisk::new()), Options::default()).unwrap());
    let options = weir_embedded::Options::default();
    let history = EmbeddedHistory::on(Arc::new(SimDisk::new()), options).unwrap();
    let hub = Hub::start(log, Arc::new(history), Limits::default(), now()).unwrap();
    for topic in [
        "hall/t",
        "hall/door",
        "hall/north/t",
        "lone",
        "odd level/50%",
    ] {
        let body = bytes::Bytes::from_static(br#"{"value":1.5,"unit":"Cel"}"#);
        let media = Media::Format(&weir_codec::FORMATS[0]);
        let publish = Publish::new(topic, media, body);
        hub.internal().at(now()).publish(publish).unwrap();
    }
    Premises {
        endpoints: vec![
            endpoint("web", "127.0.0.1:8080", true),
            endpoint("bus", "0.0.0.0:1883", false),
        ],
        parts: vec![OPENAPI],
        ..Premises::of(hub)
    }
}

fn of_role(name: &str, rules: &[(Verb, &str)]) -> Principal {
    let rules = rules
        .iter()
        .map(|(verb, filter)| (*verb, Filter::parse(filter).unwrap()));
    Principal {
        name: name.into(),
        grants: Arc::new(Grants::new(rules.collect())),
        standing: Default::default(),
    }
}

fn ask_as(premises: &Premises, principal: Principal, url: &str, host: &str) -> Response {
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), value.to_owned())
    };
    let answer = Td::new(premises).call(Call {
        principal,
        peer: None,
        scheme: None,
        now: now(),
        method: "GET".into(),
        path: path.into(),
        query: pairs.map(pair).collect(),
        raw_query: String::new(),
        headers: vec![("host".into(), host.into())],
        body: bytes::Bytes::new(),
        wrapper: Arc::new(AsItIs),
        workers: Arc::new(AtOnce),
        websocket: None,
        incoming: Default::default(),
    });
    let Answer::Later(mut pending) = answer else {
        panic!("a later answer was wanted");
    };
    match pending.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => response,
        Poll::Pending => panic!("the work was done at once"),
    }
}

fn ask(premises: &Premises, url: &str) -> Response {
    ask_as(premises, Principal::unrestricted(), url, "127.0.0.1:8080")
}

fn read(response: &Response) -> Json {
    let text = String::from_utf8_lossy(&response.body);
    assert_eq!(response.status, 200, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn titles(things: &Json) -> Vec<&str> {
    let things = things.as_array().unwrap();
    let title = |thing| <Json as std::ops::Index<&str>>::index(thing, "title").as_str();
    things.iter().filter_map(title).collect()
}

#[test]
fn a_thing_is_a_topic_but_its_last_level() {
    let premises = premises();
    let all = read(&ask(&premises, "/td"));
    assert_eq!(titles(&all), ["hall", "hall/north", "lone", "odd level"]);
    let hall = read(&ask(&premises, "/td/hall"));
    assert_eq!(hall, all[0]);
    let properties = hall["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["door", "t"]);
    let lone = read(&ask(&premises, "/td/lone"));
    assert!(lone["properties"]["lone"].is_object(), "{lone}");
    let value = &hall["properties"]["t"]["properties"]["observations"]["items"]["properties"];
    assert_eq!(value["value"]["oneOf"][0]["unit"], "Cel");
}

#[test]
fn forms_lead_where_the_ways_say_whatever_the_levels_hold() {
    let odd = read(&ask(&premises(), "/td/odd%20level"));
    let forms = odd["properties"]["50%"]["forms"].as_array().unwrap();
    let listed = weir_codec::FORMATS.len();
    assert_eq!(forms.len(), listed + 1);
    let first = &forms[0];
    assert_eq!(
        first["href"],
        "http://127.0.0.1:8080/live/odd%20level/50%25?as=json"
    );
    assert_eq!(
        first["op"],
        serde_json::json!(["readproperty", "writeproperty"])
    );
    assert_eq!(first["v:method"], "GET");
    let observed = &forms[listed];
    assert_eq!(
        observed["href"],
        "bus://127.0.0.1:1883/$as/json/odd%20level/50%25"
    );
    assert_eq!(observed["subprotocol"], "s.json");
    assert_eq!(observed["v:filter"], "odd level/50%");
    let cbor = read(&ask(&premises(), "/td/hall?as=cbor"));
    let forms = cbor["properties"]["t"]["forms"].as_array().unwrap();
    assert!(
        forms
            .iter()
            .all(|form| form["contentType"] == "application/cbor")
    );
    assert_eq!(forms.len(), 2);
}

/// What is behind somebody's server, and what asks nobody who they are and has an encoding of its own.
const BEYOND: &[Way] = &[
    Way {
        schemes: &[("beyond", ["beyond"; 2])],
        target: "?;node={path}",
        credential: Credential::Elsewhere,
        lists_formats: false,
        ..READ
    },
    Way {
        schemes: &[("domain", ["domain"; 2])],
        target: "/",
        operations: &[Operation::Observe],
        credential: Credential::Nowhere,
        media: Some("application/octet-stream"),
        ..READ
    },
];

#[test]
fn what_is_found_by_a_name_is_told_with_its_own_security() {
    let mut premises = premises();
    premises.logins.tokens = true;
    let named =
        [("beyond", "service.example"), ("domain", "//7")].map(|(transport, name)| Endpoint {
            transport: transport.into(),
            place: Place::Name(name.into()),
            is_web: false,
            ways: BEYOND,
        });
    premises.endpoints.extend(named);
    let ada = || of_role("ada", &[(Verb::Read, "hall/+"), (Verb::Publish, "hall/t")]);
    let hall = read(&ask_as(&premises, ada(), "/td/hall?as=json&as=cbor", "a"));
    let forms = hall["properties"]["t"]["forms"].as_array().unwrap();
    let of = |scheme: &str| {
        let of_scheme = forms.iter().filter(move |form| {
            let href = form["href"].as_str().unwrap();
            href.starts_with(scheme)
        });
        of_scheme.cloned().collect::<Vec<_>>()
    };
    let [json, cbor] = &of("beyond:")[..] else {
        panic!("a form for each format: {forms:?}");
    };
    assert_eq!(json["href"], "beyond:service.example?;node=hall/t");
    assert_eq!(json["security"], "auto_sc");
    assert_eq!(cbor["contentType"], "application/cbor");
    let [domain] = &of("domain:")[..] else {
        panic!("one form: {forms:?}");
    };
    assert_eq!(domain["href"], "domain://7/");
    assert_eq!(domain["contentType"], "application/octet-stream");
    assert_eq!(domain["security"], "nosec_sc");
    let definitions = hall["securityDefinitions"].as_object().unwrap();
    let names: Vec<_> = definitions.keys().map(String::as_str).collect();
    assert_eq!(names, ["auto_sc", "bearer_sc", "nosec_sc", "query_sc"]);
    // Messages in no format are in the schema of their own encoding, not in AsyncAPI.
    let document = read(&ask_as(&premises, ada(), "/asyncapi.json", "a"));
    let servers = document["servers"].as_object().unwrap();
    assert_eq!(servers["beyond-service-example"]["host"], "service.example");
    assert!(servers.keys().all(|name| !name.starts_with("domain")));
}

#[test]
fn a_caller_is_told_what_they_may_and_how_they_say_who_they_are() {
    let mut premises = premises();
    premises.logins = Logins {
        users: true,
        tokens: true,
    };
    let ada = || of_role("ada", &[(Verb::Read, "hall/+"), (Verb::Publish, "hall/t")]);
    let told = |url: &str| ask_as(&premises, ada(), url, "127.0.0.1:8080");
    let all = read(&told("/td"));
    assert_eq!(titles(&all), ["hall"]);
    let hall = &all[0];
    assert_eq!(hall["security"], "either_sc");
    assert_eq!(hall["properties"]["t"]["readOnly"], false);
    assert_eq!(hall["properties"]["door"]["readOnly"], true);
    let operations = &hall["properties"]["door"]["forms"][0]["op"];
    assert_eq!(*operations, serde_json::json!(["readproperty"]));
    let query = &hall["securityDefinitions"]["query_sc"];
    assert_eq!(
        (&query["in"], &query["name"]),
        (&"query".into(), &"token".into())
    );
    assert_eq!(told("/td/lone").status, 404);
    assert_eq!(told("/td/hall/north").status, 404);
    let nobody = || of_role("anonymous", &[]);
    let refused = ask_as(&premises, nobody(), "/td", "127.0.0.1:8080");
    assert_eq!(refused.status, 401);
    let document = read(&told("/openapi.json"));
    let schemes = document["components"]["securitySchemes"]
        .as_object()
        .unwrap();
    assert_eq!(schemes.keys().collect::<Vec<_>>(), ["basic", "bearer"]);
}

#[test]
fn a_datastream_that_the_caller_has_no_way_to_hides_no_other() {
    const PUBLISH: &[Way] = &[Way {
        operations: &[Operation::Publish],
        ..READ
    }];
    let mut premises = premises();
    premises
        .endpoints
        .iter_mut()
        .for_each(|it| it.ways = PUBLISH);
    let ada = || of_role("ada", &[(Verb::Read, "hall/+"), (Verb::Publish, "hall/t")]);
    let all = read(&ask_as(&premises, ada(), "/td", "127.0.0.1:8080"));
    assert_eq!(titles(&all), ["hall"]);
    let properties = all[0]["properties"].as_object().unwrap();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["t"]);
    let reader = of_role("eve", &[(Verb::Read, "hall/+")]);
    assert_eq!(
        ask_as(&premises, reader, "/td/hall", "127.0.0.1:8080").status,
        404
    );
}

#[test]
fn behind_a_proxy_the_host_is_that_of_the_caller() {
    let premises = premises();
    let hrefs = |host: &str| {
        let hall = ask_as(&premises, Principal::unrestricted(), "/td/hall", host);
        let hall = read(&hall);
        let forms = hall["properties"]["t"]["forms"].as_array().unwrap().clone();
        let (first, last) = (
            forms[0]["href"].clone(),
            forms[forms.len() - 1]["href"].clone(),
        );
        (
            first.as_str().unwrap().to_owned(),
            last.as_str().unwrap().to_owned(),
        )
    };
    let (web, bus) = hrefs("weir.example");
    assert!(web.starts_with("http://weir.example/live/"), "{web}");
    assert!(bus.starts_with("bus://weir.example:1883/"), "{bus}");
    let (web, bus) = hrefs("[::1]:8080");
    assert!(web.starts_with("http://127.0.0.1:8080/live/"), "{web}");
    assert!(bus.starts_with("bus://[::1]:1883/"), "{bus}");
    for bad in ["a\"b", "a/b", "a@b", &"a".repeat(300)] {
        let (web, _) = hrefs(bad);
        assert!(web.starts_with("http://127.0.0.1:8080/live/"), "{web}");
    }
}

#[test]
fn a_directory_is_read_page_by_page() {
    let premises = premises();
    let first = ask(&premises, "/td?limit=3&as=json");
    assert_eq!(titles(&read(&first)).len(), 3);
    let link = first.headers.iter().find(|(name, _)| *name == "link");
    let link = &link.unwrap().1;
    assert_eq!(link, "</td?offset=3&limit=3&as=json>; rel=\"next\"");
    let second = ask(&premises, "/td?offset=3&limit=3");
    assert_eq!(titles(&read(&second)), ["odd level"]);
    assert!(second.headers.iter().all(|(name, _)| *name != "link"));
    for bad in ["limit=0", "limit=1001", "limit=x", "offset=-1", "as=fax"] {
        assert_eq!(ask(&premises, &format!("/td?{bad}")).status, 400, "{bad}");
    }
}

#[test]
fn what_is_no_topic_is_refused_and_no_thing_is_not_there() {
    let premises = premises();
    for (path, status) in [
        ("/td/%", 400),
        ("/td/a%00", 400),
        ("/td/a%23", 400),
        ("/td/hall/t", 404),
        ("/td/nowhere", 404),
        ("/tdx", 404),
    ] {
        assert_eq!(ask(&premises, path).status, status, "{path}");
    }
    for (topic, status) in [("a#b", 400), ("nowhere", 404)] {
        let answer = ask(&premises, &format!("/asyncapi.json?topic={topic}"));
        assert_eq!(answer.status, status, "{topic}");
    }
}

#[test]
fn channels_and_every_reference_lead_somewhere() {
    let document = read(&ask(&premises(), "/asyncapi.json?topic=hall/+"));
    let channels = document["channels"].as_object().unwrap();
    let names: Vec<_> = channels.keys().map(String::as_str).collect();
    let expected = [
        "v $as/json/hall/door",
        "v $as/json/hall/t",
        "v /live/hall/door",
        "v /live/hall/t",
    ];
    assert_eq!(names, expected);
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(references.len() > 10);
    for reference in references {
        let pointer = weir_model::percent::decode(&reference[1..]).unwrap();
        assert!(document.pointer(&pointer).is_some(), "{reference}");
    }
    let actions: Vec<_> = document["operations"]
        .as_object()
        .unwrap()
        .values()
        .collect();
    assert!(actions.iter().any(|it| it["action"] == "send"));
    assert!(actions.iter().any(|it| it["action"] == "receive"));
}

fn collect(json: &Json, into: &mut Vec<String>) {
    match json {
        Json::Object(members) => {
            let reference = members.get("$ref").and_then(Json::as_str);
            into.extend(reference.map(str::to_owned));
            members.values().for_each(|value| collect(value, into));
        }
        Json::Array(values) => values.iter().for_each(|value| collect(value, into)),
        _ => {}
    }
}
