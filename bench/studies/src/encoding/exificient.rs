//! EXIficient in one JVM beside the run: the reference of EXI, measured by the same rule.
//!
//! The program is `conformance/exificient-bench`; it is asked a line at a time and lives as long as
//! the run, so that its compiler's work is behind it. Where Java or the program is absent, its
//! contenders are absent and the report says so.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::steady::{Budget, Steady};
use super::task::Task;
use weir_bench_lab::link::Launch;
use weir_bench_lab::targets::{Settings, bound_to_bench, find_program, of_the_project};
use weir_bench_model::limits::WORKER_SECONDS_MAX;

/// Its name as a target.
pub(super) const NAME: &str = "exificient";
/// Where Maven leaves the program, from the project's root; `WEIR_EXIFICIENT` names another place.
const FOLDER: &str = "conformance/exificient-bench/target";

/// The process.
pub(super) struct Exificient {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
    /// What it says it is.
    pub version: String,
}

impl Exificient {
    /// Starts it; an error says what is absent.
    pub(super) fn start(settings: &Settings) -> Result<Self, String> {
        let java = find_program("java", "default-jdk-headless")?;
        let named = std::env::var_os("WEIR_EXIFICIENT").map(PathBuf::from);
        let folder = of_the_project(&named.unwrap_or_else(|| FOLDER.into()));
        if !folder.join("classes/weir/Bench.class").is_file() {
            return Err(format!(
                "absent: no program in {}; from the project's root, `scripts/peers` or \
                 `mvn -q -f conformance/exificient-bench package` puts it there, and \
                 WEIR_EXIFICIENT names another folder",
                folder.display()
            ));
        }
        let mut command = bound_to_bench(settings, &java)?;
        command
            .args(["-Xss16m", "-cp"])
            .arg(class_path(&folder))
            .arg("weir.Bench");
        Self::spawn(command)
    }

    fn spawn(mut command: Launch) -> Result<Self, String> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("absent: {e}"))?;
        let output = child.stdout.take().ok_or("it has no output")?;
        let input = child.stdin.take().ok_or("it has no input")?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut this = Self {
            child,
            input,
            answers,
            version: String::new(),
        };
        this.version = this.answer()?;
        Ok(this)
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Makes a document the one that jobs are about.
    pub(super) fn load(&mut self, xml: &Path) -> Result<(), String> {
        self.ask(&format!("load {}", xml.display())).map(drop)
    }

    /// Sets the schema of strict jobs.
    pub(super) fn schema(&mut self, xsd: &Path) -> Result<(), String> {
        self.ask(&format!("schema {}", xsd.display())).map(drop)
    }

    /// Bytes of the document in a format.
    pub(super) fn size(&mut self, format: &str) -> Result<usize, String> {
        let answer = self.ask(&format!("size {format}"))?;
        answer.parse().map_err(|_| format!("no size: {answer}"))
    }

    /// Measures a task in its steady state.
    pub(super) fn measure(
        &mut self,
        format: &str,
        task: Task,
        budget: Budget,
    ) -> Result<Steady, String> {
        let task = match task {
            Task::Parse => "parse",
            Task::Serialize => "serialize",
            Task::FromXml => "from-xml",
        };
        let answer = self.ask(&format!(
            "measure {format} {task} {}",
            budget.ns / 1_000_000
        ))?;
        let us: Vec<f64> = answer
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        match us.is_empty() {
            true => Err(format!("no samples: {answer}")),
            false => Ok(Steady::of(us)),
        }
    }

    fn ask(&mut self, line: &str) -> Result<String, String> {
        writeln!(self.input, "{line}").map_err(|e| format!("{NAME} ended: {e}"))?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String, String> {
        let wait = Duration::from_secs(WORKER_SECONDS_MAX);
        let line = self
            .answers
            .recv_timeout(wait)
            .map_err(|e| format!("{NAME}: {e}"))?;
        match line.split_once(' ') {
            Some(("ok", answer)) => Ok(answer.trim().into()),
            _ => Err(format!("{NAME}: {line}")),
        }
    }
}

impl Drop for Exificient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn class_path(folder: &Path) -> String {
    format!(
        "{}:{}",
        folder.join("classes").display(),
        folder.join("dependency/*").display()
    )
}
