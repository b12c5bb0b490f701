//! The server's session against literal bytes.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use weir_http::limits::{HEAD_TIME_MAX, IDLE_TIME_MAX};
use weir_http::session::{Event, Session};
use weir_http::wire::head::settle_host;
use weir_http::wire::{Refusal, Request, Version};
use weir_sansio::{Duration, Instant, Output, Session as Machine};
use weir_testkit::{BadLink, Pair};

const BODY_BYTES_MAX: usize = 1000;

/// What a session makes of these pieces: events, and what it sends by itself.
fn outputs(pieces: &[&[u8]]) -> Vec<Output<&'static [u8], Event>> {
    let mut session = Session::new(Instant::START, BODY_BYTES_MAX);
    let mut outputs = Vec::new();
    for piece in pieces {
        let Ok(()) = session.handle_input(Instant::START, piece);
        outputs.extend(drained(&mut session));
    }
    outputs
}

fn drained(session: &mut Session) -> Vec<Output<&'static [u8], Event>> {
    let outputs = std::iter::from_fn(|| match session.poll_output() {
        Output::Timeout(_) => None,
        output => Some(output),
    });
    outputs.collect()
}

fn requests(bytes: &str) -> Vec<Request> {
    let outputs = outputs(&[bytes.as_bytes()]).into_iter();
    outputs
        .map(|output| match output {
            Output::Event(Event::Request(request)) => *request,
            other => panic!("{other:?}"),
        })
        .collect()
}

fn refusal(bytes: &str) -> Refusal {
    match outputs(&[bytes.as_bytes()]).pop() {
        Some(Output::Event(Event::Refused(refusal))) => refusal,
        other => panic!("{bytes:?} gives {other:?}"),
    }
}

const PIPELINE: &str = "\r\nPOST /live/kitchen/temp?x=1 HTTP/1.1\r\nHost: weir.example\r\n\
    Content-Type: text/plain\r\nContent-Length: 4\r\n\r\n21.5\
    GET /live/%23 HTTP/1.1\r\nhost:a\r\n\r\n\
    POST /live/b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
    2;name=\"v\"\r\n21\r\n2 \r\n.5\r\n0\r\nTrailer: x\r\n\r\n\
    GET / HTTP/1.0\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n";

#[test]
fn pipelined_requests_come_out_whole_up_to_the_last() {
    let requests = requests(PIPELINE);
    let seen: Vec<_> = requests
        .iter()
        .map(|request| (request.path.as_str(), request.body.as_ref()))
        .collect();
    let expected: [(&str, &[u8]); 4] = [
        ("/live/kitchen/temp", b"21.5"),
        ("/live/%23", b""),
        ("/live/b", b"21.5"),
        ("/", b""),
    ];
    assert_eq!(seen, expected);
    assert_eq!(requests[0].header("content-type"), Some("text/plain"));
    assert_eq!(requests[0].query, [("x".into(), "1".into())]);
    assert!(requests[2].keep_alive && !requests[3].keep_alive);
}

#[test]
fn requests_do_not_depend_on_where_the_bytes_are_split() {
    let whole = outputs(&[PIPELINE.as_bytes()]);
    for at in 0..PIPELINE.len() {
        let (first, second) = PIPELINE.as_bytes().split_at(at);
        assert_eq!(outputs(&[first, second]), whole, "split at byte {at}");
    }
    let bytes: Vec<&[u8]> = PIPELINE.as_bytes().chunks(1).collect();
    assert_eq!(outputs(&bytes), whole);
}

proptest! {
    #[test]
    fn requests_survive_any_pieces(cuts in proptest::collection::vec(1usize..40, 1..60)) {
        let mut rest = PIPELINE.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        prop_assert_eq!(outputs(&pieces), outputs(&[PIPELINE.as_bytes()]));
    }

    #[test]
    fn no_bytes_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        after in "[ -~]{0,40}",
    ) {
        outputs(&[&bytes]);
        outputs(&[b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", &bytes]);
        outputs(&[b"GET / HTTP/1.1\r\n", after.as_bytes(), &bytes, b"\r\n\r\n"]);
    }
}

#[test]
fn what_two_servers_may_read_differently_is_refused() {
    let post =
        |fields: &str, body: &str| format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n{body}");
    let corpus = [
        (
            400,
            post(
                "Content-Length: 3\r\nTransfer-Encoding: chunked",
                "0\r\n\r\n",
            ),
        ),
        (400, post("Content-Length: 3\r\nContent-Length: 4", "abcd")),
        (400, post("Content-Length: 3, 4", "abcd")),
        (400, post("Content-Length: +3", "abc")),
        (400, post("Content-Length: 0x3", "abc")),
        (400, post("Content-Length: -1", "")),
        (400, post("Content-Length:", "")),
        (400, post("Content-Length : 3", "abc")),
        (400, post(" Content-Length: 3", "abc")),
        (400, post("X: a\r\n b", "")),
        (400, post("Transfer-Encoding: chunked", "x\r\n")),
        (400, post("Transfer-Encoding: chunked", "\r\n")),
        (
            400,
            post("Transfer-Encoding: chunked", "0x1\r\na\r\n0\r\n\r\n"),
        ),
        (400, post("Transfer-Encoding: chunked", "1\na\n0\n\n")),
        (
            400,
            post("Transfer-Encoding: chunked", "1\r\nab\r\n0\r\n\r\n"),
        ),
        (400, post("Transfer-Encoding: chunked", "1\r\na\r0\r\n\r\n")),
        (
            413,
            post("Transfer-Encoding: chunked", "fffffffffffffffff\r\n"),
        ),
        (413, post("Transfer-Encoding: chunked", "3e9\r\n")),
        (501, post("Transfer-Encoding: gzip, chunked", "")),
        (501, post("Transfer-Encoding: xchunked", "")),
        (
            501,
            post(
                "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                "",
            ),
        ),
        (
            400,
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
        ),
        (400, "GET / HTTP/1.1\nHost: a\n\n".into()),
        (400, "GET / HTTP/1.1\r\n\r\n".into()),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n".into()),
        (400, "GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n".into()),
        (505, "GET / HTTP/3.0\r\nHost: a\r\n\r\n".into()),
        (501, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n".into()),
        (417, post("Expect: 200-ok\r\nContent-Length: 1", "a")),
    ];
    for (status, bytes) in corpus {
        let refusal = refusal(&bytes);
        assert_eq!(refusal.status, status, "{bytes:?}: {refusal}");
    }
}

#[test]
fn a_list_in_several_lines_is_one_list() {
    let bytes = "GET /live/a HTTP/1.1\r\nHost: a\r\nIf-None-Match: W/\"1\"\r\nAccept: text/csv\r\n\
        If-None-Match: W/\"2\"\r\nX: y\r\nAccept: text/plain;q=0.5\r\nCookie: a=b\r\nCookie: c=d\r\n\
        Prefer: respond-async\r\nPrefer: wait=5\r\n\
        Expect: 100-continue\r\nExpect: 100-Continue\r\n\r\n";
    let request = requests(bytes).pop().unwrap();
    let fields: Vec<_> = request.headers.iter().map(|(n, v)| (&**n, &**v)).collect();
    let expected = [
        ("host", "a"),
        ("if-none-match", "W/\"1\", W/\"2\""),
        ("accept", "text/csv, text/plain;q=0.5"),
        ("x", "y"),
        ("cookie", "a=b; c=d"),
        ("prefer", "respond-async, wait=5"),
        ("expect", "100-continue, 100-Continue"),
    ];
    assert_eq!(fields, expected);
    let lines = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\
        Expect: 100-continue\r\nExpect: x\r\n\r\n";
    assert_eq!(refusal(lines).status, 417);
    for name in ["Content-Type", "Idempotency-Key", "Last-Event-ID"] {
        let lines = format!("GET / HTTP/1.1\r\nHost: a\r\n{name}: x\r\n{name}: x\r\n\r\n");
        assert_eq!(refusal(&lines).status, 400, "{name}");
    }
}

#[test]
fn the_host_is_the_one_that_the_target_names() {
    for (head, path, host) in [
        ("GET /live HTTP/1.1\r\nHost: a:80\r\n", "/live", "a:80"),
        (
            "GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1\r\n",
            "/",
            "evil.example",
        ),
        (
            "GET HTTPS://evil.example:8080?x HTTP/1.1\r\nhost: a\r\n",
            "",
            "evil.example:8080",
        ),
        (
            "POST http://[::1]:80/live/a HTTP/1.1\r\nX: y\r\nHost: [::1]\r\n",
            "/live/a",
            "[::1]:80",
        ),
        (
            "GET http://evil.example/x HTTP/1.0\r\n",
            "/x",
            "evil.example",
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n", "*", "a"),
    ] {
        let request = requests(&format!("{head}\r\n")).remove(0);
        assert_eq!(request.path, path, "{head}");
        let hosts: Vec<_> = request.fields("host").collect();
        assert_eq!(hosts, [host], "{head}");
    }
}

#[test]
fn a_host_that_is_none_and_a_target_of_nothing_here_are_refused() {
    for (target, fields) in [
        ("/", "Host:\r\n"),
        ("/", "Host: \r\n"),
        ("/", "Host: a\r\nHost: a\r\n"),
        ("/", "Host: a, b\r\n"),
        ("/", "Host: a@127.0.0.1\r\n"),
        ("/", "Host: a/b\r\n"),
        ("/", "Host: a:b\r\n"),
        ("/", "Host: [evil.example\r\n"),
        ("/", "Host: [evil.example]\r\n"),
        ("/", "X: y\r\n"),
        ("http://a/", "X: y\r\n"),
        ("http://a/", "Host: b\r\nHost: c\r\n"),
        ("http://user@a/", "Host: a\r\n"),
        ("http://127.0.0.1@evil.example/", "Host: 127.0.0.1\r\n"),
        ("http:///", "Host: a\r\n"),
        ("http://", "Host: a\r\n"),
        ("http://:80/", "Host: a\r\n"),
        ("http://a:80:80/", "Host: a\r\n"),
        ("http://a%2eb/", "Host: a\r\n"),
        ("http://a#/", "Host: a\r\n"),
        ("ftp://a/", "Host: a\r\n"),
        ("ws://a/", "Host: a\r\n"),
        ("a:80", "Host: a\r\n"),
        ("live", "Host: a\r\n"),
        ("*", "Host: a\r\n"),
    ] {
        let refused = refusal(&format!("GET {target} HTTP/1.1\r\n{fields}\r\n"));
        assert_eq!(refused.status, 400, "{target} {fields:?}");
    }
    for method in ["CONNECT a:80", "CONNECT /", "TRACE /"] {
        let refused = refusal(&format!("{method} HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert_eq!(refused.status, 501, "{method}");
    }
}

#[test]
fn in_http_2_the_authority_and_the_host_are_the_same() {
    let settled = |fields: &[&str], named: Option<&str>| {
        let mut request = requests("GET / HTTP/1.1\r\nHost: a\r\n\r\n").remove(0);
        request.version = Version::Http2;
        request.headers = fields
            .iter()
            .map(|it| ("host".into(), (*it).into()))
            .collect();
        let settled = settle_host(&mut request, named).map_err(|refusal| refusal.status);
        settled.map(|()| {
            request
                .fields("host")
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
    };
    let host = |host: &str| Ok(vec![host.to_owned()]);
    assert_eq!(settled(&[], Some("evil.example")), host("evil.example"));
    assert_eq!(settled(&["a:80"], Some("A:80")), host("A:80"));
    assert_eq!(settled(&["a"], None), host("a"));
    for (fields, named) in [
        (&["127.0.0.1"][..], Some("evil.example")),
        (&["evil.example"], Some("127.0.0.1")),
        (&["a", "a"], Some("a")),
        (&["a", "b"], None),
        (&[], None),
        (&[], Some("user@a")),
        (&[], Some("")),
        (&[""], None),
    ] {
        assert_eq!(settled(fields, named), Err(400), "{fields:?} {named:?}");
    }
}

#[test]
fn a_refusal_says_which_byte_breaks_which_rule() {
    let cases = [
        (
            "GE\x01T / HTTP/1.1\r\n\r\n",
            "byte 2: not a character of a method",
        ),
        (
            "GET /a\x7f HTTP/1.1\r\n\r\n",
            "byte 6: not a character of a target",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX y: 1\r\n\r\n",
            "byte 26: not a character of a field name",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n",
            "byte 25: a folded header line",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nX: \x07\r\n\r\n",
            "byte 28: a control character in a field value",
        ),
        (
            "GET / HTTP/1.1\r\nHost: a\n",
            "byte 23: a line ends with LF alone",
        ),
    ];
    for (bytes, reason) in cases {
        assert_eq!(
            refusal(bytes),
            Refusal {
                status: 400,
                reason: reason.into()
            }
        );
    }
}

#[test]
fn who_speaks_another_protocol_is_refused_by_its_first_bytes() {
    for (begun, at) in [
        ("AMQP\0\u{1}\0\0", 4),
        ("\u{16}\u{3}\u{1}\u{2}", 0),
        ("\u{10}\u{c}\0\u{4}MQTT", 0),
        ("<stream:stream", 0),
    ] {
        let refused = Refusal::new(400, format!("byte {at}: not a character of a method"));
        assert_eq!(refusal(begun), refused, "{begun:?}");
    }
    assert!(outputs(&[b"GE", b"T", b"\r"]).is_empty());
}

proptest! {
    #[test]
    fn what_is_refused_does_not_depend_on_where_the_bytes_are_split(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b' '), Just(b'\r'), Just(b'\n'), Just(b'A')],
            0..12,
        ),
    ) {
        let whole = outputs(&[&bytes]);
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(outputs(&each), whole);
    }
}

#[test]
fn everything_has_a_limit() {
    let long = format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "a".repeat(9000));
    assert_eq!(refusal(&long).status, 414);
    let endless = format!("GET /{}", "a".repeat(9000));
    assert_eq!(refusal(&endless).status, 414);
    let many = format!(
        "GET / HTTP/1.1\r\nHost: a\r\n{}\r\n",
        "x: y\r\n".repeat(101)
    );
    assert_eq!(refusal(&many).status, 431);
    let wide = format!(
        "GET / HTTP/1.1\r\nHost: a\r\nx: {}\r\n\r\n",
        "y".repeat(17_000)
    );
    assert_eq!(refusal(&wide).status, 431);
    let large = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n";
    assert_eq!(refusal(large).reason, "the body is larger than 1000 bytes");
}

#[test]
fn who_expects_to_be_told_to_continue_is_told() {
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n";
    let outputs = outputs(&[head, b"a"]);
    assert_eq!(
        outputs[0],
        Output::Transmit(weir_http::wire::response::CONTINUE)
    );
    assert!(matches!(&outputs[1], Output::Event(Event::Request(request)) if request.body == "a"));
}

#[test]
fn a_head_that_dribbles_is_given_up_although_bytes_keep_coming() {
    let mut session = Session::new(Instant::START, BODY_BYTES_MAX);
    let Ok(()) = session.handle_input(Instant::START, b"GET / HT");
    let almost = Instant::START + HEAD_TIME_MAX / 2;
    let Ok(()) = session.handle_input(almost, b"TP/1.1\r\n");
    assert_eq!(session.deadline(), Instant::START + HEAD_TIME_MAX);
    session.handle_timeout(Instant::START + HEAD_TIME_MAX);
    let told = drained(&mut session);
    assert!(matches!(&told[..], [Output::Event(Event::Refused(refusal))] if refusal.status == 408));
}

#[test]
fn an_idle_connection_is_closed_without_a_word() {
    let mut session = Session::new(Instant::START, BODY_BYTES_MAX);
    session.handle_timeout(Instant::START + IDLE_TIME_MAX);
    assert_eq!(drained(&mut session), [Output::Event(Event::Idle)]);
    assert!(session.is_over());
}

/// A peer that sends what it has at once and then says nothing.
struct Mute(Option<&'static [u8]>);

impl Machine for Mute {
    type Transmit = &'static [u8];
    type Event = ();
    type Error = std::convert::Infallible;

    fn handle_input(&mut self, _now: Instant, _bytes: &[u8]) -> Result<(), Self::Error> {
        Ok(())
    }

    fn handle_timeout(&mut self, _now: Instant) {}

    fn poll_output(&mut self) -> Output<&'static [u8], ()> {
        match self.0.take() {
            Some(bytes) => Output::Transmit(bytes),
            None => Output::Timeout(Instant::NEVER),
        }
    }
}

#[test]
fn over_a_bad_link_requests_arrive_and_the_rest_is_idle() {
    for seed in 1..50 {
        let session = Session::new(Instant::START, BODY_BYTES_MAX);
        let client = Mute(Some(&PIPELINE.as_bytes()[..KEPT_BYTES]));
        let mut pair = Pair::new(session, client, &BadLink::split(17, seed));
        let ended = pair.run(Instant::START + Duration::from_secs(3600));
        let whole = outputs(&[&PIPELINE.as_bytes()[..KEPT_BYTES]]).into_iter();
        let mut expected: Vec<_> = whole
            .filter_map(|output| match output {
                Output::Event(event) => Some(event),
                _ => None,
            })
            .collect();
        expected.push(Event::Idle);
        assert_eq!(pair.a.events, expected, "seed {seed}");
        assert!(ended.since(Instant::START) >= IDLE_TIME_MAX);
    }
}

/// The requests of [`PIPELINE`] after which the connection is kept.
const KEPT_BYTES: usize = PIPELINE.len() - GOODBYE.len();
const GOODBYE: &str = "GET / HTTP/1.0\r\n\r\nGET /never HTTP/1.1\r\nHost: a\r\n\r\n";
