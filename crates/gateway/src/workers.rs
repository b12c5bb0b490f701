//! Threads for what takes a while, files read or passwords hashed: it must not hold up what is live.

use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use weir_binding::{Busy, Workers};

type Job = Box<dyn FnOnce() + Send>;

/// Threads that end with the gateway.
pub(crate) struct WorkThreads {
    jobs: SyncSender<Job>,
}

impl WorkThreads {
    /// So many threads of this name, and so many jobs that may wait for them.
    pub(crate) fn start(name: &str, count: usize, waiting_max: usize) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(waiting_max);
        let waiting = Arc::new(Mutex::new(waiting));
        for number in 0..count {
            let waiting = waiting.clone();
            let name = format!("{name}-{number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || while work_off(&waiting) {})?;
        }
        Ok(Self { jobs })
    }
}

/// Does the next job; says whether there may be more. A job that panics ends itself only.
fn work_off(waiting: &Mutex<Receiver<Job>>) -> bool {
    let next = waiting
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .recv();
    let Ok(job) = next else { return false };
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
        tracing::error!("work broke off");
    }
    true
}

impl Workers for WorkThreads {
    fn take(&self, work: Job) -> Result<(), Busy> {
        self.jobs.try_send(work).map_err(|_| Busy)
    }
}
