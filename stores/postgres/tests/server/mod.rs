//! A PostgreSQL of one's own, in a folder of its own, and databases in it.
#![allow(dead_code, reason = "each file of tests uses its part")]

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_disk::SimDisk;
use weir_postgres::{Options, Origin, PostgresHistory, Target};

/// Where Debian's packages put what starts it, each version in its folder.
const PROGRAMS: &str = "/usr/lib/postgresql";
/// How long it may take until it answers; nothing is asserted of it.
const START: Duration = Duration::from_secs(60);
/// `nobody` of Debian.
const NOBODY: u32 = 65_534;
pub(crate) const PASSWORD: &str = "s3cret word";

/// A server, ended when dropped.
pub(crate) struct Server {
    programs: PathBuf,
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    settings: Vec<String>,
    process: Option<Child>,
}

/// A fresh one, or a loud note that it is absent.
pub(crate) fn server(test: &str, settings: &[&str]) -> Option<Server> {
    let Some(programs) = programs() else {
        skip(
            test,
            "no PostgreSQL here; `apt-get install postgresql` brings it",
        );
        return None;
    };
    let port = port();
    let folder = std::env::temp_dir().join(format!("weir-postgres-{port}"));
    std::fs::create_dir_all(&folder).unwrap();
    let mut server = Server {
        programs,
        folder,
        port,
        settings: settings.iter().map(ToString::to_string).collect(),
        process: None,
    };
    server.init();
    server.start();
    Some(server)
}

/// The programs of the newest version.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir(PROGRAMS).ok()?.flatten();
    let folders = versions.map(|version| version.path().join("bin"));
    folders
        .filter(|folder| folder.join("initdb").is_file() && folder.join("postgres").is_file())
        .max()
}

pub(crate) fn port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

fn skip(test: &str, reason: &str) {
    eprintln!("SKIP {test}: {reason}");
    if let Some(path) = std::env::var_os("WEIR_SKIPS") {
        let line = format!("rust: {test}: {reason}\n");
        let file = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(path);
        file.and_then(|mut file| std::io::Write::write_all(&mut file, line.as_bytes()))
            .ok();
    }
}

/// The server refuses to be root's.
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

impl Server {
    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A program of the server's, as nobody where this is root.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        if is_root() {
            chown(&self.folder, Some(NOBODY), Some(NOBODY)).unwrap();
            command.uid(NOBODY).gid(NOBODY);
        }
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    fn init(&self) {
        let words = self.folder.join("word");
        std::fs::write(&words, PASSWORD).unwrap();
        let mut command = self.program("initdb");
        command
            .arg("-D")
            .arg(self.data())
            .args(["-U", "weir", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
            .arg("--auth=scram-sha-256")
            .arg(format!("--pwfile={}", words.display()));
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "initdb: {said}");
    }

    /// Starts it on what it kept; again, where what was killed has not let go of its memory yet.
    pub(crate) fn start(&mut self) {
        let begun = Instant::now();
        let mut process = self.spawn();
        while self.sql("postgres", "SELECT 1").is_err() {
            assert!(begun.elapsed() < START, "PostgreSQL does not answer");
            std::thread::sleep(Duration::from_millis(50));
            if process.try_wait().unwrap().is_some() {
                process = self.spawn();
            }
        }
        self.process = Some(process);
    }

    fn spawn(&self) -> Child {
        let log = std::fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.folder.join("log"));
        let mut command = self.program("postgres");
        command
            .arg("-D")
            .arg(self.data())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args([
                "-c",
                "unix_socket_directories=",
                "-c",
                "shared_buffers=64MB",
            ]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command.stdout(Stdio::null()).stderr(log.unwrap());
        command.spawn().unwrap()
    }

    /// Starts it again with TLS by this certificate; says where that is.
    pub(crate) fn encrypt(&mut self, certificate: &str, key: &str) -> PathBuf {
        self.kill();
        for (name, text) in [("server.crt", certificate), ("server.key", key)] {
            let path = self.data().join(name);
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
            if is_root() {
                chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
        self.settings.push("ssl=on".into());
        self.start();
        self.data().join("server.crt")
    }

    /// Ends all its processes as a power cut does: left alone, one that serves a session may answer once more.
    pub(crate) fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            let id = process.id();
            let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            let children = children.unwrap_or_default();
            let mut command = Command::new("kill");
            command.args(["-KILL", &id.to_string()]);
            command.args(children.split_whitespace());
            // One that ended meanwhile makes it complain.
            let _ = command.stderr(Stdio::null()).status();
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// What `psql` prints of a statement, or its error.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> Result<String, String> {
        let mut command = Command::new(self.programs.join("psql"));
        command
            .env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args([
                "-U",
                "weir",
                "-d",
                database,
                "-qAtX",
                "-v",
                "ON_ERROR_STOP=1",
            ])
            .args(["-c", sql]);
        let done = command.output().unwrap();
        if done.status.success() {
            Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
        } else {
            Err(String::from_utf8_lossy(&done.stderr).trim().to_owned())
        }
    }

    /// Does something in a transaction that lasts until what is given back is dropped.
    pub(crate) fn hold(&self, database: &str, sql: &str) -> Held {
        let mut command = Command::new(self.programs.join("psql"));
        command
            .env("PGPASSWORD", PASSWORD)
            .args(["-h", "127.0.0.1", "-p", &self.port.to_string()])
            .args(["-U", "weir", "-d", database, "-qAtX"]);
        let mut psql = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = psql.stdin.as_mut().unwrap();
        writeln!(input, "BEGIN; {sql};\n\\echo held").unwrap();
        let mut line = String::new();
        let output = psql.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        Held(psql)
    }

    /// A database that is new.
    pub(crate) fn database(&self, name: &str) {
        self.sql("postgres", &format!("CREATE DATABASE {name}"))
            .unwrap();
    }

    pub(crate) fn url(&self, database: &str) -> String {
        let word = PASSWORD.replace(' ', "%20");
        format!("postgres://weir:{word}@127.0.0.1:{}/{database}", self.port)
    }

    /// Opens a history of a log that is shared.
    pub(crate) fn open(&self, database: &str) -> PostgresHistory {
        PostgresHistory::open(options(&self.url(database)), &shared()).unwrap()
    }
}

pub(crate) fn options(url: &str) -> Options {
    Options {
        target: Target::parse(url).unwrap(),
        retention_age: Duration::MAX,
        buffer_bytes_max: weir_postgres::limits::BUFFER_BYTES_MAX,
        wait: Duration::ZERO,
    }
}

pub(crate) fn shared() -> Origin {
    Origin::Shared("stream".into())
}

/// A log of a gateway's own, on a disk of its own.
pub(crate) fn own(disk: &SimDisk) -> Origin {
    Origin::Own(Arc::new(disk.clone()))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
            let last = log.lines().rev().take(20).collect::<Vec<_>>();
            eprintln!("{}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
        let _ = std::fs::remove_dir_all(Path::new(&self.folder));
    }
}

/// A transaction that is open.
pub(crate) struct Held(Child);

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}
