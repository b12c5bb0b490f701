//! Threads for what takes a while, files read or passwords hashed: it must not hold up what is live.
//!
//! The decision worth arguing: one thread takes nothing long, so that who asks for little waits for others who ask for
//! little, whatever else is asked for.

use crate::limits::SHORT_WAITING_MAX;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use weir_binding::{Busy, Workers};
use weir_hub::Memory;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that end with the gateway.
pub(crate) struct WorkThreads {
    desk: Arc<Desk>,
    waiting_max: usize,
    memory: Arc<Memory>,
}

/// What waits for the threads.
struct Desk {
    jobs: Mutex<Jobs>,
    more: Condvar,
}

#[derive(Default)]
struct Jobs {
    short: VecDeque<Job>,
    long: VecDeque<Job>,
    /// How many more long ones may be under way.
    long_left: usize,
    over: bool,
}

impl WorkThreads {
    /// So many threads of this name, and so many jobs of either length that may wait for them, whose answers count
    /// there. One of several threads takes no long one.
    pub(crate) fn start(
        name: &str,
        count: usize,
        waiting_max: usize,
        memory: Arc<Memory>,
    ) -> io::Result<Self> {
        let jobs = Jobs {
            long_left: count.saturating_sub(1).max(1),
            ..Jobs::default()
        };
        let desk = Arc::new(Desk {
            jobs: Mutex::new(jobs),
            more: Condvar::new(),
        });
        for number in 0..count {
            let desk = desk.clone();
            let name = format!("{name}-{number}");
            thread::Builder::new()
                .name(name)
                .spawn(move || while desk.work_off() {})?;
        }
        Ok(Self {
            desk,
            waiting_max,
            memory,
        })
    }

    /// Puts a job into a queue, unless too many wait there.
    fn put(
        &self,
        queue: impl FnOnce(&mut Jobs) -> &mut VecDeque<Job>,
        most: usize,
        work: Job,
    ) -> Result<(), Busy> {
        let mut jobs = self.desk.jobs();
        let queue = queue(&mut jobs);
        if queue.len() >= most {
            return Err(Busy);
        }
        queue.push_back(work);
        drop(jobs);
        self.desk.more.notify_one();
        Ok(())
    }
}

impl Desk {
    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the next job; says whether there may be more. A job that panics ends itself only.
    fn work_off(&self) -> bool {
        let mut jobs = self.jobs();
        let (job, is_long) = loop {
            match jobs.next() {
                Some(next) => break next,
                None if jobs.over => return false,
                None => jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(jobs);
        if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
            tracing::error!("work broke off");
        }
        if is_long {
            self.jobs().long_left += 1;
            self.more.notify_one();
        }
        true
    }
}

impl Jobs {
    /// The next that may be begun, and whether it is a long one.
    fn next(&mut self) -> Option<(Job, bool)> {
        if let Some(short) = self.short.pop_front() {
            return Some((short, false));
        }
        let left = self.long_left.checked_sub(1)?;
        let long = self.long.pop_front()?;
        self.long_left = left;
        Some((long, true))
    }
}

impl Workers for WorkThreads {
    fn take(&self, work: Job) -> Result<(), Busy> {
        self.put(|jobs| &mut jobs.short, self.waiting_max, work)
    }

    fn take_long(&self, work: Job) -> Result<(), Busy> {
        // Where memory is short most of them would only be dropped.
        let most = match self.memory.is_short() {
            true => self.waiting_max.min(SHORT_WAITING_MAX),
            false => self.waiting_max,
        };
        self.put(|jobs| &mut jobs.long, most, work)
    }

    fn take_next(&self, work: Job) -> Result<(), Busy> {
        self.put(|jobs| &mut jobs.short, usize::MAX, work)
    }

    fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

impl Drop for WorkThreads {
    fn drop(&mut self) {
        let mut jobs = self.desk.jobs();
        jobs.over = true;
        let unbegun = [
            std::mem::take(&mut jobs.short),
            std::mem::take(&mut jobs.long),
        ];
        drop(jobs);
        self.desk.more.notify_all();
        drop(unbegun);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn who_asks_for_little_does_not_wait_for_who_asks_for_much() {
        let workers = WorkThreads::start("try", 2, 10, Arc::default()).unwrap();
        let (free, held) = channel::<()>();
        let (tell, told) = channel();
        let held = Arc::new(Mutex::new(held));
        for number in 0..3 {
            let (held, tell) = (held.clone(), tell.clone());
            let long = move || {
                let _freed = held.lock().unwrap().recv();
                tell.send(number).unwrap();
            };
            workers.take_long(Box::new(long)).unwrap();
        }
        let short = tell.clone();
        workers
            .take(Box::new(move || short.send(9).unwrap()))
            .unwrap();
        assert_eq!(told.recv(), Ok(9));
        drop(free);
        assert_eq!(told.iter().take(3).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn too_many_are_refused_each_length_by_itself() {
        let workers = WorkThreads::start("try", 0, 2, Arc::default()).unwrap();
        let job = || Box::new(|| {});
        for _ in 0..2 {
            workers.take_long(job()).unwrap();
        }
        assert_eq!(workers.take_long(job()), Err(Busy));
        for _ in 0..2 {
            workers.take(job()).unwrap();
        }
        assert_eq!(workers.take(job()), Err(Busy));
        assert_eq!(workers.take_next(job()), Ok(()));
    }
}
