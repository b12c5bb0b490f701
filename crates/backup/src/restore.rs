//! Data of a backup: whole and checked, or none.

use crate::contents::{self, Contents, Entry, Summed, invalid};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use tar::Archive;
use weir_disk::RealDisk;

/// Where the log lies in the data.
const LOG: &str = "log";

/// Makes the data of a backup in a folder that does not exist or is empty; says what it holds. The log is
/// marked, so that who comes with a cursor of what followed the backup is told of it.
///
/// # Errors
/// Where the folder holds something, or the archive is no backup, or not whole, or was changed; the folder
/// is as it was then.
pub fn restore(archive: impl Read, data: &Path) -> io::Result<Contents> {
    refuse_unless_empty(data)?;
    let aside = aside(data)?;
    let made = unpack(archive, &aside).and_then(|contents| {
        if aside.join(LOG).is_dir() {
            weir_log::mark_restored(&RealDisk::new(aside.join(LOG))?)?;
        }
        put_in_place(&aside, data)?;
        Ok(contents)
    });
    made.inspect_err(|_| drop(fs::remove_dir_all(&aside)))
}

fn refuse_unless_empty(data: &Path) -> io::Result<()> {
    match fs::read_dir(data) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => {
                let text = format!("{} is not empty: nothing is overwritten", data.display());
                Err(io::Error::new(ErrorKind::AlreadyExists, text))
            }
        },
    }
}

/// A folder beside, on the same file system.
fn aside(data: &Path) -> io::Result<PathBuf> {
    let Some(name) = data.file_name() else {
        return Err(invalid(format!("{} names no folder", data.display())));
    };
    let mut name = name.to_owned();
    name.push(".restoring");
    let aside = data.with_file_name(name);
    match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(aside),
    }
}

fn put_in_place(aside: &Path, data: &Path) -> io::Result<()> {
    match fs::remove_dir(data) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    fs::rename(aside, data)?;
    let above = data.parent().filter(|above| !above.as_os_str().is_empty());
    File::open(above.unwrap_or(Path::new(".")))?.sync_all()
}

fn unpack(archive: impl Read, into: &Path) -> io::Result<Contents> {
    fs::create_dir_all(into)?;
    let mut archive = Archive::new(archive);
    let mut found = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry.map_err(cut_short)?;
        let name = entry.path()?.to_string_lossy().into_owned();
        if name == contents::NAME {
            let mut text = Vec::new();
            entry.read_to_end(&mut text).map_err(cut_short)?;
            return agree(&text, &found);
        }
        found.push(unpack_one(&name, entry, into)?);
    }
    Err(cut_short(ErrorKind::UnexpectedEof.into()))
}

fn unpack_one(name: &str, from: impl Read, into: &Path) -> io::Result<Entry> {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if name.is_empty() || !Path::new(name).components().all(is_plain) {
        return Err(invalid(format!(
            "this is no backup: it holds a file {name:?}"
        )));
    }
    let path = into.join(name);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut from = Summed::new(from);
    let mut file = File::create_new(&path)?;
    io::copy(&mut from, &mut file).map_err(cut_short)?;
    file.sync_all()?;
    Ok(from.entry(name))
}

/// What was found must be what was put in.
fn agree(text: &[u8], found: &[Entry]) -> io::Result<Contents> {
    let contents: Contents = serde_json::from_slice(text)
        .map_err(|error| cut_short(io::Error::other(format!("{}: {error}", contents::NAME))))?;
    let pairs = contents.files.iter().zip(found);
    if let Some((_, changed)) = pairs.into_iter().find(|(said, found)| said != found) {
        return Err(invalid(format!("{} is not as it was saved", changed.name)));
    }
    match contents.files.len() == found.len() {
        true => Ok(contents),
        false => Err(invalid(format!(
            "{} files were saved, {} are here",
            contents.files.len(),
            found.len()
        ))),
    }
}

fn cut_short(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => invalid(format!(
            "this is no backup, or not the whole of it: it ends before {}",
            contents::NAME
        )),
        ErrorKind::Other => invalid(format!(
            "this is no backup, or not the whole of it: {error}"
        )),
        _ => error,
    }
}
