//! `weir backup` and `weir restore`.

use crate::arguments::Backup;
use crate::check;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, IsTerminal, Write, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use weir_backup::{Contents, SaveFault};
use weir_gateway::Config;
use weir_program::{Failure, Standard};

/// Copies the data; the file is there whole or not at all.
pub(crate) fn save(asked: &Backup) -> Result<(), Failure> {
    let config = check::read_with(&asked.source, asked.data.as_deref())?;
    let data = data_of(&config);
    let contents = match is_standard(&asked.file) {
        true if stdout().is_terminal() => {
            return Err(Failure::usage(
                "a tar file is not for a terminal: name a file",
            ));
        }
        true => {
            let out = Path::new("standard output");
            write(&data, Standard::default()).map_err(|fault| failure(out, &fault))?
        }
        false => save_file(&data, &asked.file)?,
    };
    say("saved", &contents, &asked.file);
    for (section, key) in [("bus", "url"), ("store", "url")] {
        if config.text(section, key).is_some() {
            eprintln!("what is at `{section}.url` is not in it: its own tools copy that");
        }
    }
    Ok(())
}

/// Makes the data of a copy.
pub(crate) fn restore(asked: &Backup) -> Result<(), Failure> {
    let config = check::read_with(&asked.source, asked.data.as_deref())?;
    let data = data_of(&config);
    let file = &asked.file;
    let restored = match is_standard(file) {
        true => weir_backup::restore(stdin().lock(), &data),
        false => File::open(file).and_then(|it| weir_backup::restore(BufReader::new(it), &data)),
    };
    let contents = restored.map_err(|error| Failure::no(format!("{}: {error}", file.display())))?;
    say("restored", &contents, &data);
    Ok(())
}

fn data_of(config: &Config) -> PathBuf {
    PathBuf::from(config.text("data", "dir").unwrap_or("weir-data"))
}

fn is_standard(file: &Path) -> bool {
    file == Path::new("-")
}

fn save_file(data: &Path, file: &Path) -> Result<Contents, Failure> {
    let said = |error: io::Error| Failure::no(format!("{}: {error}", file.display()));
    if file.exists() {
        return Err(said(io::ErrorKind::AlreadyExists.into()));
    }
    let mut part = file.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let out = create(&part).map_err(said)?;
    let saved = write(data, BufWriter::new(&out)).map_err(|fault| failure(file, &fault));
    let saved = saved.and_then(|contents| {
        out.sync_all().map_err(said)?;
        fs::rename(&part, file).map_err(said)?;
        Ok(contents)
    });
    saved.inspect_err(|_| {
        // Half a copy helps nobody, and stands in the way of what needs the room.
        let _absent = fs::remove_file(&part);
    })
}

/// Names the side that failed: the data's file, or where the copy was to go.
fn failure(to: &Path, fault: &SaveFault) -> Failure {
    match fault {
        SaveFault::NoData(_) | SaveFault::Read { .. } => Failure::no(fault.to_string()),
        SaveFault::Write { .. } => Failure::no(format!("{}: {fault}", to.display())),
    }
}

/// A file that nobody else may read, as the data themselves.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn write(data: &Path, out: impl Write) -> Result<Contents, SaveFault> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let made = now.map_or(0, |since| since.as_secs());
    weir_backup::save(data, out, env!("CARGO_PKG_VERSION"), made)
}

fn say(done: &str, contents: &Contents, place: &Path) {
    let (files, bytes) = (contents.files.len(), contents.bytes());
    eprintln!("{done} {files} files, {bytes} bytes: {}", place.display());
}
