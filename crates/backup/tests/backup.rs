//! Copies of folders that are like a gateway's, whole, cut and changed.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use weir_backup::{SaveFault, restore, save};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weir-backup-{name}-{}", std::process::id()));
        let _absent = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with_data(name: &str) -> Self {
        let folder = Self::new(name);
        for (file, bytes) in data() {
            let path = folder.0.join("data").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn saved(&self) -> Vec<u8> {
        let mut archive = Vec::new();
        save(&self.0.join("data"), &mut archive, "1", 0).unwrap();
        archive
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

fn data() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("history/00000001.dat", vec![7; 3000]),
        ("history/manifest", b"journal".to_vec()),
        ("history/lock", Vec::new()),
        (
            "log/0001-000000000001.log",
            (0..=255).cycle().take(70_000).collect(),
        ),
        ("log/clean", vec![1; 20]),
        ("log/epochs", vec![2; 14]),
        ("log/snapshot.new", vec![3; 5]),
    ]
}

fn refusal(archive: &[u8], into: &Path) -> String {
    let error = restore(archive, into).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData, "{error}");
    error.to_string()
}

#[test]
fn what_is_restored_is_what_was_saved_and_marked() {
    let folder = Folder::with_data("whole");
    let archive = folder.saved();
    let into = folder.0.join("again");
    let contents = restore(&archive[..], &into).unwrap();
    let names: Vec<_> = contents
        .files
        .iter()
        .map(|file| file.name.as_str())
        .collect();
    let small = ["history/manifest", "log/epochs"];
    let growing = ["history/00000001.dat", "log/0001-000000000001.log"];
    assert_eq!(names, [small, growing].concat());
    for (name, bytes) in data().into_iter().filter(|(name, _)| names.contains(name)) {
        assert_eq!(fs::read(into.join(name)).unwrap(), bytes, "{name}");
    }
    assert!(into.join("log/restored").is_file());
    assert!(
        !into.join("log/clean").exists(),
        "it would be taken for a clean stop"
    );
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::with_data("there");
    let archive = folder.saved();
    let error = restore(&archive[..], &folder.0.join("data")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(folder.saved(), archive, "the data are as they were");
}

#[test]
fn an_archive_that_is_cut_anywhere_makes_no_data() {
    let folder = Folder::with_data("cut");
    let archive = folder.saved();
    let into = folder.0.join("again");
    // Two empty blocks, and what fills the last of them up, mean only that nothing follows.
    let end = archive.iter().rposition(|byte| *byte != 0).unwrap();
    for length in (0..end).step_by(509) {
        let said = refusal(&archive[..length], &into);
        assert!(said.contains("not the whole of it"), "{length}: {said}");
        assert!(!into.exists(), "{length}");
    }
}

#[test]
fn an_archive_that_was_changed_makes_no_data() {
    let folder = Folder::with_data("changed");
    let into = folder.0.join("again");
    let archive = folder.saved();
    let at = archive
        .windows(100)
        .position(|bytes| bytes == [7; 100])
        .unwrap();
    let mut changed = archive.clone();
    changed[at + 50] ^= 1;
    assert_eq!(
        refusal(&changed, &into),
        "history/00000001.dat is not as it was saved"
    );
    assert!(!into.exists());
}

#[test]
fn what_is_no_backup_writes_nowhere_else() {
    let folder = Folder::new("foreign");
    let into = folder.0.join("again");
    let mut header = tar::Header::new_old();
    header.as_old_mut().name[..11].copy_from_slice(b"../stranger");
    header.set_size(1);
    header.set_cksum();
    let archive = [&header.as_bytes()[..], &[b'x'; 1], &[0; 511], &[0; 1024]].concat();
    assert!(refusal(&archive, &into).starts_with("this is no backup"));
    assert!(!folder.0.join("stranger").exists());
    assert!(refusal(&[1; 4096], &into).starts_with("this is no backup"));
}

#[test]
fn a_folder_without_data_is_told() {
    let folder = Folder::new("empty");
    let mut nothing = Vec::new();
    let fault = save(&folder.0, &mut nothing, "1", 0).unwrap_err();
    assert!(matches!(fault, SaveFault::NoData(path) if path == folder.0));
    let mut read = Vec::new();
    assert_eq!((&nothing[..]).read_to_end(&mut read).unwrap(), 0);
}

/// An archive during whose writing, once a file is begun, that is cut.
struct Cutting {
    archive: Vec<u8>,
    file: PathBuf,
    bytes: u64,
}

impl Write for Cutting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let name = self.file.file_name().unwrap().as_encoded_bytes();
        if bytes.windows(name.len()).any(|it| it == name) {
            let file = fs::File::options().write(true).open(&self.file)?;
            file.set_len(self.bytes)?;
        }
        self.archive.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn saved_while_cut(folder: &Folder, name: &str, bytes: u64) -> Result<Vec<u8>, SaveFault> {
    let data = folder.0.join("data");
    let mut out = Cutting {
        archive: Vec::new(),
        file: data.join(name),
        bytes,
    };
    save(&data, &mut out, "1", 0)?;
    Ok(out.archive)
}

/// An archive on a disk that has room for so many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.0);
        self.0 -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_with_what_the_copy_needs() {
    let folder = Folder::with_data("full");
    let data = folder.0.join("data");
    let whole = {
        let mut out = Vec::new();
        save(&data, &mut out, "1", 0).unwrap();
        out.len() as u64
    };
    for room in (0..whole).step_by(1024) {
        let fault = save(&data, Full(room as usize), "1", 0).unwrap_err();
        match fault {
            SaveFault::Write {
                error,
                written,
                needed,
            } => {
                assert_eq!((error.kind(), written), (ErrorKind::StorageFull, room));
                assert!(needed.abs_diff(whole) < 2048, "{needed} of {whole}");
            }
            fault => panic!("{fault}"),
        }
    }
}

#[test]
fn a_segment_whose_zeros_are_cut_meanwhile_has_them_still() {
    let folder = Folder::with_data("zeros");
    let name = "log/0001-000000000001.log";
    let archive = saved_while_cut(&folder, name, 50_000).unwrap();
    let into = folder.0.join("restored");
    restore(&archive[..], &into).unwrap();
    let mut expected = fs::read(folder.0.join("data").join(name)).unwrap();
    assert_eq!(expected.len(), 50_000);
    expected.resize(70_000, 0);
    assert_eq!(fs::read(into.join(name)).unwrap(), expected);
}

#[test]
fn a_file_that_only_grows_and_is_cut_makes_no_backup() {
    let folder = Folder::with_data("cut");
    let error = saved_while_cut(&folder, "history/00000001.dat", 100).unwrap_err();
    assert!(
        error.to_string().contains("was cut while it was read"),
        "{error}"
    );
}
