//! Whether a gateway would be let in, for who looks before a start.

use crate::connection::Connection;
use crate::limits::TICK;
use crate::log::Options;
use crate::mark::RecordsMark;
use crate::name::Names;
use std::thread;
use std::time::{Duration, Instant};

/// JetStream's own number for a stream that is not there.
const NOT_FOUND: u64 = 10_059;

/// Logs in at one of the servers, by TLS where it is wanted, and asks for the stream as a start does, which makes it
/// where there is none; an error says why that cannot be.
pub fn reach(options: &Options, within: Duration) -> Result<(), String> {
    let until = Instant::now() + within;
    let started = Connection::start(options.servers.clone());
    // Its thread ends by itself, when the server that it tries has answered.
    let (nats, _thread) = started.map_err(|error| format!("no thread: {error}"))?;
    let asked = connected(&nats, until).and_then(|()| {
        let names = Names::of(&options.stream);
        let subject = format!("$JS.API.STREAM.INFO.{}", names.stream);
        nats.request(
            &subject,
            b"",
            until.saturating_duration_since(Instant::now()),
        )
    });
    nats.close();
    let answer = asked?;
    let error = &answer["error"];
    match error["description"].as_str() {
        Some(problem) if error["err_code"] != NOT_FOUND => Err(problem.into()),
        _ => RecordsMark::of(&answer["config"])
            .check(&options.stream)
            .map_err(|later| later.to_string()),
    }
}

/// Waits for a connection.
fn connected(nats: &Connection, until: Instant) -> Result<(), String> {
    loop {
        match nats.round() {
            Ok(_) => return Ok(()),
            Err(why) if Instant::now() >= until => {
                let nothing = "no server has answered yet".to_owned();
                return Err(if why.is_empty() { nothing } else { why });
            }
            Err(_) => thread::sleep(TICK / 10),
        }
    }
}
