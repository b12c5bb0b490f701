//! `weir bench reference`: the results that `weir advise` ships, written from runs.

use std::io::Write;
use std::path::PathBuf;

use super::{USAGE, print};
use crate::advise::write_reference;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Folders of the runs, or folders that hold runs
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Where it is kept
    #[arg(long, value_name = "DIR", default_value = "crates/advise/reference")]
    out: PathBuf,
    /// Keep nothing of what it had; else cells that these runs lack stay
    #[arg(long)]
    anew: bool,
}

pub(super) fn reference(asked: &Arguments, out: &mut dyn Write) -> i32 {
    match write_reference(&asked.runs, &asked.out, asked.anew) {
        Ok(said) => print(&said, out),
        Err(error) => {
            eprintln!("{error}");
            USAGE
        }
    }
}
