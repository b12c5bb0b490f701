//! The files of a ZIP archive: stored or deflated, nothing else, as the suite's archives are.

/// Length of the end record, which stands last where an archive has no comment.
const END: usize = 22;
const STORED: u64 = 0;

/// Name and content of each file.
pub(crate) fn files(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let end = archive.len() - END;
    assert_eq!(&archive[end..end + 4], b"PK\x05\x06", "end record");
    let count = number(archive, end + 10, 2);
    let mut at = number(archive, end + 16, 4) as usize;
    let mut found = Vec::new();
    for _ in 0..count {
        assert_eq!(&archive[at..at + 4], b"PK\x01\x02", "directory");
        let [name, extra, comment] =
            [28, 30, 32].map(|field| number(archive, at + field, 2) as usize);
        let path = String::from_utf8_lossy(&archive[at + 46..at + 46 + name]).into_owned();
        if !path.ends_with('/') {
            found.push((path, content(archive, at)));
        }
        at += 46 + name + extra + comment;
    }
    found
}

/// What an entry of the directory stands for.
fn content(archive: &[u8], entry: usize) -> Vec<u8> {
    let (method, packed) = (
        number(archive, entry + 10, 2),
        number(archive, entry + 20, 4),
    );
    let local = number(archive, entry + 42, 4) as usize;
    let [name, extra] = [26, 28].map(|field| number(archive, local + field, 2) as usize);
    let from = local + 30 + name + extra;
    let bytes = &archive[from..from + packed as usize];
    if method == STORED {
        return bytes.to_vec();
    }
    miniz_oxide::inflate::decompress_to_vec(bytes).expect("deflated content")
}

fn number(archive: &[u8], at: usize, bytes: usize) -> u64 {
    let bytes = archive[at..at + bytes].iter().rev();
    bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
}
