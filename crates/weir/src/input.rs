//! What a command reads: a file, or standard input.

use std::io::{Read, stdin};
use std::path::Path;
use weir_program::Failure;

/// The name that stands for standard input.
const STANDARD: &str = "-";

/// All of a file; all of standard input where none is named, or `-`.
pub(crate) fn read(file: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let Some(file) = file.filter(|file| *file != Path::new(STANDARD)) else {
        let mut input = Vec::new();
        let taken = stdin().lock().read_to_end(&mut input);
        taken.map_err(|error| Failure::no(format!("standard input: {error}")))?;
        return Ok(input);
    };
    std::fs::read(file).map_err(|error| Failure::no(format!("{}: {error}", file.display())))
}
