//! Threads for what takes a while, files read or passwords hashed: it must not hold up what is live.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use weir_binding::{Busy, Workers};

type Job = Box<dyn FnOnce() + Send>;

/// Threads that end with the gateway.
pub(crate) struct WorkThreads {
    jobs: Sender<Job>,
    waiting: Arc<AtomicUsize>,
    waiting_max: usize,
}

impl WorkThreads {
    /// So many threads of this name, and so many jobs that may wait for them.
    pub(crate) fn start(name: &str, count: usize, waiting_max: usize) -> io::Result<Self> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let waiting = Arc::new(AtomicUsize::new(0));
        for number in 0..count {
            let (queue, waiting) = (queue.clone(), waiting.clone());
            let name = format!("{name}-{number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || while work_off(&queue, &waiting) {})?;
        }
        Ok(Self {
            jobs,
            waiting,
            waiting_max,
        })
    }
}

/// Does the next job; says whether there may be more. A job that panics ends itself only.
fn work_off(queue: &Mutex<Receiver<Job>>, waiting: &AtomicUsize) -> bool {
    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
    let Ok(job) = next else { return false };
    waiting.fetch_sub(1, Ordering::Relaxed);
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
        tracing::error!("work broke off");
    }
    true
}

impl Workers for WorkThreads {
    fn take(&self, work: Job) -> Result<(), Busy> {
        let more = |waiting: usize| (waiting < self.waiting_max).then_some(waiting + 1);
        let counted = self
            .waiting
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        counted.map_err(|_| Busy)?;
        self.jobs.send(work).map_err(|_| Busy)
    }

    fn take_next(&self, work: Job) -> Result<(), Busy> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.jobs.send(work).map_err(|_| Busy)
    }
}
