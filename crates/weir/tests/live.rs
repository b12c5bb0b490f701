//! `/live` as a client of HTTP sees it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod process;

use process::{Gateway, folder};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Status and body of a request.
fn ask(gateway: &Gateway, method: &str, target: &str, body: &str) -> (u16, String) {
    let mut tcp = TcpStream::connect(gateway.address()).unwrap();
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    tcp.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.trim_end().to_owned())
}

#[test]
fn empty_levels_are_levels_and_a_topic_and_its_path_are_one_to_one() {
    let gateway = Gateway::start("serve", &folder("levels"), &[]);
    let topics = ["a//x", "/a", "a/", "//", "a/x", "a"];
    for (index, topic) in topics.iter().enumerate() {
        let body = format!("{{\"value\":{index}}}");
        assert_eq!(
            ask(&gateway, "POST", &format!("/live/{topic}"), &body).0,
            204
        );
    }
    for (index, topic) in topics.iter().enumerate() {
        for target in [
            format!("/live/{topic}?as=plain"),
            format!("/live?as=plain&topic={topic}"),
        ] {
            let expected = (200, index.to_string());
            assert_eq!(ask(&gateway, "GET", &target, ""), expected, "{target}");
        }
        let (status, entry) = ask(&gateway, "GET", &format!("/catalog/{topic}"), "");
        assert_eq!(status, 200);
        assert!(entry.contains(&format!("\"topic\":\"{topic}\"")), "{entry}");
    }
    assert_eq!(
        ask(&gateway, "GET", "/live/a/+?as=plain", ""),
        (200, "2\n4".into())
    );
    assert_eq!(
        ask(&gateway, "GET", "/live/+/+/x?as=plain", ""),
        (200, "0".into())
    );
}

#[test]
fn a_question_that_makes_no_sense_is_answered_with_400_and_a_sentence() {
    let gateway = Gateway::start("serve", &folder("questions"), &[]);
    assert_eq!(ask(&gateway, "POST", "/live/a", "{\"value\":1}").0, 204);
    for (method, target, body, sentence) in [
        ("GET", "/live/a?since=abc", "", "since `abc`: not a cursor"),
        (
            "GET",
            "/live/a?where=value>1",
            "",
            "where: this is for messages as they come",
        ),
        ("GET", "/live/a?every=1s", "", "every: this is for"),
        ("POST", "/live/a", "{}", "no observation in the message"),
        ("POST", "/live/a", "[]", "no observation in the message"),
        (
            "POST",
            "/live/a/+",
            "1",
            "bad topic: `+` or `#` not allowed at byte 2",
        ),
    ] {
        let (status, said) = ask(&gateway, method, target, body);
        assert!(
            status == 400 && said.contains(sentence),
            "{target}: {status} {said}"
        );
    }
    let (status, said) = ask(&gateway, "POST", "/live/$SYS/a", "1");
    assert!(
        status == 403 && said.contains("the gateway's own"),
        "{status} {said}"
    );
}

#[test]
fn a_plain_get_with_a_position_answers_what_came_after_it() {
    let gateway = Gateway::start("serve", &folder("since"), &[]);
    for value in 1..4 {
        ask(
            &gateway,
            "POST",
            "/live/a",
            &format!("{{\"value\":{value}}}"),
        );
    }
    // The datastream's entry is a record of the log, too: messages are the second to the fourth.
    assert_eq!(
        ask(&gateway, "GET", "/live/a?as=plain&since=1-2", ""),
        (200, "2\n3".into())
    );
    assert_eq!(
        ask(&gateway, "GET", "/live/a?as=plain&since=1-4", ""),
        (204, String::new())
    );
}
