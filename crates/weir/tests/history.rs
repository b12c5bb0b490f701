//! `weir history` against a real gateway.
#![allow(clippy::unwrap_used)]

use crate::process;

use process::{Gateway, folder, printed, run};

/// A message of observations a second apart: the second and its double.
fn message(seconds: std::ops::Range<u32>) -> String {
    let observation = |second: u32| {
        let time = format!(
            "2026-11-20T{:02}:{:02}:{:02}Z",
            second / 3600,
            second / 60 % 60,
            second % 60
        );
        format!("{{\"value\":{second},\"time\":\"{time}\"}}")
    };
    let rows: Vec<_> = seconds.map(observation).collect();
    format!("{{\"observations\":[{}]}}\n", rows.join(","))
}

const SECONDS: u32 = 25_000;

fn gateway(name: &str) -> Gateway {
    let gateway = Gateway::start("serve", &folder(name), &[]);
    let messages: String = (0..SECONDS)
        .step_by(5000)
        .map(|from| message(from..from + 5000))
        .collect();
    printed(&["pub", &gateway.url("http"), "pool/temp"], &messages);
    gateway
}

#[test]
fn the_past_of_many_pages_is_one_table() {
    let gateway = gateway("history");
    let url = gateway.url("http");
    let table = printed(&["history", &url, "pool/#"], "");
    let mut lines = table.lines();
    assert_eq!(
        lines.next(),
        Some("topic,time,value,unit,type,sensor,lat,lon")
    );
    let values = lines.map(|line| line.split(',').nth(2).unwrap().parse::<u32>().unwrap());
    assert!(values.eq(0..SECONDS));

    let span = [
        "--from",
        "2026-11-20T01:00:00Z",
        "--to",
        "2026-11-20T01:00:03Z",
        "--as",
        "plain",
    ];
    let some = printed(
        &[&["history", &url, "pool/temp"][..], &span[..]].concat(),
        "",
    );
    assert_eq!(some, "3600\n3601\n3602\n");

    let hours = ["--agg", "count:1h", "--as", "plain"];
    let counts = printed(
        &[&["history", &url, "pool/temp"][..], &hours[..]].concat(),
        "",
    );
    assert_eq!(counts, "3600\n3600\n3600\n3600\n3600\n3600\n3400\n");

    let pages = printed(&["history", &url, "pool/temp", "--as", "json"], "");
    assert_eq!(pages.lines().count(), 3, "10,000 observations a page");
}

#[test]
fn what_is_wrong_is_said_by_whoever_knows() {
    let gateway = Gateway::start("serve", &folder("history-wrong"), &[]);
    let url = gateway.url("http");
    let said = |arguments: &[&str], code: i32| {
        let output = run(&[&["history"][..], arguments].concat(), "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&[&url, "a/#/b"], 2).contains("filter `a/#/b`"));
    assert!(said(&[&url, "a", "--from", "yesterday"], 1).contains("400: from: "));
    assert!(said(&["gopher://a", "a"], 2).contains("no protocol"));
}
