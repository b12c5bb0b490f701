//! A machine with two disks, one of the log and one of the history, and what happens to it.

use crate::Chance;
use crate::house::at;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;
use weir_embedded::EmbeddedHistory;
use weir_hub::Hub;
use weir_log::{DiskLog, Options, SimDisk};
use weir_model::{Limits, Time};

/// Operations of a disk in which a fault that is drawn comes about.
const SOON: u64 = 40;

pub(crate) struct Machine {
    log: SimDisk,
    history: SimDisk,
    options: Options,
    running: Option<Arc<Hub>>,
    millis: Cell<i64>,
}

impl Machine {
    /// Half of them keep little more of the log than the history lacks.
    pub(crate) fn new(chance: &mut Chance) -> Self {
        let options = Options {
            segment_bytes: 4096,
            retention_bytes: [u64::MAX, 16_384][chance.below(2) as usize],
            retention_age: Duration::from_secs(1 << 40),
            pending_bytes_max: 1 << 20,
        };
        let mut machine = Self {
            log: SimDisk::new(),
            history: SimDisk::new(),
            options,
            running: None,
            millis: Cell::new(0),
        };
        machine.starts().unwrap();
        machine
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        self.running.as_ref().unwrap()
    }

    /// A clock on which no two readings are the same.
    pub(crate) fn now(&self) -> Time {
        self.millis.set(self.millis.get() + 1);
        at(self.millis.get())
    }

    fn starts(&mut self) -> Result<(), String> {
        let log = DiskLog::open(Arc::new(self.log.clone()), self.options.clone());
        let log = Arc::new(log.map_err(|fault| fault.to_string())?);
        let kept = EmbeddedHistory::on(Arc::new(self.history.clone()), Default::default());
        let kept = Arc::new(kept.map_err(|fault| fault.to_string())?);
        let hub = Hub::start(log, kept, Limits::default(), self.now());
        self.running = Some(hub.map_err(|fault| fault.to_string())?);
        Ok(())
    }

    /// The power fails, or only the process is killed; perhaps once more while it starts.
    pub(crate) fn goes_down(&mut self, chance: &mut Chance) {
        self.falls(chance);
        if chance.below(3) == 0 {
            self.dies_soon(chance);
            // Whether it comes that far is what the seed tries.
            let _started = self.starts();
            self.falls(chance);
        }
        self.starts().unwrap();
    }

    fn falls(&mut self, chance: &mut Chance) {
        let (is_of_power, seed) = (chance.below(2) == 0, chance.below(u64::MAX));
        // Nothing gets through while the parts of the process end one after another.
        self.dies();
        self.running = None;
        for disk in [&self.log, &self.history] {
            match is_of_power {
                true => disk.crash(seed),
                false => disk.kill(),
            }
        }
    }

    /// From now on nothing comes to a disk any more.
    pub(crate) fn dies(&self) {
        self.log.die_at(0);
        self.history.die_at(0);
    }

    fn dies_soon(&self, chance: &mut Chance) {
        for disk in [&self.log, &self.history] {
            disk.die_at(disk.operations() + chance.below(SOON));
        }
    }

    /// From now on, or soon, a disk does not do what it is asked.
    pub(crate) fn is_hurt(&self, chance: &mut Chance) {
        let disk = [&self.log, &self.history][chance.below(2) as usize];
        match chance.below(4) {
            0 => disk.fail_next_sync(),
            1 => disk.set_capacity(Some(chance.below(1 << 16))),
            2 => disk.die_at(disk.operations() + chance.below(SOON)),
            _ => self.dies_soon(chance),
        }
    }

    /// Started again on disks without faults.
    pub(crate) fn is_well(&mut self, chance: &mut Chance) {
        self.falls(chance);
        self.starts().unwrap();
    }

    /// What cannot be kept now is kept later: the log still has it.
    pub(crate) fn feeds(&self) {
        let _kept_later = self.hub().feed();
    }

    pub(crate) fn maintains(&self) {
        let _kept_later = self.hub().maintain(self.now());
    }
}
