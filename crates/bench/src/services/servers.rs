//! The services: the gateway, which keeps what it is sent, and servers that send it back.
//!
//! The paper's services ran in Glassfish and kept nothing. So do libcoap and Tornado here, which send the
//! message back; the gateway answers when the message is on disk, which is what it is for.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::cells::Setting;
use super::job::Speech;
use crate::results::OURS;
use crate::targets::{
    Running, Settings, bound_to_bench, find_program, free_port, start_listening, weir,
};

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

/// The names of the others.
pub(crate) const TORNADO: &str = "tornado";
/// Of CoAP.
pub(crate) const LIBCOAP: &str = "libcoap";

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
pub(crate) fn of(setting: &Setting) -> impl Iterator<Item = &'static Server> {
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
        _ => weir::launch(settings, folder, announced, &[listen]),
    }
}

fn to_weir(setting: &Setting) -> Option<Speech> {
    Some(match (setting.stack.protocol, setting.stack.transport) {
        ("rest", "http-1.1") => Speech::Http1,
        ("rest", "http-2") => Speech::Http2,
        ("coap", "udp") => Speech::CoapUdp { put: false },
        ("coap", "tcp") => Speech::CoapTcp { put: false },
        _ => return None,
    })
}

fn start_tornado(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let python = PathBuf::from("/usr/bin/python3");
    let version = tornado_version(&python)
        .ok_or("absent: no Tornado here; `apt-get install python3-tornado` brings it")?;
    let script = folder.join("echo_post.py");
    std::fs::write(&script, include_str!("echo_post.py")).map_err(|e| e.to_string())?;
    let address = SocketAddr::new(host(settings, setting), free_port()?);
    let mut command = bound_to_bench(settings, &python)?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    command.arg(&script).args([host, port]);
    start_listening(command, address, version, &folder.join("stderr.log"))
}

fn tornado_version(python: &Path) -> Option<String> {
    let asked = "import tornado, sys; \
                 print('Tornado', tornado.version, 'on Python', sys.version.split()[0])";
    let output = Command::new(python).args(["-c", asked]).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(printed)
}

fn to_tornado(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    let speaks = (stack.protocol, stack.transport, stack.security) == ("rest", "http-1.1", "none");
    speaks.then_some(Speech::Http1)
}

/// `-e` has it send back what is PUT.
fn start_libcoap(settings: &Settings, folder: &Path, setting: &Setting) -> Result<Running, String> {
    let program = find_program("coap-server-notls", "libcoap3-bin")?;
    let address = SocketAddr::new(host(settings, setting), free_port()?);
    let mut command = bound_to_bench(settings, &program)?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    command.args(["-e", "-d", "4", "-A", &host, "-p", &port]);
    let version = "libcoap of the system's package libcoap3-bin".into();
    // It listens on TCP too, by which it is seen to be ready.
    start_listening(command, address, version, &folder.join("stderr.log"))
}

fn to_libcoap(setting: &Setting) -> Option<Speech> {
    let stack = setting.stack;
    match (stack.protocol, stack.transport, stack.security) {
        ("coap", "udp", "none") => Some(Speech::CoapUdp { put: true }),
        ("coap", "tcp", "none") => Some(Speech::CoapTcp { put: true }),
        _ => None,
    }
}
