//! Prosody, Debian's: XMPP with its own publish-subscribe service (XEP-0060), and the same server with the
//! gateway in that place.
//!
//! Either is reached at one server by one client: what differs is who answers for the domain of the service.
//! Nobody speaks TLS. Two of Prosody's defaults are changed, as a user may: it leaves Nagle's algorithm on, which
//! with delayed acknowledgements makes a round trip of 40 to 60 ms of the second write (`nagle = false`), and its
//! own service rewrites a node's items in their file twice a publication (`storage = "memory"` keeps them without).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{
    OF_MESSAGING, Running, Settings, Target, bound_to_bench, find_program, free_ports,
    start_listening, weir,
};

pub(super) const TARGET: Target = Target {
    name: "prosody",
    about: "Prosody by XMPP, its own publish-subscribe service, items in memory, Nagle off; \
            of `messaging` only",
    look: |_| look().map(|(_, version)| version),
    start,
    ..OF_MESSAGING
};

pub(super) const WEIR: Target = Target {
    name: "weir_xmpp",
    about: "the gateway as publish-subscribe service behind Prosody, Nagle off; \
            of `messaging` only",
    look: |settings| look().and_then(|_| (weir::TARGET.look)(settings)),
    start: start_weir,
    ..OF_MESSAGING
};

/// The domain of the server, and of the service behind it.
pub const DOMAIN: &str = "localhost";
/// The host of its publish-subscribe service.
pub const SERVICE: &str = "pubsub.localhost";
/// A user of the bench alone, whose password protects nothing.
pub const USER: (&str, &str) = ("bench", "bench");

/// What it says while it starts.
const LOG: &str = "stderr.log";

fn look() -> Result<(PathBuf, String), String> {
    let program = find_program("prosody", "prosody")?;
    let version = std::fs::read_to_string("/usr/lib/prosody/prosody.version");
    let version = version.map_or_else(
        |_| "Prosody".into(),
        |text| format!("Prosody {}", text.trim()),
    );
    Ok((program, version))
}

fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let own = format!(
        "Component \"{SERVICE}\" \"pubsub\"\n    autocreate_on_publish = true\n    autocreate_on_subscribe = true\n    \
         storage = \"memory\"\n"
    );
    launch(settings, folder, &own).map(|(running, _)| running)
}

fn start_weir(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let own = format!("Component \"{SERVICE}\"\n    component_secret = \"bench\"\n");
    let (mut running, component) = launch(settings, folder, &own)?;
    running.await_listener(&settings.end, component, &folder.join(LOG))?;
    let sets = [
        format!("xmpp.url=xmpp://{component}"),
        format!("xmpp.component={SERVICE}"),
        "xmpp.password=bench".to_owned(),
        "xmpp.format=json".to_owned(),
    ];
    let beside = folder.join("weir");
    std::fs::create_dir_all(&beside).map_err(|e| e.to_string())?;
    let gateway = weir::launch(settings, &beside, "http", &sets)?;
    Ok(running.with(gateway))
}

/// Starts the server; says where it takes components.
fn launch(settings: &Settings, folder: &Path, own: &str) -> Result<(Running, SocketAddr), String> {
    let (program, version) = look()?;
    let host = settings.host();
    let [clients, web, component] = free_ports()?;
    let accounts = folder.join("data").join(DOMAIN).join("accounts");
    std::fs::create_dir_all(&accounts).map_err(|e| e.to_string())?;
    let shown = folder.display();
    let (user, password) = USER;
    let configuration = format!(
        "run_as_root = true\npidfile = \"{shown}/pid\"\ndata_path = \"{shown}/data\"\n\
         log = {{ error = \"{shown}/log\" }}\ninterfaces = {{ \"{host}\" }}\n\
         c2s_ports = {{ {clients} }}\nc2s_direct_tls_ports = {{ }}\ns2s_ports = {{ }}\n\
         http_interfaces = {{ \"{host}\" }}\nhttp_ports = {{ {web} }}\nhttps_ports = {{ }}\n\
         component_interfaces = {{ \"{host}\" }}\ncomponent_ports = {{ {component} }}\n\
         modules_enabled = {{ \"c2s\", \"saslauth\", \"disco\", \"websocket\" }}\n\
         c2s_require_encryption = false\nconsider_websocket_secure = true\n\
         cross_domain_websocket = true\nauthentication = \"internal_plain\"\n\
         network_settings = {{ nagle = false }}\n\
         admins = {{ \"{user}@{DOMAIN}\" }}\nlimits = {{ }}\nVirtualHost \"{DOMAIN}\"\n{own}"
    );
    let account = format!("return {{ [\"password\"] = \"{password}\"; }};\n");
    let files = [
        (folder.join("prosody.cfg.lua"), configuration),
        (accounts.join(format!("{user}.dat")), account),
    ];
    for (file, text) in &files {
        std::fs::write(file, text).map_err(|e| e.to_string())?;
    }
    let mut command = bound_to_bench(settings, &program)?;
    if rustix::process::geteuid().is_root() {
        command.arg("--root");
    }
    command.arg("--config").arg(&files[0].0).arg("-F");
    let address = SocketAddr::from((host, clients));
    let mut running = start_listening(command, address, version, &folder.join(LOG))?;
    let pages = SocketAddr::from((host, web));
    running.await_listener(&settings.end, pages, &folder.join(LOG))?;
    let component = SocketAddr::from((host, component));
    let user = (format!("{user}@{DOMAIN}"), password.to_owned());
    let url = format!("ws://{host}:{web}/xmpp-websocket");
    Ok((running.reached_at(url, Some(user)), component))
}
