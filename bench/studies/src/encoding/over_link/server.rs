//! The server of documents: hands out the files of a folder and takes files in, and a page for browsers.
//!
//! The paper's stood in for a sensor service in the same way (004, section 4.2.2): files that were there
//! before, and a folder that took in what was inserted. A connection an exchange; nothing is parsed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::spent::Told;
use weir_bench_lab::targets::{Running, Settings, start_announced, this_program};
use weir_bench_model::limits::{DOCUMENT_BYTES_MAX, RESPONSE_BYTES_MAX};

/// The hidden subcommand that turns a process into the server.
pub const SUBCOMMAND: &str = "__documents";
/// A page without anything, in which scripts run.
const PAGE: &[u8] = b"<!doctype html><title>documents</title>";
/// With these a page has a clock of 5 microseconds rather than 100 (HTML, section 7.1.3 and 7.1.4).
const ISOLATED: &str = "Cross-Origin-Opener-Policy: same-origin\r\n\
                        Cross-Origin-Embedder-Policy: require-corp\r\n";
/// A file of the folder that has what was sent last.
const INSERTED: &str = "inserted";
/// What it answers with what it has spent.
pub(super) const SPENT: &str = "spent";
/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts it over a folder, which is made.
pub(super) fn start(settings: &Settings, folder: &Path) -> Result<Running, String> {
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut command = this_program(settings)?;
    command.arg(SUBCOMMAND).arg(settings.host().to_string());
    command.arg(folder);
    let version = env!("CARGO_PKG_VERSION").into();
    start_announced(command, "http", version, &folder.join("stderr.log"))
}

/// Serves until killed; prints `{"ready":true,"http":"address"}` once it listens. Arguments: an address
/// and a folder.
pub fn main(args: &[String]) -> i32 {
    weir_bench_model::process::die_with_parent();
    let [host, folder] = args else { return 2 };
    let host: Ipv4Addr = host.parse().unwrap_or(Ipv4Addr::LOCALHOST);
    let listening = TcpListener::bind((host, 0)).and_then(|listener| {
        let address = listener.local_addr()?;
        weir_bench_load::load::tell(&format!(r#"{{"ready":true,"http":"{address}"}}"#));
        serve(&listener, Path::new(folder))
    });
    match listening {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("the server of documents: {error}");
            1
        }
    }
}

fn serve(listener: &TcpListener, folder: &Path) -> std::io::Result<()> {
    loop {
        let (stream, _) = listener.accept()?;
        let folder = folder.to_path_buf();
        std::thread::spawn(move || {
            // A client that goes without leave ends its own exchange only.
            let _ = answer(stream, &folder);
        });
    }
}

/// One request and its answer.
fn answer(stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(stream).take(RESPONSE_BYTES_MAX as u64);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let length = body_bytes(&mut reader)?;
    let (status, kind, body) = match method {
        "POST" => insert(&mut reader, length, folder)?,
        _ => file(target, folder),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n{ISOLATED}\r\n",
        body.len()
    );
    let mut stream = reader.into_inner().into_inner();
    stream.write_all(&[head.into_bytes(), body].concat())
}

/// Reads the rest of the head; what it says of the body's length.
fn body_bytes(reader: &mut impl BufRead) -> std::io::Result<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else {
            return Ok(length);
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
}

type Answer = (&'static str, &'static str, Vec<u8>);

/// Takes a body in and keeps it, as the paper's server did.
fn insert(reader: &mut impl Read, length: usize, folder: &Path) -> std::io::Result<Answer> {
    if length > DOCUMENT_BYTES_MAX {
        return Ok(("413 Content Too Large", "text/plain", Vec::new()));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    std::fs::write(folder.join(INSERTED), body)?;
    Ok(("201 Created", "text/plain", Vec::new()))
}

fn file(target: &str, folder: &Path) -> Answer {
    let name = target.trim_start_matches('/');
    if name.is_empty() {
        return ("200 OK", "text/html", PAGE.into());
    }
    if name == SPENT {
        let line = Told::of_this_process().line();
        return ("200 OK", "text/plain", line.into_bytes());
    }
    let found = plain_name(name).and_then(|name| std::fs::read(folder.join(name)).ok());
    match found {
        Some(bytes) => ("200 OK", "application/octet-stream", bytes),
        None => ("404 Not Found", "text/plain", Vec::new()),
    }
}

/// The name of a file in the folder, and of none elsewhere.
fn plain_name(name: &str) -> Option<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    (name.bytes().all(is_plain) && !name.starts_with('.')).then(|| name.into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::client;
    use super::*;
    use weir_bench_lab::link::End;

    #[test]
    fn files_are_handed_out_and_taken_in_and_nothing_else_is_shown() {
        let folder = std::env::temp_dir().join(format!("weir-documents-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("caps-0-xml"), b"<a/>").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let served = folder.clone();
        std::thread::spawn(move || serve(&listener, &served));
        let end = End::Local;
        let download = client::download(&end, address, "caps-0-xml").unwrap();
        assert_eq!(download.body, b"<a/>");
        assert!(download.first_byte_us <= download.transmit_us);
        assert!(client::download(&end, address, "caps-9-xml").is_err());
        assert!(client::download(&end, address, "../secret").is_err());
        client::upload(&end, address, b"inserted here").unwrap();
        assert!(client::spent_by_server(&end, address).unwrap().peak_bytes > 0.0);
        let kept = std::fs::read(folder.join(INSERTED)).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(kept, b"inserted here");
    }
}
