//! websockify before a broker that has no WebSocket: bytes from a page's messages to TCP, and back.
//!
//! It is part of what a page's messages pass and of no native client's; its processor time is not the
//! broker's and is not counted. An absent relay leaves the broker without a way for pages.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use super::{
    Running, Settings, bound_to_bench, find_program, free_port, of_the_project, start_listening,
};

/// Where `scripts/peers` puts it.
const INSTALLED: &str = "build/venv/bin/websockify";

/// The broker with a relay before it, where pages are to come and a relay is there.
pub(super) fn before(
    broker: Running,
    settings: &Settings,
    folder: &Path,
) -> Result<Running, String> {
    let program = match (&settings.pages, look()) {
        (Some(_), Ok(program)) => program,
        _ => return Ok(broker),
    };
    let at = SocketAddr::from((settings.host(), free_port()?));
    let mut command = bound_to_bench(settings, &program)?;
    command.args([at.to_string(), broker.address.to_string()]);
    let relay = start_listening(command, at, "websockify".into(), &folder.join("relay.log"))?;
    let version = format!("{}, pages by websockify", broker.version);
    // The user that brokers come with.
    let user = Some(("guest".to_owned(), "guest".to_owned()));
    let mut broker = broker.beside(relay).reached_at(format!("ws://{at}/"), user);
    broker.version = version;
    Ok(broker)
}

fn look() -> Result<PathBuf, String> {
    let program = of_the_project(Path::new(INSTALLED));
    match program.is_file() {
        true => Ok(program),
        false => find_program("websockify", "websockify"),
    }
}
