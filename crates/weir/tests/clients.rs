//! `weir pub` and `weir sub` against a real gateway.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use crate::process;

use process::{Gateway, folder, printed, run, weir};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStderr, ChildStdout, Stdio};

/// A `weir sub` that says on stderr where it is.
struct Sub {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: Lines<BufReader<ChildStderr>>,
}

impl Sub {
    /// Begins, and waits until it is connected.
    fn start(url: &str, filter: &str) -> Self {
        let mut command = weir(&["sub", url, filter, "--as", "plain", "--cursors"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let err = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut sub = Self { child, out, err };
        sub.said("cursor: ");
        sub
    }

    fn printed(&mut self) -> String {
        self.out.next().unwrap().unwrap()
    }

    /// The next line on stderr of which this is a part.
    fn said(&mut self, part: &str) -> String {
        let mut lines = self.err.by_ref().map(Result::unwrap);
        lines.find(|line| line.contains(part)).unwrap()
    }
}

impl Drop for Sub {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn a_line_is_published_as_it_comes_where_lines_are_messages() {
    let gateway = Gateway::start("serve", &folder("lines"), &[]);
    let url = gateway.url("http");
    for (format, line) in [
        ("plain", "21.5"),
        ("influx", "m value=21.5"),
        ("json", "{\"value\":21.5}"),
    ] {
        let mut sub = Sub::start(&url, &format!("{format}/#"));
        let mut publisher = weir(&["pub", &url, format, "--as", format]);
        let mut publisher = publisher.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = publisher.stdin.take().unwrap();
        for _ in 0..2 {
            input.write_all(format!("{line}\n").as_bytes()).unwrap();
            assert_eq!(sub.printed(), "21.5", "{format}: while the input goes on");
        }
        drop(input);
        assert!(publisher.wait().unwrap().success());
    }
}

#[test]
fn documents_are_published_whole_and_help_says_which_they_are() {
    let gateway = Gateway::start("serve", &folder("documents"), &[]);
    let url = gateway.url("http");
    let help = printed(&["pub", "--help"], "");
    let (_, whole) = help
        .split_once("All of the input is one message: ")
        .unwrap();
    for format in ["turtle", "ntriples", "swe-text", "csv", "cbor"] {
        assert!(whole.contains(format), "{format}: {help}");
    }
    let two = "{\"observations\":[{\"value\":1},{\"value\":2}]}";
    for format in ["turtle", "ntriples", "swe-text", "csv"] {
        let document = printed(&["convert", "--from", "json", "--to", format], two);
        printed(&["pub", &url, format, "--as", format], &document);
        let past = ["history", &url, format, "--as", "plain"];
        assert_eq!(printed(&past, ""), "1\n2\n", "{format}");
    }
}

#[test]
fn comments_are_no_messages_and_a_bad_line_is_named() {
    let gateway = Gateway::start("serve", &folder("comments"), &[]);
    let url = gateway.url("http");
    let input = "# of a file\n\nm value=1\nm\n";
    let refused = run(&["pub", &url, "a", "--as", "influx"], input);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.contains("line 4 of the input: 400: not a message in influx"),
        "{said}"
    );
    let past = ["history", &url, "a/#", "--as", "plain"];
    assert_eq!(printed(&past, ""), "1\n", "those before it are published");
}

#[test]
fn a_subscriber_comes_back_after_a_restart_and_misses_nothing() {
    for scheme in ["http", "stream+http", "longpoll+http"] {
        let mut gateway = Gateway::start("serve", &folder(scheme), &[]);
        let url = gateway.url("http");
        // A position to begin at: long polls answer only once there is something to say.
        printed(&["pub", &url, "a", "--as", "plain"], "0\n");
        let mut sub = match scheme {
            "longpoll+http" => {
                let mut first = Sub::start(&url, "a");
                printed(&["pub", &url, "a", "--as", "plain"], "1\n");
                assert_eq!(first.printed(), "1");
                let cursor = first.said("cursor: ").replace("cursor: ", "");
                drop(first);
                resumed(&url.replace("http", scheme), &cursor)
            }
            _ => Sub::start(&url.replace("http", scheme), "a"),
        };
        printed(&["pub", &url, "a", "--as", "plain"], "2\n");
        assert_eq!(sub.printed(), "2", "{scheme}");
        gateway.restart();
        printed(&["pub", &url, "a", "--as", "plain"], "3\n");
        assert_eq!(sub.printed(), "3", "{scheme}");
        let lost = sub.said("trying again");
        assert!(lost.contains("the connection was closed"), "{lost}");
    }
}

/// A `weir sub` from this position on.
fn resumed(url: &str, cursor: &str) -> Sub {
    let mut command = weir(&[
        "sub",
        url,
        "a",
        "--as",
        "plain",
        "--cursors",
        "--since",
        cursor,
    ]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap()).lines();
    let err = BufReader::new(child.stderr.take().unwrap()).lines();
    Sub { child, out, err }
}

#[test]
fn what_is_refused_ends_at_once_with_the_servers_sentence() {
    let gateway = Gateway::start("serve", &folder("refused"), &[]);
    let url = gateway.url("http");
    let said = |arguments: &[&str], code: i32| {
        let output = run(&[&["sub"][..], arguments].concat(), "");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let beside = format!("{url}/gate");
    assert!(
        said(&[&beside, "a"], 1).contains("404: no resource"),
        "a path is kept"
    );
    for path in ["live/heating", "?as=csv"] {
        let sentence = said(&[&format!("{url}/{path}"), "a"], 1);
        assert!(sentence.contains("names the gateway"), "{sentence}");
    }
    let address = gateway.address();
    drop(gateway);
    let sentence = said(&[&format!("http://{address}"), "a"], 1);
    assert!(sentence.contains("is the server running?"), "{sentence}");
}

#[test]
fn a_file_to_replay_is_read_before_anything_starts() {
    let folder = folder("replay");
    let file = folder.join("bad.csv");
    std::fs::write(&file, "time,a,lat\n2026-01-01,1,2\n2026-01-02,1,x\n").unwrap();
    let data = folder.join("data");
    let file = file.to_str().unwrap();
    let output = run(
        &["demo", "--data", data.to_str().unwrap(), "--replay", file],
        "",
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        said.ends_with("bad.csv: line 3, column 3: `x` is not a finite number\n"),
        "{said}"
    );
    assert!(
        output.stdout.is_empty() && !data.exists(),
        "nothing was started"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
