//! The copy, in an order that makes it one of a single instant.
//!
//! Files that grow are opened first: one that is removed meanwhile can still be read. Then those that say
//! what counts (the history's before the log's) are read whole, then what has begun meanwhile is opened, and
//! only then is anything copied that grows. So whatever is referred to is there, the log reaches at least as
//! far as the history that was fed from it, and it begins no later.

use crate::contents::{self, Contents, Summed};
use crate::fault::SaveFault;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Written while the gateway runs, of no use to another.
const LEFT_OUT: [&str; 2] = ["lock", "clean"];
/// Of a file that is being written aside, and of what a start put aside for a person to look at.
const ASIDE: [&str; 2] = [".new", ".damaged"];
/// Of a segment of the log: zeros behind its last record are cut when the next one is begun. That one is not in the
/// copy where the zeros were still there, so that here, too, they end the log.
const LOG: &str = ".log";
/// Bytes that are looked through at once.
const READ_BYTES: usize = 1 << 20;
/// Of a tar file.
const BLOCK_BYTES: u64 = 512;
/// About what the list of files has of each.
const LISTED_BYTES: u64 = 80;
/// Of files that are appended to.
const GROWING: [&str; 2] = [LOG, ".dat"];

/// Writes the data of a folder, whose gateway may be running, as a tar file; says what is in it.
///
/// `version` is the program's, `made` when that is, in seconds since 1970.
///
/// # Errors
/// Where the folder holds no data, or cannot be read, or the archive cannot be written.
pub fn save(
    data: &Path,
    archive: impl Write,
    version: &str,
    made: u64,
) -> Result<Contents, SaveFault> {
    let mut growing = BTreeMap::new();
    open_growing(data, &mut growing)?;
    let small = read_small(data)?;
    open_growing(data, &mut growing)?;
    if small.is_empty() && growing.is_empty() {
        return Err(SaveFault::NoData(data.into()));
    }
    let growing = measured(data, growing)?;
    let lengths = small.iter().map(|(_, bytes)| bytes.len() as u64);
    let lengths = lengths.chain(growing.iter().map(|(_, _, bytes)| *bytes));
    let mut out = Out::new(archive, (data, version, made), needed(lengths));
    for (name, bytes) in small {
        out.put(&name, bytes.len() as u64, Cursor::new(bytes))?;
    }
    for (name, file, bytes) in growing {
        match name.ends_with(LOG) {
            true => {
                let end = written_end(&file, bytes).map_err(read(&data.join(&name)))?;
                out.put(&name, bytes, file.take(end).chain(io::repeat(0)))?;
            }
            false => out.put(&name, bytes, file)?,
        }
    }
    out.finish()
}

/// What cannot be read.
fn read(path: &Path) -> impl Fn(io::Error) -> SaveFault {
    move |error| SaveFault::Read {
        path: path.into(),
        error,
    }
}

/// How long the files are now, up to which they are copied.
fn measured(
    data: &Path,
    growing: BTreeMap<String, File>,
) -> Result<Vec<(String, File, u64)>, SaveFault> {
    let measure = |(name, file): (String, File)| {
        let bytes = file.metadata().map_err(read(&data.join(&name)))?.len();
        Ok((name, file, bytes))
    };
    growing.into_iter().map(measure).collect()
}

/// Bytes of an archive of files of these lengths: a header each, whole blocks, the list of them, and the end.
fn needed(lengths: impl Iterator<Item = u64>) -> u64 {
    let of_file = |bytes: u64| BLOCK_BYTES + bytes.next_multiple_of(BLOCK_BYTES) + LISTED_BYTES;
    lengths.map(of_file).sum::<u64>() + 3 * BLOCK_BYTES
}

/// Where the last byte lies that is not zero, now: what is written while it is copied would leave a hole of zeros
/// before it. A file that was cut since ends in zeros all the same.
fn written_end(file: &File, bytes: u64) -> io::Result<u64> {
    let (mut end, mut part) = (bytes, vec![0; READ_BYTES]);
    while end > 0 {
        let from = end.saturating_sub(READ_BYTES as u64);
        let part = &mut part[..(end - from) as usize];
        let there = read_at(file, part, from)?;
        let part = &part[..there];
        if let Some(last) = part.iter().rposition(|&byte| byte != 0) {
            return Ok(from + last as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// Reads from a byte on what is there; says how much.
fn read_at(file: &File, into: &mut [u8], from: u64) -> io::Result<usize> {
    let mut count = 0;
    while count < into.len() {
        match file.read_at(&mut into[count..], from + count as u64) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Opens the files that grow and are not open yet.
fn open_growing(data: &Path, opened: &mut BTreeMap<String, File>) -> Result<(), SaveFault> {
    for name in names(data)?.into_iter().filter(|name| grows(name)) {
        if opened.contains_key(&name) {
            continue;
        }
        let path = data.join(&name);
        match File::open(&path) {
            Ok(file) => drop(opened.insert(name, file)),
            // Removed just now: nothing that is read later refers to it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(SaveFault::Read { path, error }),
        }
    }
    Ok(())
}

/// The other files, `history` before `log`.
fn read_small(data: &Path) -> Result<Vec<(String, Vec<u8>)>, SaveFault> {
    let mut small = Vec::new();
    for name in names(data)?.into_iter().filter(|name| !grows(name)) {
        let path = data.join(&name);
        match fs::read(&path) {
            Ok(bytes) => small.push((name, bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(SaveFault::Read { path, error }),
        }
    }
    Ok(small)
}

fn grows(name: &str) -> bool {
    GROWING.iter().any(|end| name.ends_with(end))
}

/// Names of all that is to be kept, below the folder, in their order.
fn names(data: &Path) -> Result<Vec<String>, SaveFault> {
    let mut names = Vec::new();
    visit(data, "", &mut names).map_err(read(data))?;
    names.sort();
    Ok(names)
}

fn visit(folder: &Path, above: &str, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let own = entry.file_name();
        let Some(own) = own.to_str() else {
            let text = format!("a name that is no text: {}", entry.path().display());
            return Err(contents::invalid(text));
        };
        let name = format!("{above}{own}");
        match entry.file_type() {
            Ok(it) if it.is_dir() => visit(&entry.path(), &format!("{name}/"), names)?,
            Ok(it) if it.is_file() => {
                let is_aside = ASIDE.iter().any(|end| own.ends_with(end));
                names.extend((!is_aside && !LEFT_OUT.contains(&own)).then_some(name));
            }
            // A link or socket is nobody's data; what is gone is not needed.
            _ => {}
        }
    }
    Ok(())
}

/// The archive, and what went into it.
struct Out<W: Write> {
    archive: Builder<Counted<W>>,
    contents: Contents,
    data: PathBuf,
    made: u64,
    needed: u64,
}

impl<W: Write> Out<W> {
    fn new(archive: W, (data, version, made): (&Path, &str, u64), needed: u64) -> Self {
        let contents = Contents {
            weir: version.into(),
            files: Vec::new(),
        };
        Self {
            archive: Builder::new(Counted::new(archive)),
            contents,
            data: data.into(),
            made,
            needed,
        }
    }

    /// Adds the first bytes of a file, which may have grown since.
    fn put(&mut self, name: &str, bytes: u64, from: impl Read) -> Result<(), SaveFault> {
        let mut from = Summed::new(from.take(bytes));
        self.append(name, bytes, &mut from)?;
        let entry = from.entry(name);
        if entry.bytes != bytes {
            let error = contents::invalid("it was cut while it was read");
            return Err(read(&self.data.join(name))(error));
        }
        self.contents.files.push(entry);
        Ok(())
    }

    fn append(&mut self, name: &str, bytes: u64, from: impl Read) -> Result<(), SaveFault> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(self.made);
        header.set_size(bytes);
        let appended = self.archive.append_data(&mut header, name, from);
        appended.map_err(|error| {
            if self.archive.get_ref().has_failed {
                self.unwritten(error)
            } else {
                read(&self.data.join(name))(error)
            }
        })
    }

    fn unwritten(&self, error: io::Error) -> SaveFault {
        SaveFault::Write {
            error,
            written: self.archive.get_ref().bytes,
            needed: self.needed,
        }
    }

    fn finish(mut self) -> Result<Contents, SaveFault> {
        let text = serde_json::to_vec(&self.contents);
        let text = text.map_err(|error| self.unwritten(error.into()))?;
        self.append(contents::NAME, text.len() as u64, &text[..])?;
        let ended = self.archive.finish();
        let ended = ended.and_then(|()| self.archive.get_mut().flush());
        ended.map_err(|error| self.unwritten(error))?;
        Ok(self.contents)
    }
}

/// Writes on, and counts; of an error that others pass on it is known whether it came from here.
struct Counted<W> {
    writer: W,
    bytes: u64,
    has_failed: bool,
}

impl<W> Counted<W> {
    fn new(writer: W) -> Self {
        Self {
            writer,
            bytes: 0,
            has_failed: false,
        }
    }

    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        self.has_failed |= done.is_err();
        done
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes);
        self.bytes += written.as_ref().map_or(0, |&count| count as u64);
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.writer.flush();
        self.noted(done)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_segment_that_was_cut_since_ends_where_it_was_written() {
        let path = std::env::temp_dir().join(format!("weir-cut-{}", std::process::id()));
        fs::write(&path, b"record\0\0").unwrap();
        let file = File::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        for bytes in [8, 9, READ_BYTES as u64 + 3, 3 * READ_BYTES as u64] {
            assert_eq!(written_end(&file, bytes).unwrap(), 6);
        }
        assert_eq!(written_end(&file, 3).unwrap(), 3);
    }
}
