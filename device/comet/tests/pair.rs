//! The server against smoltcp, over links good and bad.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Board, HUMIDITY, Host, PAGE, Small};
use weir_sansio::{Duration, Instant};
use weir_testkit::{BadLink, Pair};

const SECOND: Duration = Duration::from_secs(1);

/// A request for a target; `more` are headers.
fn get(target: &str, more: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: board\r\n{more}\r\n")
}

fn after(seconds: u32) -> Instant {
    Instant::START + SECOND * seconds
}

/// A link each way: none without faults.
type Links = [BadLink; 2];

fn good() -> Links {
    [BadLink::good(), BadLink::good()]
}

/// Faults of one way have nothing to do with those of the other; the seed 0 has none.
fn unruly(one_in: u64, seed: u64) -> Links {
    match seed {
        0 => good(),
        _ => [seed, seed + 1_000].map(|seed| BadLink::unruly(one_in, seed)),
    }
}

fn run(board: Board, host: Host, [up, down]: Links, seconds: u32) -> Pair<Board, Host> {
    let mut pair = Pair::new(board, host, &up);
    pair.b.inbound = down;
    pair.run(after(seconds));
    pair
}

/// Head and body of an answer.
fn parts(text: &str) -> (&str, &str) {
    text.split_once("\r\n\r\n").unwrap()
}

/// Values in a stream of whole chunks.
fn chunks(mut body: &str) -> Vec<&str> {
    let mut values = Vec::new();
    while !body.is_empty() {
        let (length, rest) = body.split_once("\r\n").unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        values.push(&rest[..length]);
        body = rest[length..].strip_prefix("\r\n").unwrap();
    }
    values
}

fn values(numbers: std::ops::RangeInclusive<u32>) -> Vec<String> {
    numbers.map(|number| format!("value {number}")).collect()
}

#[test]
fn a_page_of_many_segments_arrives_whole_over_any_link() {
    for seed in 0..60 {
        let mut host = Host::new();
        host.ask(&get("/", ""));
        let pair = run(Board::new(), host, unruly(5, seed), 120);
        let (head, body) = parts(pair.b.machine.clients[0].text());
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"));
        assert_eq!(body.as_bytes(), PAGE, "seed {seed}");
    }
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let mut host = Host::new();
    let client = host.ask(&get("/live/temperature", ""));
    for second in [3, 5] {
        let request = get("/live/temperature", "").into_bytes();
        client.says.push_back((after(second), request));
    }
    let board = Board::new().publishing(2 * SECOND, 2 * SECOND, 2);
    let pair = run(board, host, good(), 10);
    let answer = |number: u32| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 7";
        format!("{head}\r\nETag: \"{number}\"\r\n\r\nvalue {number}")
    };
    let expected = format!("HTTP/1.1 204 \r\n\r\n{}{}", answer(1), answer(2));
    assert_eq!(pair.b.machine.clients[0].text(), expected);
    assert_eq!(pair.a.machine.server.connections(), 1);
}

#[test]
fn a_request_may_be_torn_anywhere() {
    let request = get("/live/temperature?snapshot&stream", "Accept: text/html\r\n");
    for at in 1..request.len() {
        let mut host = Host::new();
        let (first, rest) = request.split_at(at);
        let client = host.ask(first);
        client.says.push_back((after(3), rest.as_bytes().to_vec()));
        let board = Board::new().publishing(SECOND, SECOND, 2);
        let pair = run(board, host, good(), 10);
        let (_, body) = parts(pair.b.machine.clients[0].text());
        assert_eq!(chunks(body), ["value 2"], "torn at {at}");
    }
}

#[test]
fn a_long_poll_is_answered_when_something_is_published() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature?wait=20", ""));
    host.ask(&get("/live/temperature", "Prefer: wait=2\r\n"));
    host.ask(&get("/live/temperature?wait=20&since=7", ""));
    let board = Board::new().publishing(8 * SECOND, SECOND, 3);
    let pair = run(board, host, good(), 30);
    let [long, short, since] = &pair.b.machine.clients[..] else {
        panic!("three clients");
    };
    assert!(long.text().ends_with("ETag: \"1\"\r\n\r\nvalue 1"));
    assert!(long.heard_at.since(after(8)) < SECOND / 10);
    assert_eq!(short.text(), "HTTP/1.1 204 \r\n\r\n");
    assert!((after(2)..after(6)).contains(&short.heard_at));
    assert_eq!(since.text(), long.text());
}

#[test]
fn a_long_poll_that_lacks_something_is_answered_at_once() {
    let mut host = Host::new();
    let client = host.connect(4_096);
    for (at, since) in [(4, 1), (5, 3)] {
        let request = get(&format!("/live/temperature?wait=9&since={since}"), "");
        client.says.push_back((after(at), request.into_bytes()));
    }
    let board = Board::new().publishing(SECOND, SECOND, 3);
    let pair = run(board, host, good(), 8);
    let text = pair.b.machine.clients[0].text();
    assert!(text.ends_with("ETag: \"3\"\r\n\r\nvalue 3"), "{text}");
    assert_eq!(text.matches("HTTP/1.1").count(), 1);
}

#[test]
fn a_stream_lacks_nothing_and_repeats_nothing_over_any_link() {
    for seed in 0..60 {
        let mut host = Host::new();
        host.ask(&get("/live/temperature?stream", ""));
        let board = Board::new().publishing(40 * SECOND, 3 * SECOND, 40);
        let pair = run(board, host, unruly(10, seed), 400);
        let (head, body) = parts(pair.b.machine.clients[0].text());
        assert!(head.ends_with("Transfer-Encoding: chunked"));
        assert_eq!(chunks(body), values(1..=40), "seed {seed}");
    }
}

#[test]
fn a_listener_hears_its_topic_only() {
    let mut host = Host::new();
    host.ask(&get("/live/humidity?stream", ""));
    let mut board = Board::new();
    for number in 0..40u32 {
        let topic = if number % 5 == 0 {
            HUMIDITY
        } else {
            support::TEMPERATURE
        };
        let publication = (after(2 + number), topic, format!("{number}"));
        board.publications.push_back(publication);
    }
    let pair = run(board, host, unruly(8, 3), 200);
    let (_, body) = parts(pair.b.machine.clients[0].text());
    assert_eq!(chunks(body), ["0", "5", "10", "15", "20", "25", "30", "35"]);
}

#[test]
fn events_carry_their_number_and_resume_behind_it() {
    let mut host = Host::new();
    let client = host.connect(4_096);
    let request = get(
        "/live/temperature",
        "Accept: text/event-stream\r\nLast-Event-ID: 3\r\n",
    );
    client.says.push_back((after(6), request.into_bytes()));
    let board = Board::new().publishing(SECOND, SECOND, 7);
    let pair = run(board, host, good(), 20);
    let (head, body) = parts(pair.b.machine.clients[0].text());
    assert!(head.contains("Content-Type: text/event-stream"));
    let events: String = (4..=7)
        .map(|n| format!("id: {n}\ndata: value {n}\n\n"))
        .collect();
    assert_eq!(body, events);
}

#[test]
fn what_is_not_served_is_refused_and_the_connection_closed() {
    for (request, status) in [
        (get("/nothing", ""), "404 "),
        ("POST / HTTP/1.1\r\nHost: x\r\n\r\n".into(), "405 "),
        ("GET / HTTP/1.1\r\n\r\n".into(), "400 "),
        ("GET / HTTP/3\r\nHost: x\r\n\r\n".into(), "505 "),
        (get("/", "Content-Length: 5\r\n"), "413 "),
    ] {
        let mut host = Host::new();
        host.ask(&request).closes = Some(after(3));
        let pair = run(Board::new(), host, good(), 60);
        let text = pair.b.machine.clients[0].text();
        assert!(
            text.starts_with(&format!("HTTP/1.1 {status}\r\n")),
            "{text}"
        );
        assert!(text.ends_with("Connection: close\r\n\r\n"), "{text}");
        assert_eq!(pair.a.machine.server.connections(), 0);
    }
}

#[test]
fn a_head_has_no_body() {
    let mut host = Host::new();
    host.ask("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
    let pair = run(Board::new(), host, good(), 5);
    let (head, body) = parts(pair.b.machine.clients[0].text());
    assert!(head.ends_with("Content-Length: 3000") && body.is_empty());
}

#[test]
fn either_side_may_close_first_and_the_record_is_free() {
    for (header, closes) in [
        ("", Some(3)),
        ("Connection: close\r\n", Some(6)),
        ("", None),
    ] {
        for seed in 1..20 {
            let mut host = Host::new();
            let client = host.ask(&get("/", header));
            client.closes = closes.map(after);
            // Nobody is taken for idle yet, but whoever closed has been for long.
            let pair = run(Board::new(), host, unruly(7, seed), 150);
            assert_eq!(parts(pair.b.machine.clients[0].text()).1.as_bytes(), PAGE);
            assert_eq!(
                pair.a.machine.server.connections(),
                usize::from(closes.is_none())
            );
        }
    }
}

#[test]
fn who_closes_its_half_is_answered_all_the_same() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature?wait=20", "")).closes = Some(after(1));
    let board = Board::new().publishing(5 * SECOND, SECOND, 1);
    let pair = run(board, host, good(), 60);
    assert!(pair.b.machine.clients[0].text().ends_with("value 1"));
    assert_eq!(pair.a.machine.server.connections(), 0);
}

#[test]
fn a_slow_reader_of_a_page_gets_it_whole_when_it_reads() {
    for bytes in [100, 300, 1_000] {
        let mut host = Host::new();
        let client = host.connect(bytes);
        client.says.push_back((after(1), get("/", "").into_bytes()));
        client.reads_from = after(400);
        let pair = run(Board::new(), host, good(), 430);
        let body = parts(pair.b.machine.clients[0].text()).1;
        assert_eq!(body.as_bytes(), PAGE, "buffer of {bytes}");
    }
}

#[test]
fn a_slow_listener_costs_itself_only() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature?stream", ""));
    let slow = host.connect(130);
    slow.says
        .push_back((after(1), get("/live/temperature?stream", "").into_bytes()));
    slow.reads_from = after(300);
    let board = Board::new().publishing(2 * SECOND, SECOND, 60);
    let pair = run(board, host, good(), 310);
    let (_, body) = parts(pair.b.machine.clients[0].text());
    assert_eq!(chunks(body), values(1..=60));
    let (_, body) = parts(pair.b.machine.clients[1].text());
    let heard = chunks(body);
    assert!(
        heard.len() < 17 && heard.last() == Some(&"value 60"),
        "{heard:?}"
    );
    let counters = pair.a.machine.server.counters();
    assert!(counters.resets == 0 && counters.conflated > 0);
}

#[test]
fn a_listener_that_never_acknowledges_is_reset_and_resumes() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature", "Accept: text/event-stream\r\n"));
    let board = Board::new().publishing(2 * SECOND, SECOND, 40);
    let mut pair = Pair::new(board, host, &BadLink::good());
    pair.run(after(5));
    pair.a.inbound.lost_one_in = Some(1);
    pair.b.inbound.lost_one_in = Some(1);
    pair.run(after(38));
    pair.a.inbound.lost_one_in = None;
    pair.b.inbound.lost_one_in = None;
    assert_eq!(pair.a.machine.server.counters().resets, 1);
    let request = get(
        "/live/temperature",
        "Accept: text/event-stream\r\nLast-Event-ID: 36\r\n",
    );
    pair.b.machine.ask(&request);
    pair.run(after(60));
    let events: String = (37..=40)
        .map(|n| format!("id: {n}\ndata: value {n}\n\n"))
        .collect();
    assert_eq!(parts(pair.b.machine.clients[1].text()).1, events);
}

#[test]
fn a_listener_that_is_gone_does_not_keep_its_record() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature?stream", ""));
    host.ask(&get("/live/humidity?stream", ""));
    host.ask(&get("/live/humidity", ""));
    let board = Board::new().publishing(2 * SECOND, 100 * SECOND, 1);
    let mut pair = Pair::new(board, host, &BadLink::good());
    pair.run(after(1));
    assert_eq!(pair.a.machine.server.connections(), 3);
    pair.a.inbound.lost_one_in = Some(1);
    pair.run(after(1_000));
    assert_eq!(pair.a.machine.server.connections(), 0);
}

#[test]
fn a_listener_that_is_only_silent_stays() {
    let mut host = Host::new();
    host.ask(&get("/live/temperature?stream", ""));
    let board = Board::new().publishing(4_000 * SECOND, SECOND, 1);
    let pair = run(board, host, good(), 4_010);
    assert_eq!(
        chunks(parts(pair.b.machine.clients[0].text()).1),
        ["value 1"]
    );
}

#[test]
fn everybody_is_notified_and_the_clock_may_wrap_around() {
    let mut host = Host::new();
    for number in 0..256 {
        let events = ["", "Accept: text/event-stream\r\n"][number % 2];
        host.ask(&get("/live/temperature?stream", events));
    }
    let mut board = Board::new().publishing(20 * SECOND, 2 * SECOND, 20);
    board.clock = u32::MAX - 40_000;
    let pair = run(
        board,
        host,
        [9, 10].map(|seed| BadLink::lossy(50, seed)),
        200,
    );
    for client in &pair.b.machine.clients {
        let body = parts(client.text()).1;
        for value in values(1..=20) {
            assert_eq!(
                body.matches(&format!("{value}\n")).count()
                    + body.matches(&format!("{value}\r")).count(),
                1
            );
        }
    }
    assert_eq!(pair.a.machine.server.listeners(), 256);
}

#[test]
fn who_waits_longest_for_nothing_makes_room() {
    let mut host = Host::new();
    for _ in 0..256 {
        host.ask(&get("/live/temperature", ""));
    }
    let mut pair = Pair::new(Board::new(), host, &BadLink::good());
    pair.run(after(20));
    assert_eq!(pair.a.machine.server.connections(), 256);
    pair.b.machine.ask(&get("/live/temperature?stream", ""));
    pair.run(after(30));
    assert!(
        pair.b.machine.clients[256]
            .text()
            .starts_with("HTTP/1.1 200 OK")
    );
    assert_eq!(pair.a.machine.server.connections(), 256);
}

#[test]
fn two_hundred_and_fifty_six_listeners_fit_seven_kilobytes() {
    assert_eq!(Small::CONNECTION_BYTES, 16);
    let bytes = size_of::<weir_comet::Server<256, 32, 16, 24>>();
    assert!(bytes < 5_200, "{bytes}");
}
