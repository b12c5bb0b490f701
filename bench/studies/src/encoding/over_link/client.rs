//! A native client of the server of documents: one request on a connection of its own, timed.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use quick_xml::events::Event;

use super::super::spent::Told;
use super::server::SPENT;
use weir_bench_lab::link::End;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::DOCUMENT_BYTES_MAX;

/// How long the server may be silent.
const PATIENCE: Duration = Duration::from_secs(60);
/// Elements whose end is a first thing to show: an offering of capabilities, a block of values.
const FIRST: [&str; 2] = ["ObservationOffering", "values"];

/// What came, and when; microseconds since the connection was asked for.
#[derive(Debug)]
pub(super) struct Download {
    /// The document.
    pub(super) body: Vec<u8>,
    /// Until the answer began.
    pub(super) first_byte_us: f64,
    /// Until its last byte.
    pub(super) transmit_us: f64,
}

/// An answer whose head has been read.
struct Answer {
    reader: BufReader<TcpStream>,
    began_ns: u64,
    first_byte_us: f64,
}

fn since(began_ns: u64) -> f64 {
    (now_ns() - began_ns) as f64 / 1e3
}

fn ask(end: &End, address: SocketAddr, request: &[u8]) -> std::io::Result<Answer> {
    let began_ns = now_ns();
    let mut stream = end.connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(request)?;
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.fill_buf()?;
    let first_byte_us = since(began_ns);
    reader.read_line(&mut status)?;
    if !status.starts_with("HTTP/1.1 2") {
        return Err(std::io::Error::other(format!("answered {}", status.trim())));
    }
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    Ok(Answer {
        reader,
        began_ns,
        first_byte_us,
    })
}

fn get(end: &End, address: SocketAddr, name: &str) -> Result<Answer, String> {
    let request = format!("GET /{name} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    ask(end, address, request.as_bytes()).map_err(|e| format!("downloading: {e}"))
}

/// Fetches a document whole.
pub(super) fn download(end: &End, address: SocketAddr, name: &str) -> Result<Download, String> {
    let mut answer = get(end, address, name)?;
    let mut body = Vec::new();
    let read = answer.reader.by_ref().take(DOCUMENT_BYTES_MAX as u64);
    let mut read = read;
    read.read_to_end(&mut body)
        .map_err(|e| format!("downloading: {e}"))?;
    Ok(Download {
        body,
        first_byte_us: answer.first_byte_us,
        transmit_us: since(answer.began_ns),
    })
}

/// Fetches a document of XML and parses it as it comes, until there is a first thing to show, or to its
/// end; microseconds.
pub(super) fn first_of_xml(end: &End, address: SocketAddr, name: &str) -> Result<f64, String> {
    let answer = get(end, address, name)?;
    let mut reader = quick_xml::Reader::from_reader(answer.reader);
    let mut buffer = Vec::new();
    loop {
        let event = reader.read_event_into(&mut buffer);
        match event.map_err(|e| format!("parsing: {e}"))? {
            Event::End(element) if FIRST.contains(&element.local_name().as_ref()) => break,
            Event::Eof => break,
            _ => buffer.clear(),
        }
    }
    Ok(since(answer.began_ns))
}

/// What the server itself has spent so far; asked from its own end, so that nothing crosses the link.
pub(in crate::encoding) fn spent_by_server(end: &End, address: SocketAddr) -> Option<Told> {
    let told = download(end, address, SPENT).ok()?;
    Told::read(std::str::from_utf8(&told.body).ok()?)
}

/// Sends a document and waits until it is acknowledged; microseconds.
pub(super) fn upload(end: &End, address: SocketAddr, body: &[u8]) -> Result<f64, String> {
    let head = format!(
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/octet-stream\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    let request = [head.as_bytes(), body].concat();
    let answer = ask(end, address, &request).map_err(|e| format!("uploading: {e}"))?;
    Ok(since(answer.began_ns))
}
