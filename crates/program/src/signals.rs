//! The signals that end a program.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, which end the process at once until this is made, and are waited for from then on.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Waits for them from now on; an error of the system.
    pub fn listen() -> Result<Self, std::io::Error> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Returns when one of them has come.
    pub async fn come(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
