//! Small files that are there whole or not at all: written aside, synced, renamed.
//!
//! Layout: eight bytes that name kind and version, the body, CRC-32C u32 of both.

use crate::damage::read_what_can_be;
use std::io;
use weir_disk::Disk;

const CHECKSUM_BYTES: usize = 4;

/// Writes the file in the place of the one that has its name; durable when it returns.
pub(crate) fn write(disk: &dyn Disk, name: &str, magic: &[u8; 8], body: &[u8]) -> io::Result<()> {
    let aside = format!("{name}.new");
    let mut bytes = Vec::with_capacity(magic.len() + body.len() + CHECKSUM_BYTES);
    bytes.extend_from_slice(magic);
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    let file = disk.create(&aside)?;
    file.write_all_at(&bytes, 0)?;
    file.sync_data()?;
    disk.rename(&aside, name)?;
    disk.sync_dir()
}

/// What is there under a name.
pub(crate) enum Found {
    /// No file.
    Nothing,
    /// What was written.
    Body(Vec<u8>),
    /// Something else.
    Damaged,
}

/// Reads a file's body.
pub(crate) fn read(disk: &dyn Disk, name: &str, magic: &[u8; 8]) -> io::Result<Found> {
    let Some(bytes) = read_bytes(disk, name)? else {
        return Ok(Found::Nothing);
    };
    let Some((content, checksum)) = bytes.split_last_chunk::<CHECKSUM_BYTES>() else {
        return Ok(Found::Damaged);
    };
    let whole = crc32c::crc32c(content).to_le_bytes() == *checksum;
    Ok(match content.strip_prefix(magic) {
        Some(body) if whole => Found::Body(body.to_vec()),
        _ => Found::Damaged,
    })
}

/// All bytes of a file, as far as the disk gives them.
pub(crate) fn read_bytes(disk: &dyn Disk, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match disk.open(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let mut bytes = vec![0; file.len()? as usize];
    let filled = read_what_can_be(&*file, &mut bytes, 0);
    bytes.truncate(filled);
    Ok(Some(bytes))
}
