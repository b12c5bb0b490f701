//! What a start would otherwise drop or write over, put aside for whoever wants to look at it.
//!
//! A file that is put aside lies beside the one that it was part of, under `NAME.NUMBER-WHY.damaged`; its
//! number says in which order they came, its date when. Nothing ever reads one again. The decision worth
//! arguing: they have a bound of their own and the oldest go first, what a crash left unfinished before all
//! else, so that a machine that falls often neither fills its disk nor pushes out the one file that matters.

use crate::{Disk, DiskFile, read_full};
use std::io;

/// How the names of files end that were put aside.
pub const END: &str = ".damaged";
/// Why, of what a crash left unfinished.
pub const TORN: &str = "torn";
/// Most files of one directory that are kept aside.
pub const FILES_MAX: usize = 64;
/// Most bytes of them; a single larger one is kept all the same.
pub const BYTES_MAX: u64 = 256 << 20;
/// Bytes copied at once.
const COPY_BYTES: usize = 1 << 20;

/// Gives a file another name, durably; says which. `why` is a word of letters.
pub fn move_file(disk: &dyn Disk, name: &str, why: &str) -> io::Result<String> {
    let aside = new_name(disk, name, why)?;
    disk.rename(name, &aside)?;
    disk.sync_dir()?;
    trim(disk, &aside)?;
    Ok(aside)
}

/// Copies a file, durably; says the name of the copy.
pub fn copy_file(disk: &dyn Disk, name: &str, why: &str) -> io::Result<String> {
    let file = disk.open(name)?;
    let bytes = file.len()?;
    copy_part(disk, name, why, (&*file, 0, bytes))
}

/// Copies a part of a file, from a byte up to another, durably; says the name of the copy.
pub fn copy_part(
    disk: &dyn Disk,
    name: &str,
    why: &str,
    (file, from, to): (&dyn DiskFile, u64, u64),
) -> io::Result<String> {
    let aside = new_name(disk, name, why)?;
    let copy = disk.create(&aside)?;
    let copied = copy_bytes(file, &*copy, from, to).and_then(|()| copy.sync_data());
    if let Err(error) = copied {
        // Half a copy helps nobody, and may stand in the way of what needs the room.
        let _not_there = disk.remove(&aside);
        return Err(error);
    }
    disk.sync_dir()?;
    trim(disk, &aside)?;
    Ok(aside)
}

/// How many files are kept aside, and their bytes.
pub fn counted(disk: &dyn Disk) -> io::Result<(usize, u64)> {
    let all = listed(disk)?;
    Ok((all.len(), all.iter().map(|it| it.bytes).sum()))
}

struct Aside {
    /// What a crash left goes first, then by number.
    order: (bool, u64),
    name: String,
    bytes: u64,
}

fn listed(disk: &dyn Disk) -> io::Result<Vec<Aside>> {
    let names = disk.list()?;
    let mut all = Vec::new();
    for name in names.into_iter().filter(|name| name.ends_with(END)) {
        let (number, why) = read_name(&name);
        let order = (why != TORN, number);
        let bytes = disk.open(&name)?.len()?;
        all.push(Aside { order, name, bytes });
    }
    all.sort_by_key(|it| it.order);
    Ok(all)
}

/// The number and the reason in a name; none of either in those of earlier versions.
fn read_name(name: &str) -> (u64, &str) {
    let rest = name.strip_suffix(END).unwrap_or(name);
    let last = rest.rsplit_once('.').map_or("", |(_, last)| last);
    let (number, why) = last.split_once('-').unwrap_or(("", ""));
    number.parse().map_or((0, ""), |number| (number, why))
}

fn new_name(disk: &dyn Disk, name: &str, why: &str) -> io::Result<String> {
    let names = disk.list()?;
    let aside = names.iter().filter(|name| name.ends_with(END));
    let last = aside.map(|name| read_name(name).0).max().unwrap_or(0);
    Ok(format!("{name}.{:06}-{why}{END}", last + 1))
}

fn copy_bytes(from: &dyn DiskFile, to: &dyn DiskFile, begin: u64, end: u64) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    let mut at = begin;
    while at < end {
        let most = (end - at).min(COPY_BYTES as u64) as usize;
        let filled = read_full(from, &mut buffer[..most], at)?;
        if filled == 0 {
            break;
        }
        to.write_all_at(&buffer[..filled], at - begin)?;
        at += filled as u64;
    }
    Ok(())
}

/// Removes the oldest beyond what may be kept, never the one that was put aside just now.
fn trim(disk: &dyn Disk, newest: &str) -> io::Result<()> {
    let mut all = listed(disk)?;
    let mut bytes: u64 = all.iter().map(|it| it.bytes).sum();
    let mut count = all.len();
    all.retain(|it| it.name != newest);
    for old in all {
        if count <= FILES_MAX && bytes <= BYTES_MAX {
            break;
        }
        disk.remove(&old.name)?;
        (count, bytes) = (count - 1, bytes - old.bytes);
    }
    disk.sync_dir()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::SimDisk;

    fn bytes_of(disk: &SimDisk, name: &str) -> Vec<u8> {
        let file = disk.open(name).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        read_full(&*file, &mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn what_is_put_aside_outlives_a_loss_of_power() {
        let disk = SimDisk::new();
        let file = disk.create("a").unwrap();
        file.write_all_at(b"0123456789", 0).unwrap();
        let part = copy_part(&disk, "a", TORN, (&*file, 3, 6)).unwrap();
        let whole = copy_file(&disk, "a", "checksum").unwrap();
        file.sync_data().unwrap();
        let moved = move_file(&disk, "a", "checksum").unwrap();
        disk.crash(1);
        assert_eq!(
            [&part, &whole, &moved],
            [
                "a.000001-torn.damaged",
                "a.000002-checksum.damaged",
                "a.000003-checksum.damaged"
            ]
        );
        let kept = [&part, &whole, &moved].map(|name| bytes_of(&disk, name));
        assert_eq!(kept, [&b"345"[..], b"0123456789", b"0123456789"]);
        assert_eq!(counted(&disk).unwrap(), (3, 23));
    }

    #[test]
    fn the_oldest_go_and_what_a_crash_left_before_all_else() {
        let disk = SimDisk::new();
        disk.create("old.log.damaged").unwrap();
        disk.create("a").unwrap();
        let first = copy_file(&disk, "a", "checksum").unwrap();
        let torn = copy_file(&disk, "a", TORN).unwrap();
        for _ in 0..FILES_MAX - 3 {
            copy_file(&disk, "a", "checksum").unwrap();
        }
        let has = |name: &str| disk.list().unwrap().iter().any(|it| it == name);
        assert!(has(&torn));
        copy_file(&disk, "a", TORN).unwrap();
        assert!(!has(&torn) && has("old.log.damaged"));
        copy_file(&disk, "a", "checksum").unwrap();
        copy_file(&disk, "a", "checksum").unwrap();
        assert!(!has("old.log.damaged") && has(&first));
        assert_eq!(counted(&disk).unwrap().0, FILES_MAX);
    }
}
