//! The whole experiment where it needs no gateway: its cells, and real calls to other people's servers.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::cells::{PAYLOAD, STACKS, Scale, Setting, settings, simple};
use super::coding::Coding;
use super::job::{CallOutcome, CallPlan};
use super::servers::{self, SERVERS};
use weir_bench_lab::targets::free_port;
use weir_bench_load::load::job::Task;
use weir_bench_model::effort::Effort;
use weir_bench_model::published::SERVICES;
use weir_bench_model::results::{CellResult, Run, single};

#[test]
fn every_cell_has_a_server() {
    let served = |setting: &Setting| servers::of(setting).count() > 0;
    assert!(settings(Effort::Full).iter().all(served));
}

#[test]
fn a_full_run_sends_as_many_messages_as_the_papers() {
    let scale = Scale::of(Effort::Full);
    assert_eq!(scale.rounds as u32 * scale.messages, 10_000);
}

#[test]
fn a_queue_of_the_link_is_named_as_links_name_it() {
    let mut queued = settings(Effort::Full)
        .into_iter()
        .filter(|s| s.queue_bytes.is_some());
    let link = queued.next().unwrap().link();
    assert!(weir_link::Profile::read(&link).is_ok(), "{link}");
}

#[test]
fn every_stack_of_the_paper_is_measured_or_named_as_absent() {
    let page = super::page::markdown(&Run::default(), "folder");
    let (_, absent) = page.split_once("## Not there yet").unwrap();
    let measured: Vec<&str> = STACKS.iter().filter_map(|stack| stack.published).collect();
    for row in SERVICES.rows() {
        let name = row.text("stack");
        assert!(measured.contains(&name) || absent.contains(name), "{name}");
    }
}

/// A server of the system, ended with its test.
struct Started(Child, SocketAddr);

impl Started {
    /// Nothing where it is not installed, which is said.
    fn new(program: &str, arguments: impl Fn(&str, &str) -> Vec<String>, v6: bool) -> Option<Self> {
        let host: IpAddr = if v6 {
            Ipv6Addr::LOCALHOST.into()
        } else {
            Ipv4Addr::LOCALHOST.into()
        };
        let address = SocketAddr::new(host, free_port().unwrap());
        let arguments = arguments(&host.to_string(), &address.port().to_string());
        let mut command = Command::new(program);
        command.args(arguments).stderr(Stdio::null());
        let started = command.spawn().map(|child| Self(child, address));
        let mut started = started
            .inspect_err(|error| eprintln!("SKIPPED bench: services: {program}: {error}"))
            .ok()?;
        while TcpStream::connect(address).is_err() {
            if let Some(status) = started.0.try_wait().unwrap() {
                eprintln!("SKIPPED bench: services: {program}: {status}");
                return None;
            }
            std::thread::yield_now();
        }
        Some(started)
    }
}

/// Where the Java programs are, if they were built.
const JAVA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../conformance/services-bench/target"
);

impl Started {
    /// A Java program that tells its address; nothing where it is not built, which is said.
    fn java(class: &str, listener: &str, host: &str) -> Option<Self> {
        let path = format!("{JAVA}/classes:{JAVA}/dependency/*");
        if !Path::new(JAVA).join("classes").is_dir() {
            eprintln!(
                "SKIPPED bench: services: {class}: `mvn -f conformance/services-bench package` builds it"
            );
            return None;
        }
        let mut command = Command::new("java");
        command.args(["-cp", &path, class, host]);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = told[listener].as_str().unwrap().parse().unwrap();
        Some(Self(child, address))
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Calls to a server that has started.
fn called(server: &str, setting: &Setting, started: &Started) -> CallOutcome {
    called_after(3, server, setting, started)
}

/// The same behind so many calls.
fn called_after(warm_up: u32, server: &str, setting: &Setting, started: &Started) -> CallOutcome {
    let server = SERVERS.iter().find(|known| known.name == server).unwrap();
    let plan = CallPlan {
        speech: (server.speech)(setting).unwrap(),
        coding: Coding::of(setting.stack),
        echoes: server.echoes,
        certificate: None,
        path: (server.path)(setting).into(),
        payload_bytes: setting.payload_bytes,
        depth: setting.depth,
        warm_up,
        messages: 20,
        wait_ms: 5000,
    };
    plan.run(started.1).unwrap()
}

fn stack(protocol: &str, transport: &str) -> Setting {
    let mut all = STACKS.iter();
    let found = all.find(|stack| (stack.protocol, stack.transport) == (protocol, transport));
    simple(found.unwrap(), PAYLOAD)
}

/// Every message came back whole; bytes are counted, and as many are more than the messages.
fn all_came_back(outcome: &CallOutcome) {
    assert_eq!((outcome.lost, outcome.echoed), (0, 20));
    assert_eq!(outcome.rtt.count(), 20);
    assert_eq!(outcome.serialization.count(), 20);
    assert_eq!(outcome.deserialization.count(), 20);
    let messages = 2 * 20 * PAYLOAD as u64;
    assert!(outcome.traffic.application_bytes > messages);
    assert!(outcome.traffic.packets >= 2);
}

#[test]
fn messages_come_back_from_tornado_one_by_one_and_pipelined_over_both_families() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/src/services/echo_post.py");
    let arguments = |host: &str, port: &str| [script, host, port].map(Into::into).into();
    let rest = stack("rest", "http-1.1");
    for v6 in [false, true] {
        let Some(started) = Started::new("/usr/bin/python3", arguments, v6) else {
            return;
        };
        for depth in [1, 8] {
            all_came_back(&called(
                servers::TORNADO,
                &Setting { depth, ..rest },
                &started,
            ));
        }
    }
}

#[test]
fn messages_come_back_from_libcoap_by_datagrams_and_by_a_stream() {
    let arguments = |host: &str, port: &str| {
        ["-e", "-d", "4", "-A", host, "-p", port]
            .map(Into::into)
            .into()
    };
    for v6 in [false, true] {
        let Some(started) = Started::new("coap-server-notls", arguments, v6) else {
            return;
        };
        for (transport, depth) in [("udp", 1), ("udp", 8), ("tcp", 1), ("tcp", 8)] {
            let coap = stack("coap", transport);
            all_came_back(&called(
                servers::LIBCOAP,
                &Setting { depth, ..coap },
                &started,
            ));
        }
    }
}

#[test]
fn messages_come_back_from_java_stacks_over_both_families_in_every_size() {
    for (server, class, listener, stack) in [
        (servers::CXF, "weir.Soap", "http", stack("soap", "http-1.1")),
        (
            servers::JERSEY,
            "weir.Rest",
            "http",
            stack("rest", "http-1.1"),
        ),
        (
            servers::CALIFORNIUM,
            "weir.Coap",
            "coap",
            stack("coap", "udp"),
        ),
    ] {
        for host in ["127.0.0.1", "::1"] {
            let Some(started) = Started::java(class, listener, host) else {
                return;
            };
            for (payload_bytes, depth) in [(100, 1), (100, 8), (10_000, 1)] {
                let setting = Setting {
                    payload_bytes,
                    depth,
                    ..stack
                };
                all_came_back(&called(server, &setting, &started));
            }
        }
    }
}

#[test]
fn a_server_that_remembers_message_identifiers_is_called_on_when_all_have_been_used() {
    let Some(started) = Started::java("weir.Coap", "coap", "127.0.0.1") else {
        return;
    };
    let mut setting = stack("coap", "udp");
    setting.payload_bytes = 10_000;
    // Of 10,000 bytes there and back 20 blocks, each with an identifier of the client, which are 65,536.
    let outcome = called_after(3500, servers::CALIFORNIUM, &setting, &started);
    all_came_back(&outcome);
}

#[test]
fn calls_at_depth_are_marked_where_the_caller_is_what_limits_them() {
    let cells: Vec<super::Cell> = super::Cell::all(
        [1, 8].map(|depth| Setting {
            depth,
            ..stack("coap", "udp")
        }),
        Scale::of(Effort::Quick),
    );
    let result = |at: usize, busy: f64| CellResult {
        cell: cells[at].setting.name(),
        status: "ok".into(),
        metrics: vec![single("load_cpu", "cpus", busy)],
        ..CellResult::default()
    };
    let mut results = [result(0, 0.9), result(1, 0.9), result(1, 0.5)];
    super::mark_ceiling(&mut results, &cells);
    let statuses = results.each_ref().map(|it| it.status.as_str());
    assert_eq!(statuses, ["ok", "ceiling", "ok"]);
    assert!(results[0].metric("message_rate_of_ceiling").is_none());
    let share = results[2].metric("message_rate_of_ceiling").unwrap();
    assert_eq!(share.estimate.mean, 50.0);
}
