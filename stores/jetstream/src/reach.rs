//! Whether a gateway would be let in, for who looks before a start.

use crate::connection::Connection;
use crate::url::Servers;
use std::time::Duration;

/// Logs in at one of the servers, by TLS where it is wanted, and asks what JetStream grants there; an error says why
/// that cannot be.
pub fn reach(servers: &Servers, within: Duration) -> Result<(), String> {
    let started = Connection::start(servers.clone());
    let (nats, thread) = started.map_err(|error| format!("no thread: {error}"))?;
    let answer = nats.request("$JS.API.INFO", b"", within);
    nats.close();
    // A panic of it was printed.
    drop(thread.join());
    match answer?["error"]["description"].as_str() {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }
}
