//! `/live` as a client of HTTP sees it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;

use process::{Gateway, folder};
use std::io::{Read, Write};
use std::net::TcpStream;

/// Status and body of a request.
fn ask(gateway: &Gateway, method: &str, target: &str, body: &str) -> (u16, String) {
    ask_as(gateway, method, target, "application/json", body)
}

fn ask_as(gateway: &Gateway, method: &str, target: &str, media: &str, body: &str) -> (u16, String) {
    let answer = answer(gateway, method, target, media, body);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.trim_end().to_owned())
}

fn answer(gateway: &Gateway, method: &str, target: &str, media: &str, body: &str) -> String {
    let mut tcp = TcpStream::connect(gateway.address()).unwrap();
    let length = body.len();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\
         User-Agent: Telegraf/1.36.2 Go-http-client/1.1\r\nContent-Type: {media}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    tcp.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).unwrap();
    answer
}

/// Publishes a number at `a` and gives the position that it has.
fn published(gateway: &Gateway, value: u32) -> String {
    let answer = answer(gateway, "POST", "/live/a", "text/plain", &value.to_string());
    let mut fields = answer.lines().filter_map(|line| line.split_once(": "));
    let (_, cursor) = fields
        .find(|(name, _)| name.eq_ignore_ascii_case("weir-cursor"))
        .unwrap();
    cursor.to_owned()
}

#[test]
fn empty_levels_are_levels_in_topics_and_their_paths() {
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
fn a_question_that_makes_no_sense_is_answered_with_400() {
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
    let positions: Vec<_> = (1..4).map(|value| published(&gateway, value)).collect();
    let since = |position: &String| format!("/live/a?as=plain&since={position}");
    let two = ask(&gateway, "GET", &since(&positions[0]), "");
    assert_eq!(two, (200, "2\n3".into()));
    let none = ask(&gateway, "GET", &since(&positions[2]), "");
    assert_eq!(none, (204, String::new()));
}

/// What Telegraf's `outputs.http` posts by default, `data_format` being `influx`.
#[test]
fn telegraf_needs_nothing_but_the_url() {
    let gateway = Gateway::start("serve", &folder("telegraf"), &[]);
    let lines = "cpu,cpu=cpu-total,host=a usage_idle=98.5,usage_user=1i 1795167660000000000\n\
        disk,device=sda1,host=a,path=/var/lib free=12345678901i,label=\"a\" 1795167660000000000\n";
    for media in ["text/plain; charset=utf-8", "text/plain;profile=influx"] {
        let posted = ask_as(&gateway, "POST", "/live/telegraf", media, lines);
        assert_eq!(posted, (204, String::new()), "{media}");
    }
    let latest = ask(
        &gateway,
        "GET",
        "/live/telegraf/cpu/+/host=a/usage_idle?as=plain",
        "",
    );
    assert_eq!(latest, (200, "98.5".into()));
    let (_, disk) = ask(&gateway, "GET", "/live/telegraf/disk/%23?as=csv", "");
    assert!(
        disk.contains("telegraf/disk/device=sda1/host=a/path=%2Fvar%2Flib/label,"),
        "{disk}"
    );
    assert!(
        disk.contains(",2026-11-20T09:41:00Z,12345678901,"),
        "{disk}"
    );
    let packed = "text/plain\r\nContent-Encoding: br";
    let refused = ask_as(&gateway, "POST", "/live/telegraf", packed, lines);
    assert_eq!(refused.0, 415, "{}", refused.1);
    let text = ask_as(
        &gateway,
        "POST",
        "/live/note",
        "text/plain",
        "door open=1 now",
    );
    assert_eq!(text.0, 204);
    let note = ask(&gateway, "GET", "/live/note?as=plain", "");
    assert_eq!(note, (200, "door open=1 now".into()), "text stays text");
}
