//! Giving room back: what is past its keeping is dropped, what is left in mostly empty files is moved.

use crate::history::lock;
use crate::limits::{FILE_BYTES, RECLAIM_BYTES_MAX};
use crate::maintain::Upkeep;
use crate::manifest::{ChunkMeta, Entries};
use crate::state::{Body, DataFile, Part, State};
use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use weir_model::Time;

impl Upkeep {
    /// Drops chunks that are too old, and the oldest where there are too many bytes.
    pub(crate) fn retain(&mut self, state: &Mutex<State>, now: Time) -> io::Result<()> {
        let age = i64::try_from(self.options.retention_age.as_nanos());
        let oldest = age.map_or(i64::MIN, |age| now.nanos().saturating_sub(age));
        let mut locked = lock(state);
        let too_old = locked.drop_before(oldest, self.options.retention_bytes);
        drop(locked);
        too_old
            .iter()
            .for_each(|&(number, order)| self.kept.drop_chunk(number, order));
        if too_old.is_empty() {
            Ok(())
        } else {
            self.commit(&Entries::default())
        }
    }

    /// Moves chunks out of files that are mostly garbage, and removes files without chunks.
    pub(crate) fn reclaim(&mut self, state: &Mutex<State>) -> io::Result<()> {
        let Some((&current, _file)) = self.files.by_number.last_key_value() else {
            return Ok(());
        };
        let moving = self.wasted(&lock(state), current);
        if !moving.is_empty() {
            self.move_chunks(state, moving)?;
        }
        let live = lock(state).live_bytes();
        let first = self.files.kept_upto + 1;
        let dead = |number: &u32| (first..current).contains(number) && !live.contains_key(number);
        let dead: Vec<_> = self.files.by_number.keys().copied().filter(dead).collect();
        for number in dead {
            self.dir.remove(&DataFile::name(number))?;
            self.files.by_number.remove(&number);
        }
        Ok(())
    }

    /// The chunks of files less than half used, up to what one round may move.
    fn wasted(&self, state: &State, current: u32) -> Vec<(u32, Part)> {
        let live = state.live_bytes();
        let mut budget = RECLAIM_BYTES_MAX;
        let mut moving = Vec::new();
        let may_go = |number: &&u32| {
            **number != current && **number > self.files.kept_upto && !self.damage.is_in(**number)
        };
        for &number in self.files.by_number.keys().filter(may_go) {
            let bytes = live.get(&number).copied().unwrap_or_default();
            if (1..FILE_BYTES / 2).contains(&bytes) && bytes <= budget {
                budget -= bytes;
                moving.extend(state.parts_in(number));
            }
        }
        moving
    }

    fn move_chunks(&mut self, state: &Mutex<State>, moving: Vec<(u32, Part)>) -> io::Result<()> {
        for (number, part) in moving {
            let Body::Stored { file, offset, len } = &part.body else {
                continue;
            };
            // What is damaged stays where it is: under a new checksum it would be taken for whole.
            let Ok(block) = file.block(*offset, *len) else {
                continue;
            };
            self.write(number, part.clone(), &block)?;
        }
        self.commit(&Entries::default())?;
        let mut locked = lock(state);
        for (number, part) in self.pending.drain(..) {
            locked.replace(number, part.order, part.body);
        }
        Ok(())
    }
}

impl State {
    /// Bytes of chunks in each file.
    fn live_bytes(&self) -> HashMap<u32, u64> {
        let mut live = HashMap::new();
        for (_number, meta) in self.metas() {
            *live.entry(meta.file).or_default() += u64::from(meta.len);
        }
        live
    }

    /// Chunks in files, with their stream's number.
    fn metas(&self) -> impl Iterator<Item = (u32, ChunkMeta)> + '_ {
        let numbered = self.streams.iter().enumerate();
        numbered.flat_map(|(number, stream)| {
            let parts = stream.iter().flat_map(|stream| &stream.parts);
            parts.filter_map(move |part| Some((number as u32, part.meta()?)))
        })
    }

    /// Parts in one file.
    fn parts_in(&self, file: u32) -> Vec<(u32, Part)> {
        let numbered = self.streams.iter().enumerate();
        let parts = numbered.flat_map(|(number, stream)| {
            let parts = stream.iter().flat_map(|stream| &stream.parts);
            parts.map(move |part| (number as u32, part))
        });
        let inside =
            parts.filter(|(_number, part)| part.meta().is_some_and(|meta| meta.file == file));
        inside
            .map(|(number, part)| (number, part.clone()))
            .collect()
    }

    /// Drops chunks whose last row is older, then the oldest until so many bytes remain.
    fn drop_before(&mut self, oldest: i64, bytes_max: u64) -> Vec<(u32, u64)> {
        let mut all: Vec<_> = self
            .metas()
            .map(|(number, meta)| (meta.last, number, meta.order, meta.len))
            .collect();
        let mut bytes: u64 = all.iter().map(|chunk| u64::from(chunk.3)).sum();
        if bytes > bytes_max {
            all.sort_unstable();
        }
        let mut dropped = Vec::new();
        for (last, number, order, len) in all {
            if last < oldest || bytes > bytes_max {
                bytes -= u64::from(len);
                dropped.push((number, order));
            }
        }
        for &(number, order) in &dropped {
            if let Some(stream) = self.stream_mut(number) {
                stream.parts.retain(|part| part.order != order);
            }
        }
        dropped
    }
}
