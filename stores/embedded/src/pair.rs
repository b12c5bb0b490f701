//! The two files of the manifest, and what they say together.
//!
//! Nothing but the manifest says what lies where, and the log has let go of most of it: so each commit is
//! written to two files at the same place, and where one is damaged there, the other is taken. What a crash
//! left unfinished is bad in both and has nothing behind it; what is bad and has is damage. The decision
//! worth arguing: two files and not one with everything twice, since what takes a block, the end of a file
//! or a whole one would take both.

use crate::file::Dir;
use crate::manifest::{COPY, MAGIC, NAME, is_commit, written};
use std::io;
use weir_disk::{aside, is_full, lacks_a_sector};

/// What the magic of any version begins with.
const VERSIONS: &[u8] = b"weirma";
/// Bytes of a frame before its entries.
pub(crate) const HEAD_BYTES: usize = 8;

/// What the files of a directory say.
pub(crate) struct Pair {
    /// What both are to hold: the magic and whole frames.
    pub(crate) bytes: Vec<u8>,
    /// Where in it frames are missing that neither has; 0 where nothing is.
    pub(crate) hole: usize,
    /// Where in it the last frame begins; 0 where there is none.
    last: usize,
    /// Neither file was there.
    pub(crate) is_new: bool,
    /// What is damaged, a sentence each.
    pub(crate) damage: Vec<String>,
    /// There was no room to write the copy.
    pub(crate) has_old_copy: bool,
}

impl Pair {
    /// Reads the files and makes both anew where they are not alike.
    pub(crate) fn read(dir: &Dir) -> io::Result<Self> {
        let [one, copy] = [dir.bytes(NAME)?, dir.bytes(COPY)?];
        let mut pair = Self {
            bytes: MAGIC.to_vec(),
            hole: 0,
            last: 0,
            is_new: one.is_none() && copy.is_none(),
            damage: Vec::new(),
            has_old_copy: false,
        };
        let files = [one.as_deref(), copy.as_deref()];
        pair.join(files.map(Option::unwrap_or_default))?;
        let last = pair.last;
        let had = files.map(|file| file.map(|bytes| State::of(bytes, &pair.bytes, last)));
        if had == [Some(State::Whole), Some(State::Whole)] {
            return Ok(pair);
        }
        let states = [(NAME, had[0]), (COPY, had[1])];
        for (name, had) in states {
            pair.look_after(dir, name, had)?;
        }
        if one.is_none() && copy.is_some_and(|bytes| bytes.len() > MAGIC.len()) {
            pair.damage
                .push(format!("{NAME} is missing: taken from {COPY}"));
        }
        for (name, had) in states.iter().filter(|it| it.1 != Some(State::Whole)) {
            pair.make_whole(dir, name, *had)?;
        }
        Ok(pair)
    }

    /// Takes each frame from the file that has it.
    fn join(&mut self, files: [&[u8]; 2]) -> io::Result<()> {
        let [one, copy] = files;
        // Of another time, as a crash between the renamings of both leaves it.
        let is_older = match (first_frame(one), first_frame(copy)) {
            (Some(one), Some(copy)) => one != copy,
            _ => is_whole(one) && !copy.starts_with(one) && !one.starts_with(copy),
        };
        let files = if is_older { [one, &[]] } else { [one, copy] };
        let mut at = MAGIC.len();
        loop {
            let here = files.map(|file| file.get(at..).and_then(split_frame));
            if let Some((frame, _)) = here[0].or(here[1]) {
                self.last = self.bytes.len();
                self.bytes.extend_from_slice(frame);
                at += frame.len();
                continue;
            }
            let longest = files[0].len().max(files[1].len());
            let begins = |at: &usize| files.iter().any(|file| begins_commit(file, *at));
            let Some(next) = (at + 1..longest).find(begins) else {
                break;
            };
            if self.hole == 0 {
                self.hole = self.bytes.len();
            }
            at = next;
        }
        let has_lost = |file: &&[u8]| {
            let tail = file.get(at..).unwrap_or_default();
            let is_headless =
                !file.is_empty() && !MAGIC.starts_with(file) && !file.starts_with(MAGIC);
            is_all_there(tail, at) || (is_headless && self.last == 0)
        };
        if files.iter().any(has_lost) && self.hole == 0 {
            self.hole = self.bytes.len();
        }
        let is_other = |file: &&[u8]| file.starts_with(VERSIONS) && !file.starts_with(MAGIC);
        if self.last == 0 && files.iter().any(is_other) {
            Err(io::Error::other(
                "the history's manifest is of another version",
            ))
        } else {
            Ok(())
        }
    }

    /// Puts a file aside that holds something else than it should.
    fn look_after(&mut self, dir: &Dir, name: &str, had: Option<State>) -> io::Result<()> {
        let (why, then) = match had {
            None | Some(State::Whole | State::Behind) => return Ok(()),
            Some(State::Torn) => (aside::TORN, "what a crash left unfinished"),
            Some(State::Damaged) => ("checksum", "damaged"),
        };
        let kept = match aside::copy_file(dir.disk(), name, why) {
            Err(error) if is_full(&error) => "nowhere, since the disk is full".into(),
            kept => kept?,
        };
        let sentence = format!("{name} held something else than it should, kept as {kept}: {then}");
        match had {
            Some(State::Torn) => tracing::warn!(place = %dir.disk().place(), "{sentence}"),
            _ => self.damage.push(sentence),
        }
        Ok(())
    }
}

impl Pair {
    /// Writes a file anew. Where there is no room for it, what is too much is cut, and the copy waits.
    fn make_whole(&mut self, dir: &Dir, name: &str, had: Option<State>) -> io::Result<()> {
        match written(dir, name, &self.bytes) {
            Err(error) if is_full(&error) && had == Some(State::Torn) => {
                dir.file(name)?.cut(self.bytes.len() as u64)
            }
            Err(error) if is_full(&error) && name == COPY => {
                self.has_old_copy = true;
                Ok(())
            }
            made => made.map(drop),
        }
    }
}

/// How a file stands to what it should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Whole,
    /// It ends before.
    Behind,
    /// It goes on, with what is none.
    Torn,
    Damaged,
}

impl State {
    /// Of what both should hold, whose last frame begins at a byte.
    fn of(file: &[u8], whole: &[u8], last: usize) -> Self {
        if file == whole {
            State::Whole
        } else if whole.starts_with(file) {
            if file.len() >= last {
                State::Behind
            } else {
                State::Damaged
            }
        } else if is_whole(file) && last > 0 {
            State::Behind
        } else if file.starts_with(whole) && !is_all_there(&file[whole.len()..], whole.len()) {
            State::Torn
        } else {
            State::Damaged
        }
    }
}

/// Whether a frame at a byte of a file has as many bytes as it says, and no sector that was never written: bad as
/// it is, nothing of it is missing.
fn is_all_there(tail: &[u8], at: usize) -> bool {
    let length = tail
        .first_chunk()
        .map(|length| u32::from_le_bytes(*length) as usize);
    let is_long_enough =
        length.is_some_and(|length| tail.len() > HEAD_BYTES && tail.len() - HEAD_BYTES == length);
    is_long_enough && !lacks_a_sector(tail, at as u64)
}

/// Whether a file is frames from its beginning to its end.
fn is_whole(file: &[u8]) -> bool {
    let Some(mut rest) = file.strip_prefix(MAGIC) else {
        return false;
    };
    while let Some((_, behind)) = split_frame(rest) {
        rest = behind;
    }
    rest.is_empty()
}

fn begins_commit(file: &[u8], at: usize) -> bool {
    let Some(rest) = file.get(at..) else {
        return false;
    };
    // Entries are looked at first, which is soon over where there are none.
    let body = rest.get(HEAD_BYTES..);
    let length = rest
        .first_chunk()
        .map(|length| u32::from_le_bytes(*length) as usize);
    let body = body
        .zip(length)
        .and_then(|(body, length)| body.get(..length));
    body.is_some_and(is_commit) && split_frame(rest).is_some()
}

/// The first frame of a file: two that begin otherwise are of two rewritings.
fn first_frame(file: &[u8]) -> Option<&[u8]> {
    let frames = file.get(MAGIC.len()..)?;
    split_frame(frames).map(|(frame, _)| frame)
}

/// The first frame of some bytes, and what is behind it.
pub(crate) fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let body = rest.get(..length)?;
    let is_whole = !body.is_empty() && crc32c::crc32c(body).to_le_bytes() == *checksum;
    is_whole.then(|| bytes.split_at(HEAD_BYTES + length))
}
