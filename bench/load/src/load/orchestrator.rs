//! What a load process says to the orchestrator, and waits to hear of it.

use std::io::Write;

use super::job::Event;

/// Writes one event for the orchestrator.
pub fn emit(event: &Event) {
    tell(&serde_json::to_string(event).unwrap_or_default());
}

/// Writes a line for the process that started this one, which may be gone.
pub fn tell(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Blocks until the orchestrator has taken its measurements, or is gone; the moment it names.
pub fn await_orchestrator() -> u64 {
    let mut line = String::new();
    let _ = std::io::stdin().read_line(&mut line);
    line.trim().parse().unwrap_or(0)
}
