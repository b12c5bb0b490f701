//! The copy, in an order that makes it one of a single instant.
//!
//! Files that grow are opened first: one that is removed meanwhile can still be read. Then those that say
//! what counts (the history's before the log's) are read whole, then what has begun meanwhile is opened, and
//! only then is anything copied that grows. So whatever is referred to is there, the log reaches at least as
//! far as the history that was fed from it, and it begins no later.

use crate::contents::{self, Contents, Summed};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Cursor, ErrorKind, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
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
/// Of files that are appended to.
const GROWING: [&str; 2] = [LOG, ".dat"];

/// Writes the data of a folder, whose gateway may be running, as a tar file; says what is in it.
///
/// `version` is the program's, `made` when that is, in seconds since 1970.
///
/// # Errors
/// Where the folder holds no data, or cannot be read, or the archive cannot be written.
pub fn save(data: &Path, archive: impl Write, version: &str, made: u64) -> io::Result<Contents> {
    let mut growing = BTreeMap::new();
    open_growing(data, &mut growing)?;
    let small = read_small(data)?;
    open_growing(data, &mut growing)?;
    if small.is_empty() && growing.is_empty() {
        let text = format!("there is no data in {}", data.display());
        return Err(io::Error::new(ErrorKind::NotFound, text));
    }
    let mut out = Out::new(archive, version, made);
    for (name, bytes) in small {
        out.put(&name, bytes.len() as u64, Cursor::new(bytes))?;
    }
    for (name, file) in growing {
        let bytes = file.metadata()?.len();
        match name.ends_with(LOG) {
            true => {
                let end = written_end(&file, bytes)?;
                out.put(&name, bytes, file.take(end).chain(io::repeat(0)))?;
            }
            false => out.put(&name, bytes, file)?,
        }
    }
    out.finish()
}

/// Where the last byte lies that is not zero, now: what is written while it is copied would leave a hole of zeros
/// before it.
fn written_end(file: &File, bytes: u64) -> io::Result<u64> {
    let (mut end, mut part) = (bytes, vec![0; READ_BYTES]);
    while end > 0 {
        let from = end.saturating_sub(READ_BYTES as u64);
        let part = &mut part[..(end - from) as usize];
        file.read_exact_at(part, from)?;
        if let Some(last) = part.iter().rposition(|&byte| byte != 0) {
            return Ok(from + last as u64 + 1);
        }
        end = from;
    }
    Ok(0)
}

/// Opens the files that grow and are not open yet.
fn open_growing(data: &Path, opened: &mut BTreeMap<String, File>) -> io::Result<()> {
    for name in names(data)?.into_iter().filter(|name| grows(name)) {
        if opened.contains_key(&name) {
            continue;
        }
        match File::open(data.join(&name)) {
            Ok(file) => drop(opened.insert(name, file)),
            // Removed just now: nothing that is read later refers to it.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The other files, `history` before `log`.
fn read_small(data: &Path) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut small = Vec::new();
    for name in names(data)?.into_iter().filter(|name| !grows(name)) {
        match fs::read(data.join(&name)) {
            Ok(bytes) => small.push((name, bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(small)
}

fn grows(name: &str) -> bool {
    GROWING.iter().any(|end| name.ends_with(end))
}

/// Names of all that is to be kept, below the folder, in their order.
fn names(data: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    visit(data, "", &mut names)?;
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
    archive: Builder<W>,
    contents: Contents,
    made: u64,
}

impl<W: Write> Out<W> {
    fn new(archive: W, version: &str, made: u64) -> Self {
        let contents = Contents {
            weir: version.into(),
            files: Vec::new(),
        };
        let archive = Builder::new(archive);
        Self {
            archive,
            contents,
            made,
        }
    }

    /// Adds the first bytes of a file, which may have grown since.
    fn put(&mut self, name: &str, bytes: u64, from: impl Read) -> io::Result<()> {
        let mut from = Summed::new(from.take(bytes));
        self.append(name, bytes, &mut from)?;
        let entry = from.entry(name);
        if entry.bytes != bytes {
            return Err(contents::invalid(format!(
                "{name} was cut while it was read"
            )));
        }
        self.contents.files.push(entry);
        Ok(())
    }

    fn append(&mut self, name: &str, bytes: u64, from: impl Read) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o600);
        header.set_mtime(self.made);
        header.set_size(bytes);
        self.archive.append_data(&mut header, name, from)
    }

    fn finish(mut self) -> io::Result<Contents> {
        let text = serde_json::to_vec(&self.contents)?;
        self.append(contents::NAME, text.len() as u64, &text[..])?;
        self.archive.into_inner()?.flush()?;
        Ok(self.contents)
    }
}
