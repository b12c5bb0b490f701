//! What happens behind the scenes: chunks are written and committed, merged, dropped, and the room of
//! those no longer needed is given back.
//!
//! Every step is: write to the end of a data file, sync it, commit the manifest, then change memory.
//! So a kill at any point leaves either the old or the new, and bytes that nobody refers to, which the
//! next open removes. A step that fails is taken anew by the next call, from memory.

use crate::block::{self, Encoder};
use crate::damage::Damage;
use crate::file::Dir;
use crate::files::Files;
use crate::history::{Options, lock};
use crate::limits::{FILE_BYTES, MANIFEST_BYTES_MIN, WRITE_BYTES};
use crate::manifest::{Entries, Loaded, Manifest};
use crate::merge::{self, Merged};
use crate::state::{Body, DataFile, Latest, Part, State, Stream, put_chunk};
use std::io;
use std::sync::{Arc, Mutex};
use weir_model::Time;

/// Who keeps the files in order.
pub(crate) struct Upkeep {
    pub(crate) dir: Dir,
    pub(crate) options: Options,
    manifest: Manifest,
    /// The file being written ends where it does with what is in `unwritten`.
    pub(crate) files: Files,
    pub(crate) damage: Arc<Damage>,
    /// Chunks that go to that file at the next commit or when there are many.
    unwritten: Vec<u8>,
    encoder: Encoder,
    /// Streams below this number are in the manifest.
    topics_committed: usize,
    /// What no commit has taken yet and memory no longer knows.
    pub(crate) kept: Entries,
    /// Written since the last commit.
    pub(crate) pending: Vec<(u32, Part)>,
}

impl Upkeep {
    /// Opens the files and makes the memory of what they hold.
    pub(crate) fn open(dir: Dir, options: Options) -> io::Result<(Self, State)> {
        let (manifest, loaded) = Manifest::open(&dir)?;
        let damage = Arc::new(Damage::in_place(dir.disk().place()));
        loaded
            .damage
            .iter()
            .for_each(|sentence| damage.tell(sentence));
        let files = Files::open(&dir, &loaded, &damage)?;
        let state = state_of(loaded, &files)?;
        let topics_committed = state.streams.len();
        let upkeep = Self {
            dir,
            options,
            manifest,
            files,
            damage,
            unwritten: Vec::new(),
            encoder: Encoder::default(),
            topics_committed,
            kept: Entries::default(),
            pending: Vec::new(),
        };
        Ok((upkeep, state))
    }

    /// One round.
    pub(crate) fn run(&mut self, state: &Mutex<State>, now: Time) -> io::Result<()> {
        self.write_rows(state)?;
        self.merge(state)?;
        self.retain(state, now)?;
        self.reclaim(state)?;
        if self.manifest.is_long(MANIFEST_BYTES_MIN) {
            let entries = self.whole(&lock(state));
            self.manifest.rewrite(&self.dir, &entries)?;
        }
        Ok(())
    }

    /// Writes all rows that are only in memory; where that fails, they are tried again by the next call.
    pub(crate) fn write_rows(&mut self, state: &Mutex<State>) -> io::Result<()> {
        self.pending.clear();
        // What a failed round left unwritten is made anew, behind a gap.
        self.unwritten.clear();
        let taken = std::mem::take(&mut lock(state).unwritten);
        let flushed = self.flush(state);
        if flushed.is_err() {
            lock(state).unwritten += taken;
        }
        flushed
    }

    fn flush(&mut self, state: &Mutex<State>) -> io::Result<()> {
        let mut locked = lock(state);
        let seen = locked.seen;
        if seen == locked.applied && locked.dirty.is_empty() && self.kept.is_empty() {
            return Ok(());
        }
        let dirty = locked.close_dirty();
        let unsaved = locked.unsaved();
        self.keep_names(&mut locked);
        let latest = locked.latest_of(&dirty);
        locked.keep_reaches(&dirty, &mut self.kept);
        drop(locked);
        for (number, latest) in &latest {
            put_latest(&mut self.encoder, &mut self.kept, *number, latest);
        }
        for (number, part) in unsaved {
            let mut packed = Vec::new();
            match &part.body {
                Body::Rows(rows) => self.encoder.encode(rows, &mut packed),
                Body::Packed(block) => packed.extend_from_slice(block),
                Body::Stored { .. } => continue,
            }
            self.write(number, part, &packed)?;
        }
        let mut entries = Entries::default();
        entries.applied(seen);
        self.commit(&entries)?;
        let mut locked = lock(state);
        for (number, part) in self.pending.drain(..) {
            locked.replace(number, part.order, part.body);
        }
        locked.applied = seen;
        Ok(())
    }

    /// Notes new topics and forgotten ones for the next commit.
    fn keep_names(&mut self, state: &mut State) {
        let topics = state.streams.iter().enumerate().skip(self.topics_committed);
        for (number, stream) in topics {
            let topic = stream.as_ref().map_or("", |stream| &stream.topic);
            self.kept.topic(number as u32, topic);
        }
        self.topics_committed = state.streams.len();
        state
            .forgotten
            .drain(..)
            .for_each(|number| self.kept.forget(number));
    }

    /// Writes a block behind the last chunk, in a new file where the last is full.
    pub(crate) fn write(&mut self, number: u32, part: Part, block: &[u8]) -> io::Result<()> {
        let last = self
            .files
            .by_number
            .last_key_value()
            .map(|(_number, file)| Arc::clone(file));
        let file = match last.filter(|_| self.files.end < FILE_BYTES) {
            Some(file) => file,
            None => self.begin_file()?,
        };
        let len = put_chunk(&mut self.unwritten, block);
        let offset = self.files.end;
        let body = Body::Stored { file, offset, len };
        self.files.end += u64::from(len);
        if self.unwritten.len() >= WRITE_BYTES {
            self.write_out()?;
        }
        self.pending.push((number, Part { body, ..part }));
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        if let Some((_number, file)) = self.files.by_number.last_key_value() {
            file.stored.write(
                self.files.end - self.unwritten.len() as u64,
                &self.unwritten,
            )?;
        }
        self.unwritten.clear();
        Ok(())
    }

    fn begin_file(&mut self) -> io::Result<Arc<DataFile>> {
        self.write_out()?;
        if let Some((_number, full)) = self.files.by_number.last_key_value() {
            full.stored.sync()?;
        }
        let number = self.files.next();
        let stored = self.dir.file(&DataFile::name(number))?;
        stored.cut(0)?;
        self.dir.sync()?;
        let damage = Arc::clone(&self.damage);
        let file = Arc::new(DataFile {
            number,
            stored,
            damage,
        });
        self.files.by_number.insert(number, Arc::clone(&file));
        self.files.end = 0;
        Ok(file)
    }

    /// Makes what was written durable, and then that it is there.
    pub(crate) fn commit(&mut self, entries: &Entries) -> io::Result<()> {
        let mut all = self.kept.clone();
        if !self.pending.is_empty() {
            self.write_out()?;
            if let Some((_number, file)) = self.files.by_number.last_key_value() {
                file.stored.sync()?;
            }
        }
        for (number, part) in &self.pending {
            part.meta()
                .into_iter()
                .for_each(|meta| all.chunk(*number, &meta));
        }
        all.append(entries);
        if !all.is_empty() {
            self.manifest.commit(&all)?;
        }
        self.kept.clear();
        Ok(())
    }

    /// Makes large chunks of small ones.
    fn merge(&mut self, state: &Mutex<State>) -> io::Result<()> {
        let runs = merge::find(&lock(state));
        if runs.is_empty() {
            return Ok(());
        }
        let mut entries = Entries::default();
        let mut written = Vec::with_capacity(runs.len());
        for run in runs {
            let merged = match merge::merged(&run) {
                Merged::Chunks(merged) => merged,
                Merged::Apart(parts) => {
                    lock(state).note_long(run.number, &parts);
                    continue;
                }
            };
            let before = self.pending.len();
            for (part, rows) in merged {
                let mut block = Vec::new();
                self.encoder.encode(&rows, &mut block);
                self.write(run.number, part, &block)?;
            }
            for part in &run.parts {
                entries.drop_chunk(run.number, part.order);
            }
            written.push((run, before..self.pending.len()));
        }
        // Merged chunks take over orders of the parts they replace: the drops come first.
        self.commit_after(&entries)?;
        let mut locked = lock(state);
        for (run, pending) in written {
            let Some(stream) = locked.stream_mut(run.number) else {
                continue;
            };
            let first = run.parts[0].order;
            let Ok(at) = stream.parts.binary_search_by_key(&first, |part| part.order) else {
                continue;
            };
            let parts = self.pending[pending]
                .iter()
                .map(|(_number, part)| part.clone());
            stream.parts.splice(at..at + run.parts.len(), parts);
        }
        self.pending.clear();
        Ok(())
    }

    /// Commits with `entries` before the chunks written.
    fn commit_after(&mut self, entries: &Entries) -> io::Result<()> {
        let mut kept = self.kept.clone();
        std::mem::swap(&mut self.kept, &mut kept);
        self.kept.append(entries);
        let done = self.commit(&Entries::default());
        if done.is_err() {
            self.kept = kept;
        }
        done
    }

    /// All that the manifest must say.
    fn whole(&mut self, state: &State) -> Entries {
        let mut entries = Entries::default();
        for (number, stream) in state.streams.iter().enumerate() {
            let number = number as u32;
            let Some(stream) = stream else { continue };
            entries.topic(number, &stream.topic);
            for meta in stream.parts.iter().filter_map(Part::meta) {
                entries.chunk(number, &meta);
            }
            if let Some(latest) = &stream.latest {
                put_latest(&mut self.encoder, &mut entries, number, latest);
            }
            if !stream.reach.is_empty() {
                entries.reach(number, &stream.reach);
            }
        }
        if let Some(last) = state.streams.len().checked_sub(1) {
            // The last number given stays given.
            if state.streams[last].is_none() {
                entries.topic(last as u32, "");
                entries.forget(last as u32);
            }
        }
        entries.applied(state.applied);
        entries
    }
}

fn put_latest(encoder: &mut Encoder, entries: &mut Entries, number: u32, latest: &Latest) {
    let mut block = Vec::new();
    encoder.encode(&latest.row, &mut block);
    entries.latest(number, latest.key, &block);
}

/// The memory of what a manifest says.
fn state_of(loaded: Loaded, files: &Files) -> io::Result<State> {
    let mut state = State {
        seen: loaded.applied,
        applied: loaded.applied,
        ..State::default()
    };
    state
        .streams
        .resize_with(loaded.next_stream as usize, || None);
    for (number, known) in loaded.streams {
        let topic: Arc<str> = known.topic.into();
        let mut stream = Box::new(Stream::new(Arc::clone(&topic)));
        for chunk in known.chunks.values() {
            let file = files.by_number.get(&chunk.file);
            let part = file.map(|file| Part::stored(chunk, Arc::clone(file)));
            stream.parts.extend(part);
            state.next_order = state.next_order.max(chunk.order + 1);
        }
        if let Some((key, block)) = known.latest {
            let row = block::decode(&block).map_err(io::Error::other)?;
            stream.latest = (!row.is_empty()).then_some(Latest { key, row });
        }
        stream.reach = known.reach;
        state.numbers.insert(topic, number);
        state.streams[number as usize] = Some(stream);
    }
    Ok(state)
}

impl State {
    /// The last observations of these streams.
    fn latest_of(&self, numbers: &[u32]) -> Vec<(u32, Latest)> {
        let stream = |number: u32| self.streams[number as usize].as_deref();
        let latest = |&number: &u32| Some((number, stream(number)?.latest.clone()?));
        numbers.iter().filter_map(latest).collect()
    }

    /// Notes for the next commit what the chunks of these streams do not say.
    fn keep_reaches(&self, numbers: &[u32], kept: &mut Entries) {
        for &number in numbers {
            let stream = self.streams[number as usize].as_deref();
            if let Some(stream) = stream.filter(|stream| !stream.reach.is_empty()) {
                kept.reach(number, &stream.reach);
            }
        }
    }

    /// Parts that are in no file.
    fn unsaved(&self) -> Vec<(u32, Part)> {
        let of = |(number, stream): (usize, &Option<Box<Stream>>)| {
            let parts = stream.iter().flat_map(|stream| stream.parts.iter().rev());
            let unsaved = parts.take_while(|part| !matches!(part.body, Body::Stored { .. }));
            let mut unsaved: Vec<_> = unsaved.map(|part| (number as u32, part.clone())).collect();
            unsaved.reverse();
            unsaved
        };
        self.streams.iter().enumerate().flat_map(of).collect()
    }

    /// Puts the block of a full part in the place of its rows.
    pub(crate) fn pack(&mut self, number: u32, order: u64, block: Arc<Vec<u8>>) {
        let part = self
            .stream_mut(number)
            .and_then(|stream| stream.part_mut(order));
        let Some(part) = part else { return };
        if let Body::Rows(rows) = &part.body {
            let (before, after) = (rows.memory_bytes(), block.len());
            part.body = Body::Packed(block);
            self.unwritten = (self.unwritten + after).saturating_sub(before);
        }
    }

    /// Notes parts that are merged no further.
    fn note_long(&mut self, number: u32, orders: &[u64]) {
        let Some(stream) = self.stream_mut(number) else {
            return;
        };
        for order in orders {
            if let Some(part) = stream.part_mut(*order) {
                part.is_long = true;
            }
        }
    }
}
