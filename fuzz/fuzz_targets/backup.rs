//! Archives of backups: no bytes break the restoring, which leaves all or nothing, and nothing beside the folder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use weir_backup::restore;

/// Bytes of a header of tar, and of what everything is filled up to (POSIX.1-1988 ustar).
const BLOCK_BYTES: usize = 512;
/// Where the checksum of a header stands.
const SUM_AT: usize = 148;

/// In memory where there is such a place: what is restored is synced file by file.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let above = match memory.is_dir() {
        true => memory.to_path_buf(),
        false => std::env::temp_dir(),
    };
    let folder = above.join(format!("weir-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
});

fuzz_target!(|input: &[u8]| {
    let Some((&choice, bytes)) = input.split_first() else {
        return;
    };
    let archive = if choice & 1 == 0 {
        bytes.to_vec()
    } else {
        summed(bytes)
    };
    let data = FOLDER.join("data");
    let restored = restore(archive.as_slice(), &data);
    let names: Vec<String> = fs::read_dir(&*FOLDER)
        .expect("the folder")
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    match restored {
        Ok(contents) => {
            assert_eq!(names, ["data"], "the data and nothing else");
            let there = |name: &str| data.join(name).is_file();
            assert!(contents.files.iter().all(|file| there(&file.name)));
            fs::remove_dir_all(&data).expect("the data");
        }
        Err(_) => assert_eq!(names, Vec::<String>::new(), "nothing is left"),
    }
});

/// Whatever may be a header gets the checksum that a header has.
fn summed(bytes: &[u8]) -> Vec<u8> {
    let mut archive = bytes.to_vec();
    let blocks = archive.chunks_exact_mut(BLOCK_BYTES);
    for block in blocks.filter(|block| block[257..262] == *b"ustar") {
        block[SUM_AT..SUM_AT + 8].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[SUM_AT..SUM_AT + 8].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    archive
}
