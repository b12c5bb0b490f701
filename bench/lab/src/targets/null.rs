//! The null servers, which speak the gateway's own protocol: see [`weir_bench_load::null`].

use std::path::Path;

use super::weir::{publish, subscribe};
use super::{Replay, Running, Settings, Target, start_announced, this_program};
use weir_bench_load::null::{COALESCE, SUBCOMMAND};

pub(super) const TARGET: Target = Target {
    name: "null",
    about: "one thread that copies what it gets to every subscriber, a write a message",
    look: |_| Ok(VERSION.into()),
    start: |settings, folder| start(settings, folder, &[]),
    publish: Some(publish),
    subscribe,
    replay: None,
};

pub(super) const COALESCING: Target = Target {
    name: "null_coalescing",
    about: "the same, one write for all that is due; the ceiling of the load and this machine",
    look: |_| Ok(VERSION.into()),
    start: |settings, folder| start(settings, folder, &[COALESCE]),
    publish: Some(publish),
    subscribe,
    replay: Some(replay),
};

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn start(settings: &Settings, folder: &Path, arguments: &[&str]) -> Result<Running, String> {
    let mut command = this_program(settings)?;
    command.arg(SUBCOMMAND).arg(settings.host().to_string());
    command.args(arguments);
    start_announced(command, "http", VERSION.into(), &folder.join("stderr.log"))
}

fn replay(topic: &str) -> Replay {
    let request =
        format!("GET /live/{topic}?stream&since={{cursor}} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    Replay {
        cursor_request: None,
        replay_request: request,
    }
}
