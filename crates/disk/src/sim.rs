//! A disk in memory that loses what a real one may lose.
//!
//! At a crash each write since the file's last sync is kept, lost or torn at 512-byte sectors, as the
//! seed says, and of the names changed since the last [`Disk::sync_dir`] a beginning is kept. A sync
//! that fails forgets what it should have kept, as Linux does since the page cache drops such pages.

use crate::{Disk, DiskFile, SECTOR_BYTES};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// A simulated directory; clones share it.
#[derive(Clone, Default)]
pub struct SimDisk {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    released: Condvar,
}

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<String, usize>,
    durable_names: BTreeMap<String, usize>,
    name_changes: Vec<BTreeMap<String, usize>>,
    /// Raised by a crash: handles and guards of before are dead.
    generation: u64,
    locked: bool,
    capacity_bytes: Option<u64>,
    sync_fails: bool,
    syncs_held: bool,
    syncs: u64,
    operations: u64,
    dies_at: Option<u64>,
}

#[derive(Default)]
struct Inode {
    now: Vec<u8>,
    durable: Vec<u8>,
    changes: Vec<Change>,
}

enum Change {
    Write(u64, Vec<u8>),
    SetLen(u64),
}

impl SimDisk {
    /// An empty disk without limits or faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loses power: what was not synced is kept, lost or torn as the seed says, all handles die, and
    /// faults are lifted.
    pub fn crash(&self, seed: u64) {
        let mut state = self.state();
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for inode in &mut state.inodes {
            inode.crash(&mut random);
        }
        let kept = random.below(state.name_changes.len() as u64 + 1) as usize;
        if let Some(names) = kept
            .checked_sub(1)
            .map(|last| state.name_changes.swap_remove(last))
        {
            state.durable_names = names;
        }
        state.names = state.durable_names.clone();
        state.name_changes.clear();
        state.generation += 1;
        (state.locked, state.sync_fails, state.syncs_held) = (false, false, false);
        (state.dies_at, state.capacity_bytes) = (None, None);
        self.shared.released.notify_all();
    }

    /// Ends the process and not the machine: all handles die, nothing that was written is lost, and faults
    /// are lifted.
    pub fn kill(&self) {
        let mut state = self.state();
        state.generation += 1;
        (state.locked, state.sync_fails, state.syncs_held) = (false, false, false);
        (state.dies_at, state.capacity_bytes) = (None, None);
        self.shared.released.notify_all();
    }

    /// Lets every operation from the one with this number on fail, until [`SimDisk::crash`].
    /// A write that fails so is done to the half.
    pub fn die_at(&self, operation: u64) {
        self.state().dies_at = Some(operation);
    }

    /// Number of operations that change something or sync, so far.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Number of syncs of file data, so far.
    pub fn syncs(&self) -> u64 {
        self.state().syncs
    }

    /// Sets how many bytes all files together may have; `None` for no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity_bytes = bytes;
    }

    /// Lets the next sync of file data fail.
    pub fn fail_next_sync(&self) {
        self.state().sync_fails = true;
    }

    /// Makes syncs of file data wait, or lets them go on: a slow disk without a clock.
    pub fn hold_syncs(&self, held: bool) {
        self.state().syncs_held = held;
        self.shared.released.notify_all();
    }

    /// Flips the lowest bit of a byte, durably: rot.
    pub fn rot(&self, name: &str, offset: usize) {
        self.spoil(name, |bytes| {
            if let Some(byte) = bytes.get_mut(offset) {
                *byte ^= 1;
            }
        });
    }

    /// Does something to the bytes of a file, durably: a bit flipped, a block lost, a file cut.
    pub fn spoil(&self, name: &str, how: impl Fn(&mut Vec<u8>)) {
        let mut state = self.state();
        let Some(&inode) = state.names.get(name) else {
            return;
        };
        let inode = &mut state.inodes[inode];
        inode.changes.clear();
        how(&mut inode.now);
        inode.durable.clone_from(&inode.now);
    }

    /// Another disk that holds the same, as a copy of its files would.
    pub fn copied(&self) -> Self {
        let state = self.state();
        let copy = Self::new();
        let mut into = copy.state();
        for (name, &inode) in &state.names {
            let bytes = state.inodes[inode].now.clone();
            let number = into.inodes.len();
            into.names.insert(name.clone(), number);
            into.inodes.push(Inode {
                durable: bytes.clone(),
                now: bytes,
                changes: Vec::new(),
            });
        }
        into.durable_names = into.names.clone();
        drop(into);
        copy
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, state: &State, inode: usize) -> Box<dyn DiskFile> {
        Box::new(SimFile {
            disk: self.clone(),
            inode,
            generation: state.generation,
        })
    }

    fn change_names(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, usize>) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        change(&mut state.names)?;
        let names = state.names.clone();
        state.name_changes.push(names);
        Ok(())
    }
}

impl State {
    fn operate(&mut self) -> io::Result<()> {
        self.operations += 1;
        match self.dies_at {
            Some(last) if self.operations > last => Err(io::Error::other("the machine is down")),
            _ => Ok(()),
        }
    }

    fn used_bytes(&self) -> u64 {
        self.names
            .values()
            .map(|&inode| self.inodes[inode].now.len() as u64)
            .sum()
    }

    fn room(&self, more: u64) -> u64 {
        let room = self
            .capacity_bytes
            .map(|most| most.saturating_sub(self.used_bytes()));
        room.map_or(more, |room| room.min(more))
    }
}

impl Inode {
    fn change(&mut self, change: Change) {
        change.apply(&mut self.now);
        self.changes.push(change);
    }

    fn crash(&mut self, random: &mut Random) {
        for change in std::mem::take(&mut self.changes) {
            match (random.below(3), &change) {
                (0, _) => {}
                (1, Change::Write(offset, bytes)) => {
                    let mut rest = &bytes[..];
                    let mut at = *offset;
                    // Sectors are the disk's, wherever in one the write begins.
                    while !rest.is_empty() {
                        let most = SECTOR_BYTES - at as usize % SECTOR_BYTES;
                        let (sector, behind) = rest.split_at(most.min(rest.len()));
                        if random.below(2) == 0 {
                            Change::Write(at, sector.to_vec()).apply(&mut self.durable);
                        }
                        at += sector.len() as u64;
                        rest = behind;
                    }
                }
                _ => change.apply(&mut self.durable),
            }
        }
        self.now.clone_from(&self.durable);
    }
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Change::SetLen(len) => bytes.resize(*len as usize, 0),
            Change::Write(offset, new) => {
                let (from, to) = (*offset as usize, *offset as usize + new.len());
                bytes.resize(bytes.len().max(to), 0);
                bytes[from..to].copy_from_slice(new);
            }
        }
    }
}

impl Disk for SimDisk {
    fn open(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let state = self.state();
        let inode = *state.names.get(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.handle(&state, inode))
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.inodes.push(Inode::default());
        let inode = state.inodes.len() - 1;
        drop(state);
        self.change_names(|names| {
            names.insert(name.into(), inode);
            Ok(())
        })?;
        Ok(self.handle(&self.state(), inode))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change_names(|names| {
            let inode = names.remove(from).ok_or(io::ErrorKind::NotFound)?;
            names.insert(to.into(), inode);
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change_names(|names| {
            names
                .remove(name)
                .map(|_inode| ())
                .ok_or(io::ErrorKind::NotFound.into())
        })
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.state().names.keys().cloned().collect())
    }

    fn sync_dir(&self) -> io::Result<()> {
        let mut state = self.state();
        state.operate()?;
        state.durable_names = state.names.clone();
        state.name_changes.clear();
        Ok(())
    }

    fn lock(&self) -> io::Result<Box<dyn Send + Sync>> {
        let mut state = self.state();
        if std::mem::replace(&mut state.locked, true) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        Ok(Box::new(SimLock {
            disk: self.clone(),
            generation: state.generation,
        }))
    }

    fn place(&self) -> String {
        "the simulated disk".into()
    }
}

struct SimLock {
    disk: SimDisk,
    generation: u64,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        let mut state = self.disk.state();
        if state.generation == self.generation {
            state.locked = false;
        }
    }
}

struct SimFile {
    disk: SimDisk,
    inode: usize,
    generation: u64,
}

impl SimFile {
    fn state(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.disk.state();
        if state.generation != self.generation {
            return Err(io::Error::other("the machine went down"));
        }
        Ok(state)
    }

    fn extend(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state()?;
        state.operate()?;
        let len = state.inodes[self.inode].now.len() as u64;
        let more = bytes.saturating_sub(len);
        if state.room(more) < more {
            return Err(io::ErrorKind::StorageFull.into());
        }
        state.inodes[self.inode].change(Change::SetLen(bytes.max(len)));
        Ok(())
    }
}

impl DiskFile for SimFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let state = self.state()?;
        let bytes = state.inodes[self.inode]
            .now
            .get(offset as usize..)
            .unwrap_or_default();
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.state()?;
        if let Err(down) = state.operate() {
            let half = bytes[..bytes.len() / 2].to_vec();
            state.inodes[self.inode].change(Change::Write(offset, half));
            return Err(down);
        }
        let len = state.inodes[self.inode].now.len() as u64;
        let more = (offset + bytes.len() as u64).saturating_sub(len);
        let missing = more - state.room(more);
        let fits = bytes.len() - (missing as usize).min(bytes.len());
        state.inodes[self.inode].change(Change::Write(offset, bytes[..fits].to_vec()));
        if fits < bytes.len() {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        }
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.state()?;
        while state.syncs_held && state.generation == self.generation {
            let released = &self.disk.shared.released;
            state = released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        let mut state = self.state()?;
        state.operate()?;
        state.syncs += 1;
        let fails = std::mem::take(&mut state.sync_fails);
        let inode = &mut state.inodes[self.inode];
        let changes = std::mem::take(&mut inode.changes);
        if fails {
            return Err(io::Error::other("input/output error"));
        }
        changes
            .iter()
            .for_each(|change| change.apply(&mut inode.durable));
        Ok(())
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut state = self.state()?;
        state.operate()?;
        state.inodes[self.inode].change(Change::SetLen(bytes));
        Ok(())
    }

    fn preallocate(&self, bytes: u64) -> io::Result<()> {
        self.extend(bytes)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.state()?.inodes[self.inode].now.len() as u64)
    }
}

/// xorshift64*: enough to choose what is lost.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
    }
}
