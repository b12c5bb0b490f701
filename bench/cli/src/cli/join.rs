//! `weir bench join`: runs of parts of an experiment as one.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::{NO, print, shown, usage};
use crate::join::Joined;
use weir_bench_model::results::Run;
use weir_bench_report as report;
use weir_bench_studies::experiments;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Folders of runs of one experiment, none of which measured what another did
    #[arg(num_args = 2.., required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Where the whole is written
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Machine output
    #[arg(long)]
    json: bool,
}

/// Joins, writes and prints; the exit code.
pub(super) fn join(asked: &Arguments, command: String, out: &mut dyn Write) -> i32 {
    let joined = match asked.joined() {
        Ok(joined) => joined.finish(command),
        Err(error) => return usage(&error),
    };
    match asked.write(&joined) {
        Ok(()) => print(&shown(&joined, asked.json), out),
        Err(error) => {
            eprintln!("{error}");
            NO
        }
    }
}

impl Arguments {
    fn joined(&self) -> Result<Joined, String> {
        let mut joined = Joined::default();
        for folder in &self.runs {
            let added = report::read(folder).and_then(|run| joined.add(run));
            added.map_err(|error| format!("{}: {error}", folder.display()))?;
        }
        Ok(joined)
    }

    fn write(&self, run: &Run) -> Result<(), String> {
        let folder = &self.out;
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let folders: Vec<&Path> = self.runs.iter().map(PathBuf::as_path).collect();
        weir_bench_model::samples::join(&folders, folder)?;
        report::write(&experiments::subject(run), folder)?;
        eprintln!("written to {}", folder.display());
        Ok(())
    }
}
