//! The services: the gateway, which keeps what it is sent, and servers that send it back.
//!
//! The paper's services ran in Glassfish and kept nothing. So do Apache CXF, Jersey and Californium here, on a
//! Java virtual machine as the paper's, and Tornado and libcoap: all send the message back; the gateway answers
//! when the message is on disk, which is what it is for.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;

use super::cells::{Setting, Stack};
use super::job::Speech;
pub(super) use weir_bench_lab::targets::java_services::{CALIFORNIUM, CXF, JERSEY};
pub(super) use weir_bench_lab::targets::libcoap::NAME as LIBCOAP;
pub(super) use weir_bench_lab::targets::tornado::NAME as TORNADO;
use weir_bench_lab::targets::{Running, Settings, java_services, libcoap, tornado, weir};
use weir_bench_model::cell::LOCAL;
use weir_bench_model::results::OURS;
use weir_bench_peers::coap::CoapOver;
use weir_bench_peers::oscore;

/// The topics that a message's fields are kept by.
const TOPICS: &str = "service/#";
/// Where servers of ours have the service that sends back what it is sent.
const ECHO: &str = "service";

/// A server of a service.
pub(super) struct Server {
    /// Its name in results.
    pub name: &'static str,
    /// Where its service is.
    pub(super) path: fn(&Setting) -> &'static str,
    /// Whether its answer carries the message back.
    pub(super) echoes: bool,
    /// Whether it runs on a Java virtual machine, which is warmed first.
    pub(super) is_jvm: bool,
    /// Starts it as a cell wants it.
    pub(super) start: fn(&Settings, &Path, &Setting) -> Result<Running, String>,
    /// How it is spoken to; nothing where it takes no part.
    pub(super) speech: fn(&Setting) -> Option<Speech>,
}

/// All servers; the first is ours.
pub(super) static SERVERS: [Server; 6] = [
    Server {
        name: OURS,
        path: |setting| match setting.stack.protocol {
            "soap" => weir_soap::client::PATH,
            _ => "live/service",
        },
        echoes: false,
        is_jvm: false,
        start: start_weir,
        speech: to_weir,
    },
    Server {
        is_jvm: true,
        ..echo(CXF, start_java, to_cxf)
    },
    Server {
        is_jvm: true,
        ..echo(JERSEY, start_java, to_jersey)
    },
    echo(TORNADO, start_tornado, to_rest),
    Server {
        is_jvm: true,
        ..echo(CALIFORNIUM, start_java, to_californium)
    },
    echo(LIBCOAP, start_libcoap, to_libcoap),
];

/// A server that sends the message back.
const fn echo(
    name: &'static str,
    start: fn(&Settings, &Path, &Setting) -> Result<Running, String>,
    speech: fn(&Setting) -> Option<Speech>,
) -> Server {
    Server {
        name,
        path: |_| ECHO,
        echoes: true,
        is_jvm: false,
        start,
        speech,
    }
}

/// The servers of a cell.
pub(super) fn of(setting: &Setting) -> impl Iterator<Item = &'static Server> + use<> {
    let setting = *setting;
    SERVERS
        .iter()
        .filter(move |server| (server.speech)(&setting).is_some())
}

/// Where a server of a cell listens.
fn host(settings: &Settings, setting: &Setting) -> IpAddr {
    match setting.family {
        "ipv6" => IpAddr::V6(Ipv6Addr::LOCALHOST),
        _ => IpAddr::V4(settings.host()),
    }
}

fn start_weir(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: --url names one listener, and each stack needs its own".into());
    }
    let stack = setting.stack;
    let (key, announced) = match (stack.transport, stack.security) {
        ("http-1.1" | "http-2", "tls") => ("http.listen_tls", "https"),
        ("http-1.1" | "http-2", _) => ("http.listen", "http"),
        ("udp" | "coap", _) => ("coap.listen", "coap"),
        (_, "tls") => ("coap.listen_tls", "coaps+tcp"),
        _ => ("coap.listen_tcp", "coap+tcp"),
    };
    let listen = format!("{key}={}", SocketAddr::new(host(settings, setting), 0));
    match stack.security {
        "tls" => weir::launch_certified(settings, folder, announced),
        "oscore" => {
            let policy = folder.join("policy.toml");
            oscore::write_policy(&policy, TOPICS)?;
            let set = format!("access.policy={}", policy.display());
            weir::launch(settings, folder, announced, &[listen, set])
        }
        _ => weir::launch(settings, folder, announced, &[listen]),
    }
}

fn to_weir(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    Some(match stack.transport {
        "http-1.1" if stack.protocol == "dpws" => Speech::Dpws,
        "http-1.1" => Speech::Http1,
        "http-2" => Speech::Http2,
        _ => Speech::Coap {
            over: over(stack)?,
            put: false,
        },
    })
}

/// What carries a stack's CoAP.
fn over(stack: &Stack) -> Option<CoapOver> {
    match (stack.transport, stack.security) {
        ("udp" | "coap", "none") => Some(CoapOver::Confirmable),
        ("udp", "oscore") => Some(CoapOver::Secured),
        ("tcp", _) => Some(CoapOver::Stream),
        _ => None,
    }
}

fn start_tornado(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let script = include_str!("echo_post.py");
    tornado::start(settings, folder, host(settings, setting), script)
}

/// HTTP/1.1 in the clear, in Protobuf.
fn to_rest(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    let speaks = (stack.protocol, stack.transport, stack.security) == ("rest", "http-1.1", "none");
    speaks.then_some(Speech::Http1)
}

fn start_java(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let name = match setting.stack.protocol {
        "soap" => CXF,
        "rest" => JERSEY,
        _ => CALIFORNIUM,
    };
    java_services::start(name, settings, folder, host(settings, setting))
}

/// A link on which a virtual machine is warm in a moment.
fn is_short(setting: &Setting) -> bool {
    matches!(setting.link, LOCAL | "lan")
}

/// SOAP by HTTP/1.1 in the clear.
fn to_cxf(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    let spoken = ("soap", "http-1.1", "none", "soap");
    let speaks = (
        stack.protocol,
        stack.transport,
        stack.security,
        stack.format,
    ) == spoken;
    (speaks && is_short(setting)).then_some(Speech::Http1)
}

fn to_jersey(setting: &Setting) -> Option<Speech> {
    to_rest(setting).filter(|_| is_short(setting))
}

/// CoAP by datagrams in the clear.
fn to_californium(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    let speaks = (stack.protocol, stack.transport, stack.security) == ("coap", "udp", "none");
    let speech = Speech::Coap {
        over: over(stack)?,
        put: false,
    };
    (speaks && is_short(setting)).then_some(speech)
}

/// `-e` has it send back what is PUT.
fn start_libcoap(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    libcoap::start(settings, folder, host(settings, setting), &["-e"])
}

fn to_libcoap(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    match (stack.protocol, stack.security) {
        ("coap", "none") => Some(Speech::Coap {
            over: over(stack)?,
            put: true,
        }),
        _ => None,
    }
}
