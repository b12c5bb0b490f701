#![allow(clippy::unwrap_used, clippy::panic)]

use super::*;
use crate::limits::PEER_ANSWERS;
use crate::names::{DEVICE, OASIS, XMLSOAP};
use weir_codec::document::addressing::{Header, Properties};
use weir_codec::document::soap::Version;
use weir_codec::document::{Element, read_xml};

const ADDRESS: &str = "urn:uuid:5e2c0f26-0000-4000-8000-0000deadbeef";

fn device() -> Arc<Device> {
    let scopes = vec!["http://example.com/plant/hall".into()];
    Arc::new(Device::started(7, ADDRESS.into(), "hall", scopes))
}

fn machine() -> Discovery {
    Discovery::new(device(), vec![vec!["http://192.0.2.1:8080/dpws".into()]])
}

fn peer() -> SocketAddr {
    "192.0.2.9:40000".parse().unwrap()
}

fn question(generation: &Generation, name: &str, id: &str, body: &str) -> Vec<u8> {
    let header = Header {
        namespace: generation.addressing,
        to: generation.everybody,
        action: &format!("{}/{name}", generation.discovery),
        message_id: Some(id),
        ..Header::default()
    };
    let uri = generation.discovery;
    let body = format!("<d:{name} xmlns:d=\"{uri}\">{body}</d:{name}>");
    header.around(Version::V12, &body).into_bytes()
}

fn ask(machine: &mut Discovery, bytes: &[u8]) {
    let arrival = Arrival {
        interface: 0,
        from: peer(),
        of_group: true,
        bytes,
    };
    machine.receive(Instant::START, arrival);
}

/// All that leaves, with when.
fn run(machine: &mut Discovery) -> Vec<(Instant, Datagram)> {
    let (mut now, mut sent) = (Instant::START, Vec::new());
    loop {
        match machine.poll(now) {
            Output::Transmit(datagram) => sent.push((now, datagram)),
            Output::Timeout(Instant::NEVER) => return sent,
            Output::Timeout(at) => now = at,
            Output::Event(never) => match never {},
        }
    }
}

fn answers(bytes: &[u8]) -> Vec<Element> {
    let mut machine = machine();
    ask(&mut machine, bytes);
    let sent = run(&mut machine);
    sent.iter()
        .map(|(_, datagram)| read_xml(&datagram.bytes).unwrap())
        .collect()
}

fn probe(generation: &Generation, body: &str) -> Vec<u8> {
    question(generation, "Probe", "urn:uuid:1", body)
}

#[test]
fn a_probe_is_answered_in_its_generation() {
    for generation in GENERATIONS {
        let types = format!(
            "<d:Types xmlns:p=\"{}\" xmlns:w=\"{DEVICE}\">p:Device w:Gateway</d:Types>",
            generation.profile
        );
        let scopes = "<d:Scopes>http://example.com/plant</d:Scopes>";
        let all = answers(&probe(generation, &format!("{types}{scopes}")));
        // Once and once again.
        assert_eq!(all.len(), 2);
        assert_eq!(all[0], all[1]);
        let properties = Properties::of(&all[0]);
        let action = format!("{}/ProbeMatches", generation.discovery);
        assert_eq!(properties.action.unwrap(), action);
        assert_eq!(properties.to.unwrap(), generation.anonymous);
        assert_eq!(all[0].find("RelatesTo").unwrap().text(), "urn:uuid:1");
        let found = all[0].find("ProbeMatch").unwrap();
        assert_eq!(found.uri, generation.discovery);
        assert_eq!(found.find("Address").unwrap().text(), ADDRESS);
        let addresses = found.find("XAddrs").unwrap().text();
        assert_eq!(addresses, "http://192.0.2.1:8080/dpws");
        assert_eq!(found.find("MetadataVersion").unwrap().text(), "7");
        let sequence = all[0].find("AppSequence").unwrap();
        assert_eq!(sequence.attribute("InstanceId"), Some("7"));
        assert_eq!(sequence.attribute("MessageNumber"), Some("1"));
    }
}

#[test]
fn an_answer_that_no_datagram_has_room_for_is_not_said() {
    let asked = |bytes: usize| {
        let id = format!("urn:{}", "a".repeat(bytes));
        answers(&question(&OASIS, "Probe", &id, "")).len()
    };
    assert_eq!((asked(500), asked(3000)), (2, 0));
}

#[test]
fn who_looks_for_another_is_not_answered() {
    let rule = |name: &str| format!("MatchBy=\"{}/{name}\"", OASIS.discovery);
    for body in [
        "<d:Types xmlns:w=\"urn:other\">w:Gateway</d:Types>".to_owned(),
        format!("<d:Types xmlns:w=\"{DEVICE}\">w:Pump</d:Types>"),
        "<d:Types>nobody:Bound</d:Types>".into(),
        "<d:Scopes>http://example.com/ship</d:Scopes>".into(),
        format!(
            "<d:Scopes {}>http://example.com/plant</d:Scopes>",
            rule("strcmp0")
        ),
        format!("<d:Scopes {}/>", rule("none")),
        format!("<d:Scopes {}/>", rule("unheard-of")),
        format!("<d:Scopes>{}</d:Scopes>", "urn:a ".repeat(100)),
    ] {
        assert_eq!(answers(&probe(&OASIS, &body)), [], "{body}");
    }
    assert_eq!(answers(&probe(&XMLSOAP, "")).len(), 2);
}

#[test]
fn only_the_device_of_an_address_says_where_it_is() {
    for (address, count) in [(ADDRESS, 2), ("urn:uuid:other", 0)] {
        for generation in GENERATIONS {
            let body = format!(
                "<a:EndpointReference xmlns:a=\"{}\"><a:Address>{address}</a:Address>\
                 </a:EndpointReference>",
                generation.addressing
            );
            let all = answers(&question(generation, "Resolve", "urn:uuid:2", &body));
            assert_eq!(all.len(), count);
            assert!(all.iter().all(|one| one.find("ResolveMatch").is_some()));
        }
    }
}

#[test]
fn hello_and_bye_are_said_in_both_generations_everywhere() {
    let interfaces = vec![vec!["http://a/dpws".into()], vec!["http://b/dpws".into()]];
    let mut machine = Discovery::new(device(), interfaces);
    machine.hello(Instant::START);
    let sent = run(&mut machine);
    assert_eq!(sent.len(), 8);
    assert!(sent.iter().all(|(_, datagram)| datagram.to == To::Group));
    let first = |interface: usize| {
        let mut all = sent.iter().filter(|one| one.1.interface == interface);
        read_xml(&all.next().unwrap().1.bytes).unwrap()
    };
    assert_eq!(first(1).find("XAddrs").unwrap().text(), "http://b/dpws");
    ask(&mut machine, &probe(&OASIS, ""));
    machine.bye(Instant::START);
    let sent = run(&mut machine);
    let last = read_xml(&sent[7].1.bytes).unwrap();
    assert_eq!(sent.len(), 8);
    assert!(last.find("Bye").is_some() && last.find("XAddrs").is_none());
    assert!(machine.is_idle());
}

#[test]
fn an_answer_waits_and_goes_again_within_the_profiles_times() {
    let mut machine = machine();
    for number in 0..8 {
        let id = format!("urn:uuid:{number}");
        ask(&mut machine, &question(&OASIS, "Probe", &id, ""));
    }
    let sent = run(&mut machine);
    let mut first: BTreeMap<Bytes, Instant> = BTreeMap::new();
    for (at, datagram) in &sent {
        match first.get(&datagram.bytes) {
            None => {
                assert!(at.since(Instant::START) <= ANSWER_DELAY_MAX);
                first.insert(datagram.bytes.clone(), *at);
            }
            Some(begun) => {
                let delay = at.since(*begun);
                assert!(delay >= REPEAT_DELAY.0 && delay <= REPEAT_DELAY.1);
            }
        }
    }
    assert_eq!((first.len(), sent.len()), (8, 16));
    let numbers: std::collections::BTreeSet<String> = first
        .keys()
        .map(|bytes| {
            let read = read_xml(bytes).unwrap();
            let sequence = read.find("AppSequence").unwrap();
            sequence.attribute("MessageNumber").unwrap().to_owned()
        })
        .collect();
    assert_eq!(numbers.len(), 8);
}

#[test]
fn what_came_already_is_not_answered_twice() {
    let mut machine = machine();
    let bytes = probe(&OASIS, "");
    ask(&mut machine, &bytes);
    ask(&mut machine, &bytes);
    assert_eq!(run(&mut machine).len(), 2);
}

#[test]
fn one_address_has_so_many_answers_and_more_with_time() {
    let mut machine = machine();
    let ask = |machine: &mut Discovery, now: Instant, number: u32| {
        let bytes = question(&OASIS, "Probe", &format!("urn:uuid:{number}"), "");
        let arrival = Arrival {
            interface: 0,
            from: peer(),
            of_group: false,
            bytes: &bytes,
        };
        machine.receive(now, arrival);
    };
    (0..100).for_each(|number| ask(&mut machine, Instant::START, number));
    assert_eq!(run(&mut machine).len(), 2 * PEER_ANSWERS.0 as usize);
    let later = Instant::START + PEER_ANSWERS.1;
    (100..200).for_each(|number| ask(&mut machine, later, number));
    assert_eq!(run(&mut machine).len(), 2);
}

#[test]
fn hostile_datagrams_are_passed_over() {
    let good = String::from_utf8(probe(&OASIS, "")).unwrap();
    let padded = format!("{good}{}", " ".repeat(DATAGRAM_BYTES_MAX));
    let bomb = format!("<!DOCTYPE a [<!ENTITY b \"c\">]>{good}");
    let deep = probe(
        &OASIS,
        &format!("{}{}", "<x>".repeat(200), "</x>".repeat(200)),
    );
    let no_id = good.replace("MessageID", "Message");
    let soap11 = good.replace(Version::V12.namespace(), Version::V11.namespace());
    let mixed = good.replace(OASIS.addressing, XMLSOAP.addressing);
    let other_body = good.replace("<d:Probe ", "<d:Prob ");
    let said = good.replace("/Probe<", "/Hello<");
    for bytes in [
        &b""[..],
        b"\0\xff\xfe",
        b"GET / HTTP/1.1\r\n\r\n",
        &good.as_bytes()[..good.len() / 2],
        padded.as_bytes(),
        bomb.as_bytes(),
        &deep,
        no_id.as_bytes(),
        soap11.as_bytes(),
        mixed.as_bytes(),
        other_body.as_bytes(),
        said.as_bytes(),
    ] {
        assert_eq!(answers(bytes), [], "{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn other_addresses_are_another_version_of_the_metadata() {
    let mut machine = machine();
    let version = |machine: &mut Discovery| {
        machine.hello(Instant::START);
        let (_, hello) = run(machine).remove(0);
        let root = read_xml(&hello.bytes).unwrap();
        let sequence = root.find("AppSequence").unwrap().attribute("InstanceId");
        assert_eq!(sequence, Some("7"));
        root.find("MetadataVersion").unwrap().text()
    };
    assert_eq!(version(&mut machine), "7");
    machine.move_to(vec![vec!["http://192.0.2.1:8080/dpws".into()]]);
    assert_eq!(version(&mut machine), "7");
    machine.move_to(vec![vec!["http://192.0.2.2:8080/dpws".into()]]);
    assert_eq!(version(&mut machine), "8");
}
