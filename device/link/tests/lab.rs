//! A real link between two namespaces. What a system does not allow is skipped, loudly.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use weir_link::{Lab, LabFault, Ledger, Options, Phase, Profile, Sharing, Station, Way, pcapng};

/// A lab, or a note that the kernel gives no right to one.
fn lab(test: &str, profile: &str, options: &Options) -> Option<Lab> {
    let profile = Profile::read(profile).unwrap();
    match Lab::unchecked(profile, options) {
        Ok(lab) => Some(lab),
        Err(LabFault::Refused(what, error)) => {
            let line = format!("link: {test}: kernel right: {what}: {error}\n");
            eprint!("SKIPPED {line}");
            if let Ok(path) = std::env::var("WEIR_SKIPS") {
                let file = std::fs::OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(path);
                file.unwrap().write_all(line.as_bytes()).unwrap();
            }
            None
        }
        Err(fault) => panic!("{fault}"),
    }
}

/// Sends `bytes` from near to far over TCP; what arrived.
fn send(lab: &Lab, bytes: usize) -> Vec<u8> {
    let address = SocketAddr::from((lab.far.address(), 0));
    let listener = lab
        .far
        .within(move || TcpListener::bind(address))
        .unwrap()
        .unwrap();
    let address = listener.local_addr().unwrap();
    let mut near = lab
        .near
        .within(move || TcpStream::connect(address))
        .unwrap()
        .unwrap();
    let (mut far, _) = listener.accept().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || near.write_all(&pattern(bytes)).unwrap());
        let mut arrived = Vec::new();
        far.read_to_end(&mut arrived).unwrap();
        arrived
    })
}

fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 % 251) as u8).collect()
}

fn tcp(ledger: &Ledger, way: Way) -> weir_link::Count {
    ledger.total(|line| line.flow.protocol == 6 && line.way == way)
}

#[test]
fn every_byte_of_a_stream_arrives_and_is_counted_once() {
    let Some(lab) = lab("counts", "lan", &Options::default()) else {
        return;
    };
    assert_eq!(send(&lab, 300_000), pattern(300_000));
    let up = tcp(&lab.ledger(), Way::Up);
    assert_eq!(up.payload_bytes, 300_000 + repeated(&lab.ledger()));
    assert!(up.packets >= 300_000 / 1_460, "{up:?}");
    let headers = up.transport_bytes - up.payload_bytes;
    assert!(
        (up.packets * 20..=up.packets * 60).contains(&headers),
        "{up:?}"
    );
    assert_eq!(up.ip_bytes - up.transport_bytes, up.packets * 20);
    let connect = lab.ledger().total(|line| line.phase == Phase::Connect);
    assert!((2..=6).contains(&connect.packets), "{connect:?}");
}

/// Lengths of the packets of a capture, of which each is a block of kind 6.
fn lengths(capture: &[u8]) -> Vec<u32> {
    let word = |at: usize| u32::from_le_bytes(capture[at..at + 4].try_into().unwrap());
    let mut lengths = Vec::new();
    let mut at = 0;
    while at < capture.len() {
        if word(at) == 6 {
            lengths.push(word(at + 24));
        }
        at += word(at + 4) as usize;
    }
    lengths
}

#[test]
fn what_measures_the_link_is_not_in_the_capture() {
    let capture = std::env::temp_dir().join(format!("weir-quiet-{}.pcapng", std::process::id()));
    let options = Options {
        capture: Some(capture.clone()),
        ..Options::default()
    };
    let Some(mut lab) = lab("quiet", "lan", &options) else {
        return;
    };
    lab.check().unwrap();
    drop(lab);
    let lengths = lengths(&std::fs::read(&capture).unwrap());
    std::fs::remove_file(&capture).unwrap();
    // The flood's are full; what the kernel says by itself to its neighbours is short.
    assert!(lengths.iter().all(|&length| length < 1_000), "{lengths:?}");
}

#[test]
fn what_was_written_at_once_is_on_the_link_as_packets() {
    let capture = std::env::temp_dir().join(format!("weir-cut-{}.pcapng", std::process::id()));
    let options = Options {
        capture: Some(capture.clone()),
        ..Options::default()
    };
    let Some(lab) = lab("cut", "lan", &options) else {
        return;
    };
    assert_eq!(send(&lab, 300_000), pattern(300_000));
    drop(lab);
    let lengths = lengths(&std::fs::read(&capture).unwrap());
    std::fs::remove_file(&capture).unwrap();
    assert!(lengths.iter().all(|&length| length <= 1_500), "{lengths:?}");
    let full = lengths.iter().filter(|&&length| length == 1_500).count();
    assert!(
        full >= 300_000 / 1_500,
        "{full} packets of the greatest size"
    );
}

/// Payload that was sent again; on an idle machine none.
fn repeated(ledger: &Ledger) -> u64 {
    let up = tcp(ledger, Way::Up);
    up.payload_bytes
        .saturating_sub(300_000)
        .min(up.retransmitted * 1_460)
}

#[test]
fn a_link_that_loses_is_repaired_by_tcp_and_the_loss_is_told() {
    let options = Options {
        seed: 5,
        ..Options::default()
    };
    let Some(lab) = lab("loss", "lan,up.loss=5 %", &options) else {
        return;
    };
    assert_eq!(send(&lab, 300_000), pattern(300_000));
    let up = tcp(&lab.ledger(), Way::Up);
    assert!(up.dropped_loss > 0 && up.retransmitted > 0, "{up:?}");
    assert_eq!(tcp(&lab.ledger(), Way::Down).dropped_loss, 0);
}

#[test]
fn a_slow_link_drops_what_its_queue_does_not_hold() {
    let Some(lab) = lab("queue", "serial", &Options::default()) else {
        return;
    };
    let near = SocketAddr::from((lab.near.address(), 0));
    let far = SocketAddr::from((lab.far.address(), 9));
    let socket = lab
        .near
        .within(move || UdpSocket::bind(near))
        .unwrap()
        .unwrap();
    for _ in 0..20 {
        socket.send_to(&[7; 1_000], far).unwrap();
    }
    let sent = |ledger: &Ledger| ledger.total(|line| line.flow.protocol == 17);
    let ledger = std::iter::repeat_with(|| lab.ledger()).find(|ledger| sent(ledger).packets == 20);
    let dropped = sent(&ledger.unwrap()).dropped_queue;
    assert!(
        (15..=18).contains(&dropped),
        "{dropped} of 20 dropped by a queue of 3 kB"
    );
}

#[test]
fn what_a_program_started_ends_with_it() {
    let Some(lab) = lab("family", "none", &Options::default()) else {
        return;
    };
    let mut command = Command::new("sh");
    command
        .args(["-c", "sleep 1000 & echo $!; exit 3"])
        .stdout(Stdio::piped());
    let mut child = lab.near.spawn(command).unwrap();
    let mut out = child.stdout.take().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    // The pipe is at its end when the last that holds it is gone.
    let mut said = String::new();
    out.read_to_string(&mut said).unwrap();
    assert!(said.trim().parse::<u32>().is_ok(), "{said}");
}

#[test]
fn what_still_runs_ends_with_the_lab() {
    let Some(lab) = lab("end", "none", &Options::default()) else {
        return;
    };
    let mut command = Command::new("sh");
    command
        .args(["-c", "sleep 1000 & sleep 1000"])
        .stdout(Stdio::piped());
    let mut child = lab.far.spawn(command).unwrap();
    drop(lab);
    assert_eq!(child.wait().unwrap().code(), None, "ended by a signal");
    let mut said = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert_eq!(said, "");
}

#[test]
fn a_program_runs_behind_the_link_and_reaches_the_other_end() {
    let capture = std::env::temp_dir().join(format!("weir-lab-{}.pcapng", std::process::id()));
    let options = Options {
        capture: Some(capture.clone()),
        ..Options::default()
    };
    let Some(lab) = lab("program", "none", &options) else {
        return;
    };
    let address = SocketAddr::from((lab.far.address6(), 0));
    let far = lab
        .far
        .within(move || TcpListener::bind(address))
        .unwrap()
        .unwrap();
    let port = far.local_addr().unwrap().port();
    let script = format!("exec 3<>/dev/tcp/fd77::2/{port} && cat <&3");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).stdout(Stdio::piped());
    let child = lab.near.spawn(command).unwrap();
    far.accept()
        .unwrap()
        .0
        .write_all(b"through the link")
        .unwrap();
    let said = child.wait_with_output().unwrap();
    assert_eq!(said.stdout, b"through the link");
    drop(lab);
    let written = std::fs::read(&capture).unwrap();
    std::fs::remove_file(&capture).unwrap();
    assert_eq!(
        written[..4],
        0x0a0d_0d0a_u32.to_le_bytes(),
        "a section of pcapng"
    );
    assert!(
        written
            .windows(16)
            .any(|bytes| bytes == b"through the link")
    );
    assert!(pcapng::Capture::begin(Vec::new(), 0, 0).is_ok());
}

/// Bytes of UDP that came from a station to the far end and back, in a burst of 1,000 each.
fn echoed(lab: &Lab, stations: &[&Station], packets: usize) -> Vec<usize> {
    let far = SocketAddr::from((lab.far.address(), 0));
    let far = lab.far.within(move || UdpSocket::bind(far));
    let far = far.unwrap().unwrap();
    let to = far.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut buffer = [0; 2_000];
        while let Ok((length, peer)) = far.recv_from(&mut buffer) {
            far.send_to(&buffer[..length], peer).unwrap();
        }
    });
    let socket = |station: &&Station| {
        let near = SocketAddr::from((station.address(), 0));
        let socket = station.within(move || UdpSocket::bind(near));
        let socket = socket.unwrap().unwrap();
        socket.connect(to).unwrap();
        let patience = std::time::Duration::from_secs(1);
        socket.set_read_timeout(Some(patience)).unwrap();
        socket
    };
    let sockets: Vec<UdpSocket> = stations.iter().map(socket).collect();
    for socket in &sockets {
        (0..packets).for_each(|_| assert_eq!(socket.send(&[7; 972]).unwrap(), 972));
    }
    let count = |socket: &UdpSocket| {
        let mut buffer = [0; 2_000];
        (0..packets)
            .take_while(|_| socket.recv(&mut buffer).is_ok())
            .count()
    };
    sockets.iter().map(count).collect()
}

#[test]
fn each_station_of_a_star_reaches_the_center() {
    let options = Options {
        more: 4,
        ..Options::default()
    };
    let Some(lab) = lab("star", "none", &options) else {
        return;
    };
    let stations: Vec<&Station> = lab.stations().collect();
    assert_eq!(echoed(&lab, &stations, 3), [3; 5]);
    let near: std::collections::BTreeSet<_> = lab
        .ledger()
        .lines()
        .map(|line| line.flow.near.ip())
        .collect();
    assert_eq!(near.len(), 5, "every station has its own address: {near:?}");
}

#[test]
fn stations_share_one_queue_or_have_one_each() {
    // Two packets of 1,000 bytes fit a queue of 3 kB beside the one that is being sent.
    for (sharing, echoed_in_all) in [(Sharing::Each, 9), (Sharing::Shared, 3)] {
        let options = Options {
            more: 2,
            sharing,
            ..Options::default()
        };
        let Some(lab) = lab(
            "sharing",
            "serial,down.rate=1 Mbit/s,framing=none",
            &options,
        ) else {
            return;
        };
        let stations: Vec<&Station> = lab.stations().collect();
        let all: usize = echoed(&lab, &stations, 3).iter().sum();
        assert!(
            (echoed_in_all..=echoed_in_all + 1).contains(&all),
            "{sharing:?}: {all} echoes"
        );
    }
}

#[test]
fn a_star_of_too_many_is_refused() {
    let options = Options {
        more: weir_link::limits::STATIONS_MAX + 1,
        ..Options::default()
    };
    let made = Lab::unchecked(Profile::read("none").unwrap(), &options);
    assert!(made.is_err());
}
