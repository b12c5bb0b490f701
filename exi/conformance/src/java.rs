//! EXIficient in a virtual machine that stays.

use std::io::{BufRead, BufReader, Error, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running oracle.
pub(crate) struct Java {
    process: Child,
    jobs: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Java {
    /// Starts what Maven built into this folder.
    pub(crate) fn start(folder: &Path) -> Result<Self, Error> {
        let classes = folder.join("classes");
        if !classes.is_dir() {
            return Err(Error::other(format!(
                "{} is not there: scripts/peers makes it",
                classes.display()
            )));
        }
        let path = format!("{}:{}/dependency/*", classes.display(), folder.display());
        let mut process = Command::new("java")
            .args([
                "-Xss16m",
                "-XX:+UseSerialGC",
                "-cp",
                &path,
                "weir.exi.Oracle",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let jobs = process
            .stdin
            .take()
            .ok_or_else(|| Error::other("no input"))?;
        let answers = process
            .stdout
            .take()
            .ok_or_else(|| Error::other("no output"))?;
        Ok(Self {
            process,
            jobs,
            answers: BufReader::new(answers),
        })
    }

    /// Does a job; an error is what the oracle said about it.
    pub(crate) fn run(
        &mut self,
        verb: &str,
        from: &Path,
        to: &Path,
        options: &[String],
    ) -> Result<(), String> {
        let mut job = format!("{verb}\t{}\t{}", from.display(), to.display());
        for option in options {
            job.push('\t');
            job.push_str(option);
        }
        job.push('\n');
        self.jobs
            .write_all(job.as_bytes())
            .map_err(|error| error.to_string())?;
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .map_err(|error| error.to_string())?;
        match answer.trim_end().split_once('\t') {
            None if answer.trim_end() == "ok" => Ok(()),
            Some((_, reason)) => Err(reason.to_owned()),
            None => Err("the oracle died".to_owned()),
        }
    }
}

impl Drop for Java {
    fn drop(&mut self) {
        // Its input ends with this process's end; waiting for it keeps no zombie.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
