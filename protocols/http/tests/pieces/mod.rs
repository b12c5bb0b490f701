//! Answers in pieces over real sockets: whole, compressed, broken off, and no faster than they are read.

use crate::gateway::pieces::{PIECE, made};
use crate::gateway::{self, Gateway};
use std::io::Read;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_http::wire::answers::{Answers, Part};

async fn connect(gateway: &Gateway, request: &str) -> TcpStream {
    let mut tcp = TcpStream::connect(gateway.address).await.unwrap();
    tcp.write_all(request.as_bytes()).await.unwrap();
    tcp
}

async fn all(mut tcp: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    tcp.read_to_end(&mut bytes).await.unwrap();
    bytes
}

/// Bodies of the answers, and whether the last is whole.
fn bodies(bytes: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut answers = Answers::new(1 << 30);
    let mut parts = Vec::new();
    answers.read(bytes, &mut parts).unwrap();
    let whole = answers.finish(&mut parts);
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    for part in parts {
        match part {
            Part::Head(_) => bodies.push(Vec::new()),
            Part::Body(body) => bodies.last_mut().unwrap().extend_from_slice(&body),
            Part::End { .. } => {}
        }
    }
    (bodies, whole)
}

const LENGTH: usize = "begin\n".len() + 100 * PIECE;

#[test]
fn a_body_in_pieces_is_chunked_and_the_connection_serves_on() {
    gateway::with(&[], async |gateway| {
        let requests = "GET /pieces/100 HTTP/1.1\r\nHost: a\r\n\r\n\
             HEAD /pieces/100 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
        let answer = all(connect(&gateway, requests).await).await;
        let text = String::from_utf8_lossy(&answer);
        assert_eq!(text.matches("transfer-encoding: chunked").count(), 1);
        assert!(text.ends_with("connection: close\r\n\r\n"), "{text}");
        let (bodies, whole) = bodies(&answer);
        assert!(whole);
        assert_eq!(bodies[0].len(), LENGTH);
        assert!(bodies[0].starts_with(b"begin\nvvv") && bodies[0].ends_with(b"aaa"));
        let requests = "GET /pieces/0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let answer = all(connect(&gateway, requests).await).await;
        assert!(String::from_utf8_lossy(&answer).contains("content-length: 8\r\n"));
    });
}

#[test]
fn a_body_that_breaks_off_has_no_end() {
    gateway::with(&[], async |gateway| {
        let request = "GET /pieces/100- HTTP/1.1\r\nHost: a\r\n\r\n";
        let (bodies, whole) = bodies(&all(connect(&gateway, request).await).await);
        assert!(!whole);
        assert!(
            bodies[0].len() > LENGTH - 20 * PIECE,
            "what was made is sent"
        );
        let Some(curled) = curl(&gateway, "/pieces/100-", &["--http1.1"]).await else {
            return;
        };
        assert_eq!(curled.status.code(), Some(18), "a partial file");
        let curled = curl(&gateway, "/pieces/100-", &["--http2-prior-knowledge"]).await;
        assert_eq!(
            curled.unwrap().status.code(),
            Some(92),
            "an HTTP/2 stream error"
        );
    });
}

#[test]
fn over_http_2_and_to_http_10_it_is_the_same_body() {
    gateway::with(&[], async |gateway| {
        let answer = all(connect(&gateway, "GET /pieces/100 HTTP/1.0\r\n\r\n").await).await;
        assert!(!String::from_utf8_lossy(&answer).contains("chunked"));
        assert_eq!(bodies(&answer).0[0].len(), LENGTH);
        let options = ["--http2-prior-knowledge"];
        if let Some(curled) = curl(&gateway, "/pieces/100", &options).await {
            assert!(curled.status.success());
            assert_eq!(curled.stdout, bodies(&answer).0[0]);
        }
    });
}

#[test]
fn in_gzip_it_is_one_member_that_ends() {
    gateway::with(&[], async |gateway| {
        let request = "GET /pieces/100 HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\
             Connection: close\r\n\r\n";
        let (bodies, whole) = bodies(&all(connect(&gateway, request).await).await);
        assert!(whole && bodies[0].len() < LENGTH / 10);
        let mut text = Vec::new();
        let mut decoder = flate2::read::GzDecoder::new(&bodies[0][..]);
        decoder.read_to_end(&mut text).unwrap();
        assert_eq!(text.len(), LENGTH);
    });
}

#[test]
fn no_more_is_made_than_is_read() {
    gateway::with(&[], async |gateway| {
        let pieces = 100_000;
        let before = made().load(Ordering::Relaxed);
        let request =
            format!("GET /pieces/{pieces} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let tcp = connect(&gateway, &request).await;
        for _ in 0..50_000 {
            tokio::task::yield_now().await;
        }
        let ahead = made().load(Ordering::Relaxed) - before;
        assert!(ahead < pieces / 2, "{ahead} pieces for who reads none");
        let (bodies, whole) = bodies(&all(tcp).await);
        assert!(whole);
        assert_eq!(bodies[0].len(), "begin\n".len() + pieces * PIECE);
    });
}

/// Runs curl in the background of the test's thread; `None` without curl.
async fn curl(gateway: &Gateway, path: &str, options: &[&str]) -> Option<std::process::Output> {
    let url = format!("http://{}{path}", gateway.address);
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let mut command = std::process::Command::new("curl");
    command.args(options).arg("-s").arg(url);
    match tokio::task::spawn_blocking(move || command.output())
        .await
        .unwrap()
    {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: curl is not to be had: {error}");
            let ci = std::env::var_os("CI").is_some();
            assert!(!ci, "a skip is a failure in CI");
            None
        }
    }
}
