//! `weir pub` and `weir sub` by the standards of sensor services, against a real gateway.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;

use process::{Gateway, folder, printed, run, weir};
use std::io::{BufRead, BufReader};
use std::process::Stdio;

const SCHEMES: &[&str] = &["sta+http", "sos+http", "soap+http"];
const PAST: &str = "2026-01-01T00:00:00Z";

/// An observation of so many seconds after a midnight.
fn message(topic: &str, value: f64, second: u32) -> String {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!(
        "{{\"observations\":[{{\"topic\":\"{topic}\",\"value\":{value},\"unit\":\"Cel\",\
         \"time\":\"2026-02-01T{hour:02}:{minute:02}:{second:02}Z\"}}]}}\n"
    )
}

fn url(gateway: &Gateway, scheme: &str) -> String {
    gateway.url("http").replacen("http", scheme, 1)
}

#[test]
fn what_a_service_is_given_every_protocol_has() {
    let gateway = Gateway::start("serve", &folder("services-pub"), &[]);
    for scheme in SCHEMES {
        let topic = format!("{}/temp", &scheme[..3]);
        let input = message(&topic, 21.5, 1) + &message(&topic, 22.5, 2);
        printed(&["pub", &url(&gateway, scheme), &topic], &input);
        let past = ["history", &gateway.url("http"), &topic, "--as", "csv"];
        let past = printed(&past, "");
        let rows: Vec<&str> = past.lines().skip(1).collect();
        assert_eq!(rows.len(), 2, "{scheme}: {past}");
        assert!(
            rows[1].contains("22.5") && rows[1].contains("Cel"),
            "{past}"
        );
        assert!(rows[1].contains("2026-02-01T00:00:02Z"), "{past}");
    }
}

#[test]
fn a_service_tells_what_any_protocol_brought_since_a_time() {
    let gateway = Gateway::start("serve", &folder("services-since"), &[]);
    let input = message("hall/t", 1.5, 2) + &message("hall/t", 2.5, 3) + &message("yard/t", 9.0, 4);
    printed(
        &["pub", &gateway.url("http"), "hall"],
        &message("hall/t", 0.5, 0),
    );
    printed(
        &["pub", &gateway.url("mqtt"), "hall/t"],
        &message("hall/t", 1.0, 1),
    );
    let refused = run(&["pub", &gateway.url("http"), "hall"], &input);
    assert_eq!(refused.status.code(), Some(1), "yard is not below hall");
    for scheme in SCHEMES {
        let url = url(&gateway, scheme);
        let since = ["--since", PAST, "--count", "1", "--as", "csv"];
        let told = printed(&[&["sub", &url, "hall/+"][..], &since].concat(), "");
        let values: Vec<&str> = told.lines().skip(1).collect();
        assert_eq!(values.len(), 4, "{scheme}: {told}");
        assert!(told.contains("hall/t") && !told.contains("yard"), "{told}");
    }
}

#[test]
fn a_service_is_followed_while_others_publish() {
    let gateway = Gateway::start("serve", &folder("services-follow"), &[]);
    printed(
        &["pub", &gateway.url("http"), "hall"],
        &message("hall/t", 0.5, 0),
    );
    let mut second = 0;
    for scheme in SCHEMES {
        let url = url(&gateway, scheme);
        let mut command = weir(&["sub", &url, "hall/#", "--as", "plain", "--count", "1"]);
        let mut sub = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(sub.stdout.take().unwrap()).lines();
        // It may not have begun: until it has, newer ones come.
        let told = std::thread::spawn(move || lines.next().unwrap().unwrap());
        while !told.is_finished() {
            second += 1;
            let one = message("hall/t", f64::from(second), second);
            printed(&["pub", &gateway.url("http"), "hall"], &one);
        }
        assert!(
            told.join().unwrap().parse::<f64>().unwrap() >= 1.0,
            "{scheme}"
        );
        assert!(sub.wait().unwrap().success(), "{scheme}");
    }
}

#[test]
fn what_cannot_be_is_said_with_the_servers_words() {
    let gateway = Gateway::start("serve", &folder("services-errors"), &[]);
    for scheme in SCHEMES {
        let url = url(&gateway, scheme);
        let said = |arguments: &[&str], input: &str| {
            let ended = run(arguments, input);
            let text = String::from_utf8(ended.stderr).unwrap();
            (ended.status.code(), text)
        };
        let (code, text) = said(&["pub", &url, "a", "--as", "plain"], "1\n");
        assert_eq!((code, text.as_str()), (Some(0), ""), "{scheme}");
        let (code, text) = said(
            &["pub", &format!("{url}/nowhere"), "a", "--as", "plain"],
            "1\n",
        );
        assert_eq!(code, Some(1), "{scheme}: {text}");
        // A POST to what can only be read is 405.
        let refused = [": 404: ", ": 405: "];
        assert!(
            refused.iter().any(|status| text.contains(status)),
            "{scheme}: {text}"
        );
        let (code, text) = said(&["history", &url, "a"], "");
        assert_eq!(code, Some(1), "{scheme}");
        assert!(text.contains("--since TIME"), "{text}");
        if *scheme != "sta+http" {
            let (code, text) = said(&["sub", &url, "a", "--since", "1-2f"], "");
            assert_eq!(code, Some(2), "{scheme}: {text}");
            assert!(text.contains("no cursors"), "{text}");
        }
    }
    let unused = url(&gateway, "sta+http");
    drop(gateway);
    let ended = run(&["sub", &unused, "a"], "");
    let text = String::from_utf8(ended.stderr).unwrap();
    assert!(text.contains("nobody listens there"), "{text}");
}
