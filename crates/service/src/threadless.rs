//! Workers that are no threads: for who embeds a service where nothing else waits, and for tests.

use crate::work::{Busy, Workers};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

/// Does work where it is asked for, before the answer is waited for.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtOnce;

impl Workers for AtOnce {
    fn take(&self, work: Job) -> Result<(), Busy> {
        work();
        Ok(())
    }
}

/// Keeps work until it is worked off or lost.
pub struct Drawer {
    jobs: Mutex<Vec<Job>>,
    room: usize,
}

impl Drawer {
    /// One that is full with so many jobs.
    pub fn with_room(room: usize) -> Self {
        let jobs = Mutex::default();
        Self { jobs, room }
    }

    /// How many jobs wait.
    pub fn waiting(&self) -> usize {
        self.jobs().len()
    }

    /// Does what waits; says how many jobs that were.
    pub fn work_off(&self) -> usize {
        let jobs = std::mem::take(&mut *self.jobs());
        let count = jobs.len();
        jobs.into_iter().for_each(|job| job());
        count
    }

    /// Drops what waits undone, as a thread that breaks off does.
    pub fn lose(&self) {
        let jobs = std::mem::take(&mut *self.jobs());
        drop(jobs);
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Drawer {
    fn default() -> Self {
        Self::with_room(usize::MAX)
    }
}

impl Workers for Drawer {
    fn take(&self, work: Job) -> Result<(), Busy> {
        let mut jobs = self.jobs();
        if jobs.len() >= self.room {
            return Err(Busy);
        }
        jobs.push(work);
        Ok(())
    }
}
