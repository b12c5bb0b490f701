//! What is written down of the packets.

use super::fault::LabFault;
use super::options::Options;
use crate::ledger::Ledger;
use crate::pcapng::Capture;
use crate::time::Nanos;
use std::fs::File;
use std::io::BufWriter;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// What is written down of the packets.
pub(super) struct Books {
    pub(super) begin: Instant,
    pub(super) ledger: Mutex<Ledger>,
    pub(super) capture: Mutex<Option<Capture<BufWriter<File>>>>,
}

impl Books {
    pub(super) fn open(options: &Options) -> Result<Self, LabFault> {
        let begin = Instant::now();
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH);
        let epoch = epoch.map_or(0, |since| since.as_nanos() as u64);
        let capture = options.capture.as_ref().map(|path| {
            let file = File::create(path)?;
            Capture::begin(BufWriter::new(file), epoch, options.snap)
        });
        let fault = |error| LabFault::Io("the file for the capture", error);
        Ok(Self {
            begin,
            ledger: Mutex::default(),
            capture: Mutex::new(capture.transpose().map_err(fault)?),
        })
    }

    pub(super) fn now(&self) -> Nanos {
        self.begin.elapsed().as_nanos() as Nanos
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
