//! The thread that drives connections for callers that wait, on whichever thread they are.
//!
//! The decision worth arguing: whoever asks for history waits on a channel of the standard library, since it may
//! be on a thread of another runtime, which must not be entered twice.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::LocalSet;
use weir_storage::HistoryFault;

type Task = Pin<Box<dyn Future<Output = ()>>>;
type Job = Box<dyn FnOnce() -> Task + Send>;

/// A runtime of one thread, which ends when this is dropped.
pub(crate) struct Driver {
    jobs: Option<UnboundedSender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (jobs, mut due) = unbounded_channel();
        let thread = thread::Builder::new().name("postgres".into());
        let thread =
            thread.spawn(move || LocalSet::new().block_on(&runtime, begin_each(&mut due)))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Does something there and waits for it, for so long at most.
    pub(crate) fn run<T, F>(
        &self,
        within: Duration,
        begin: impl FnOnce() -> F + Send + 'static,
    ) -> Result<T, HistoryFault>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, HistoryFault>> + 'static,
    {
        let (tell, told) = mpsc::channel();
        let job: Job = Box::new(move || {
            Box::pin(async move {
                let done = tokio::time::timeout(within, begin()).await;
                // Whoever asked waits.
                let _heard = tell.send(done.unwrap_or_else(|_| Err(late())));
            })
        });
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        match (sent, told.recv()) {
            (Some(Ok(())), Ok(done)) => done,
            _ => Err(HistoryFault::Failed(
                "the thread of PostgreSQL has ended".into(),
            )),
        }
    }
}

async fn begin_each(due: &mut UnboundedReceiver<Job>) {
    while let Some(job) = due.recv().await {
        tokio::task::spawn_local(job());
    }
}

fn late() -> HistoryFault {
    HistoryFault::Failed("PostgreSQL did not answer in time".into())
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.jobs = None;
        // A panic of the thread was printed.
        let _ended = self.thread.take().map(JoinHandle::join);
    }
}
