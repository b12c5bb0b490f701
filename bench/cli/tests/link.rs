//! `weir link` as a process that is killed. What a system does not allow is skipped, loudly.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};

fn skip(reason: &str) {
    let line = format!("weir: link: kernel right: {}\n", reason.trim());
    eprint!("SKIPPED {line}");
    if let Ok(path) = std::env::var("WEIR_SKIPS") {
        let mut options = std::fs::OpenOptions::new();
        let file = options.append(true).create(true).open(path);
        file.unwrap().write_all(line.as_bytes()).unwrap();
    }
}

#[test]
fn what_runs_behind_a_link_ends_when_weir_is_killed() {
    let mut weir = Command::new(env!("CARGO_BIN_EXE_weir-bench"))
        .args(["link", "none", "--no-check", "--far", "sleep 1000"])
        .args(["--", "sh", "-c", "sleep 1000 & echo up; sleep 1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(weir.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    if line.is_empty() {
        let mut reason = String::new();
        weir.stderr
            .take()
            .unwrap()
            .read_to_string(&mut reason)
            .unwrap();
        assert!(reason.contains("does not allow"), "{reason}");
        weir.wait().unwrap();
        return skip(&reason);
    }
    // SIGKILL, of which weir learns nothing.
    weir.kill().unwrap();
    weir.wait().unwrap();
    // The pipe is at its end when the last that holds it is gone.
    assert_eq!(out.read_line(&mut line).unwrap(), 0);
}

/// A mount namespace with the program and a device that everybody may open, so that what is asked for is the kernel's
/// own right; in it a user who has no other.
const NOBODY: &str = r#"
set -e
mount -t tmpfs none /mnt
chmod 755 /mnt
mknod /mnt/tun c 10 200
chmod 666 /mnt/tun
mount --bind /mnt/tun /dev/net/tun
touch /mnt/weir
mount --bind "$WEIR" /mnt/weir
exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all -- "$@"
"#;

/// A command of the shell as a user without rights, to whom `$WEIR` is the program; as who runs the test where that
/// is no root.
fn without_rights(script: &str) -> std::process::Output {
    let program = env!("CARGO_BIN_EXE_weir-bench");
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let mut command = match is_root {
        true => Command::new("unshare"),
        false => Command::new("sh"),
    };
    if is_root {
        command.args(["--mount", "sh", "-c", NOBODY, "sh", "sh"]);
    }
    let shown = if is_root { "/mnt/weir" } else { program };
    let script = format!("WEIR={shown}; {script}");
    command
        .args(["-c", &script])
        .env("WEIR", program)
        .output()
        .unwrap()
}

#[test]
fn a_user_without_rights_has_links_by_a_user_namespace() {
    // Whether the kernel lets such a user do so is asked by other means than ours.
    let namespace = "unshare --user --map-root-user --net sh -c 'exec 3<>/dev/net/tun'";
    let allowed = without_rights(&format!("test $(id -u) -ne 0 && {namespace}"));
    if !allowed.status.success() {
        return skip(&String::from_utf8_lossy(&allowed.stderr));
    }
    let script = "$WEIR link lan --no-check -- sh -c 'test -n \"$WEIR_PEER\" && echo through'";
    let weir = without_rights(script);
    let said = String::from_utf8_lossy(&weir.stderr);
    assert!(weir.status.success(), "{said}");
    assert_eq!(String::from_utf8_lossy(&weir.stdout), "through\n", "{said}");
}

/// What three near ends say, sorted, and how all of it ended; nothing where the system refuses.
fn star(options: &[&str], script: &str) -> Option<(Vec<String>, Option<i32>)> {
    let weir = Command::new(env!("CARGO_BIN_EXE_weir-bench"))
        .args(["link", "none", "--no-check", "--stations", "3"])
        .args(options)
        .args(["--", "sh", "-c", script])
        .output()
        .unwrap();
    let reason = String::from_utf8_lossy(&weir.stderr);
    if reason.contains("does not allow") {
        skip(&reason);
        return None;
    }
    let said = String::from_utf8(weir.stdout).unwrap();
    let mut lines: Vec<String> = said.lines().map(str::to_owned).collect();
    lines.sort();
    Some((lines, weir.status.code()))
}

#[test]
fn every_station_of_a_star_has_a_number_and_one_peer() {
    for sharing in [&[][..], &["--shared"]] {
        let script = "echo $WEIR_STATION to $WEIR_PEER";
        let Some((said, code)) = star(sharing, script) else {
            return;
        };
        let all = ["1 to 10.77.0.2", "2 to 10.77.0.2", "3 to 10.77.0.2"];
        assert_eq!((said, code), (all.map(String::from).into(), Some(0)));
    }
}

#[test]
fn a_star_ends_as_the_first_station_that_failed() {
    let Some((_, code)) = star(&[], "test $WEIR_STATION -ne 2 || exit 7") else {
        return;
    };
    assert_eq!(code, Some(7));
}

/// The packets of a capture that have so many bytes on the link: what was kept of each.
fn kept_of(capture: &[u8], length: u32) -> Vec<u32> {
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap());
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < capture.len() {
        // An Enhanced Packet Block: interface, two words of time, bytes kept, bytes on the link.
        if word(at) == 6 && word(at + 24) == length {
            kept.push(word(at + 20));
        }
        at += word(at + 4) as usize;
    }
    kept
}

/// What is kept of a datagram of 1,200 bytes; nothing where the system refuses.
fn captured(options: &[&str]) -> Option<Vec<u32>> {
    let name = format!(
        "weir-snap-{}-{}.pcapng",
        options.concat(),
        std::process::id()
    );
    let capture = std::env::temp_dir().join(name);
    let script = "text=$(printf '%1200s'); printf %s \"$text\" > /dev/udp/$WEIR_PEER/7000";
    let weir = Command::new(env!("CARGO_BIN_EXE_weir-bench"))
        .args(["link", "none", "--no-check", "--pcap"])
        .arg(&capture)
        .args(options)
        .args(["--", "bash", "-c", script])
        .output()
        .unwrap();
    let reason = String::from_utf8_lossy(&weir.stderr);
    if reason.contains("does not allow") {
        skip(&reason);
        return None;
    }
    assert!(weir.status.success(), "{reason}");
    let written = std::fs::read(&capture).unwrap();
    std::fs::remove_file(&capture).unwrap();
    Some(kept_of(&written, 20 + 8 + 1200))
}

#[test]
fn a_capture_keeps_as_much_of_each_packet_as_is_asked_for() {
    let asked = [
        (&["--snap", "100"][..], 100),
        (&["--snap", "0"], 1228),
        (&[], 256),
    ];
    for (options, kept) in asked {
        let Some(read) = captured(options) else {
            return;
        };
        assert_eq!(read, [kept], "{options:?}");
    }
}
