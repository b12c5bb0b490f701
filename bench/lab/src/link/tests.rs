//! A target behind a real link, and the load before it. What a system does not allow is skipped, loudly.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::{Command, Stdio};

use weir_link::Way;

use super::{End, Ends, LOCAL, Launch, Links};
use crate::targets::Settings;

/// The ends of an unmeasured link, or a note that the kernel gives no right to one.
fn ends(link: &str) -> Option<Ends> {
    match Links::unchecked().ends(&Settings::default(), link) {
        Ok(ends) => Some(ends),
        Err(reason) if reason.contains("does not allow") => {
            skip(&reason);
            None
        }
        Err(reason) => panic!("{reason}"),
    }
}

fn skip(reason: &str) {
    let line = format!("bench: link: kernel right: {reason}\n");
    eprint!("SKIPPED {line}");
    if let Ok(path) = std::env::var("WEIR_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn what_starts_locally_starts_as_if_there_were_no_links() {
    let ends = ends(LOCAL).unwrap();
    assert_eq!(ends.near.host(), Ipv4Addr::LOCALHOST);
    assert_eq!(ends.far.host(), Ipv4Addr::LOCALHOST);
    assert!(ends.near.end.crossed().is_none());
}

#[test]
fn a_program_at_the_near_end_reaches_the_far_one_and_what_crosses_is_told_once() {
    let Some(Ends { near, far }) = ends("none") else {
        return;
    };
    let End::Far(lab) = &far.end else {
        panic!("{:?}", far.end);
    };
    let address = SocketAddr::from((far.host(), 0));
    let listener = lab.far.within(move || TcpListener::bind(address));
    let listener = listener.unwrap().unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut command = Launch::new(Command::new("bash"), &near.end, &near.starts);
    let script = format!("exec 3<>/dev/tcp/{}/{port} && cat <&3", far.host());
    command.args(["-c", &script]).stdout(Stdio::piped());
    near.end.crossed();
    let child = command.spawn().unwrap();
    listener.accept().unwrap().0.write_all(b"through").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through");
    let crossed = near.end.crossed().unwrap();
    assert_eq!(crossed.total(|line| line.way == Way::Down).payload_bytes, 7);
    assert!(crossed.all().packets >= 5, "{:?}", crossed.all());
    let again = far.end.crossed().unwrap().all().payload_bytes;
    assert_eq!(again, 0);
}

#[test]
fn the_far_end_is_not_reached_from_the_machine_itself_but_from_the_near_one() {
    let Some(Ends { near, far }) = ends("none") else {
        return;
    };
    let End::Far(lab) = &far.end else {
        panic!("{:?}", far.end);
    };
    let address = SocketAddr::from((far.host(), 0));
    let listener = lab.far.within(move || TcpListener::bind(address));
    let address = listener.unwrap().unwrap().local_addr().unwrap();
    assert!(
        near.end.connect(address).is_err(),
        "nobody listens any more"
    );
    let listener = lab.far.within(move || TcpListener::bind(address));
    let _listener = listener.unwrap().unwrap();
    assert!(near.end.connect(address).is_ok());
}

#[test]
fn what_is_no_link_and_what_is_refused_is_said_once_and_kept() {
    let mut links = Links::unchecked();
    let settings = Settings::default();
    let fault = links.ends(&settings, "moon").unwrap_err();
    assert!(fault.contains("no such profile"), "{fault}");
    let given = Settings {
        address: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 1))),
        ..settings
    };
    assert!(links.ends(&given, "lan").is_err());
    assert!(links.ends(&given, LOCAL).is_ok());
}
