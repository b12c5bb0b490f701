//! The services: the gateway, which keeps what it is sent, and servers that send it back.
//!
//! The paper's services ran in Glassfish and kept nothing. So do libcoap and Tornado here, which send the
//! message back; the gateway answers when the message is on disk, which is what it is for.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;

use super::cells::{Setting, Stack};
use super::job::Speech;
use crate::results::OURS;
use crate::sockets::{CoapOver, oscore};
pub(crate) use crate::targets::libcoap::NAME as LIBCOAP;
pub(crate) use crate::targets::tornado::NAME as TORNADO;
use crate::targets::{Running, Settings, libcoap, tornado, weir};

/// The topics that a message's fields are kept by.
const TOPICS: &str = "service/#";

/// A server of a service.
pub(crate) struct Server {
    /// Its name in results.
    pub(crate) name: &'static str,
    /// Where its service is.
    pub(super) path: &'static str,
    /// Starts it as a cell wants it.
    pub(super) start: fn(&Settings, &Path, &Setting) -> Result<Running, String>,
    /// How it is spoken to; nothing where it takes no part.
    pub(super) speech: fn(&Setting) -> Option<Speech>,
}

/// All servers; the first is ours.
pub(crate) static SERVERS: [Server; 3] = [
    Server {
        name: OURS,
        path: "live/service",
        start: start_weir,
        speech: to_weir,
    },
    Server {
        name: TORNADO,
        path: "service",
        start: start_tornado,
        speech: to_tornado,
    },
    Server {
        name: LIBCOAP,
        path: "service",
        start: start_libcoap,
        speech: to_libcoap,
    },
];

/// The servers of a cell.
pub(crate) fn of(setting: &Setting) -> impl Iterator<Item = &'static Server> + use<> {
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
    let (key, announced) = match (stack.protocol, stack.transport, stack.security) {
        ("rest", _, "tls") => ("http.listen_tls", "https"),
        ("rest", ..) => ("http.listen", "http"),
        ("coap", "udp", _) => ("coap.listen", "coap"),
        ("coap", _, "tls") => ("coap.listen_tls", "coaps+tcp"),
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
    Some(match (stack.protocol, stack.transport) {
        ("rest", "http-1.1") => Speech::Http1,
        ("rest", "http-2") => Speech::Http2,
        ("coap", _) => Speech::Coap {
            over: over(stack)?,
            put: false,
        },
        _ => return None,
    })
}

/// What carries a stack's CoAP.
fn over(stack: &Stack) -> Option<CoapOver> {
    match (stack.transport, stack.security) {
        ("udp", "none") => Some(CoapOver::Confirmable),
        ("udp", "oscore") => Some(CoapOver::Secured),
        ("tcp", _) => Some(CoapOver::Stream),
        _ => None,
    }
}

fn start_tornado(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let script = include_str!("echo_post.py");
    tornado::start(settings, folder, host(settings, setting), script)
}

fn to_tornado(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    let speaks = (stack.protocol, stack.transport, stack.security) == ("rest", "http-1.1", "none");
    speaks.then_some(Speech::Http1)
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
