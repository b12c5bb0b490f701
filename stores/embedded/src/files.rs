//! The files of chunks, as a start finds them.
//!
//! What the manifest refers to nowhere is what a crash left behind, and goes; unless commits of the manifest
//! are gone themselves: then it may be what they referred to, and stays until a person has looked at it.

use crate::damage::Damage;
use crate::file::Dir;
use crate::limits::FILE_BYTES;
use crate::manifest::Loaded;
use crate::state::DataFile;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

/// The files, and where what is new goes.
pub(crate) struct Files {
    pub(crate) by_number: BTreeMap<u32, Arc<DataFile>>,
    /// Where the last one ends; no room is left where nothing may be written to it.
    pub(crate) end: u64,
    /// Files up to this one may hold chunks that the manifest no longer knows.
    pub(crate) kept_upto: u32,
}

impl Files {
    pub(crate) fn open(dir: &Dir, loaded: &Loaded, damage: &Arc<Damage>) -> io::Result<Self> {
        let names = dir.list()?;
        let numbers = |end| names.iter().filter_map(move |name| number_of(name, end));
        let there: BTreeSet<u32> = numbers(DATA).collect();
        let kept_upto = kept_upto(dir, loaded, damage, numbers(LOST).max(), there.last())?;
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        let streams = loaded.streams.values();
        for chunk in streams.flat_map(|stream| stream.chunks.values()) {
            let end = ends.entry(chunk.file).or_default();
            *end = (*end).max(chunk.offset.saturating_add(u64::from(chunk.len)));
        }
        for &number in there.iter().filter(|number| **number > kept_upto) {
            if !ends.contains_key(&number) {
                dir.remove(&DataFile::name(number))?;
            }
        }
        let mut files = Self {
            by_number: BTreeMap::new(),
            end: 0,
            kept_upto,
        };
        for (number, end) in ends {
            files.add(dir, number, end, damage)?;
        }
        files.cut_last()?;
        Ok(files)
    }

    fn add(&mut self, dir: &Dir, number: u32, end: u64, damage: &Arc<Damage>) -> io::Result<()> {
        let name = DataFile::name(number);
        let stored = dir.file(&name)?;
        let length = stored.len()?;
        if length < end {
            damage.tell(&format!("{name} has {length} bytes of {end}"));
        }
        let has_room = length >= end && number > self.kept_upto;
        self.end = if has_room { end } else { FILE_BYTES };
        let damage = Arc::clone(damage);
        let file = DataFile {
            number,
            stored,
            damage,
        };
        self.by_number.insert(number, Arc::new(file));
        Ok(())
    }

    /// Cuts what no commit refers to, unless the file is none that is written to.
    fn cut_last(&self) -> io::Result<()> {
        match self.by_number.last_key_value() {
            Some((_, file)) if self.end < FILE_BYTES => file.stored.cut(self.end),
            _ => Ok(()),
        }
    }

    /// The number of a new one.
    pub(crate) fn next(&self) -> u32 {
        let last = self.by_number.last_key_value().map_or(0, |(last, _)| *last);
        last.max(self.kept_upto) + 1
    }
}

const DATA: &str = ".dat";
const LOST: &str = ".lost";

/// The number in a name that is one of ours.
fn number_of(name: &str, end: &str) -> Option<u32> {
    let number = name.strip_suffix(end)?.parse().ok()?;
    (name == format!("{number:08}{end}")).then_some(number)
}

/// Up to which file nothing may be removed; noted durably where commits are gone.
fn kept_upto(
    dir: &Dir,
    loaded: &Loaded,
    damage: &Damage,
    noted: Option<u32>,
    last: Option<&u32>,
) -> io::Result<u32> {
    let noted = noted.unwrap_or(0);
    let Some(&last) = last.filter(|last| loaded.has_lost && **last > noted) else {
        return Ok(noted);
    };
    dir.file(&format!("{last:08}{LOST}"))?.sync()?;
    dir.sync()?;
    damage.tell(&format!(
        "files up to {} may hold chunks that the manifest no longer knows: none is removed before \
         {last:08}{LOST} is",
        DataFile::name(last)
    ));
    Ok(last)
}
