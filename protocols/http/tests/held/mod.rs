//! What connections hold: it is counted, and who takes nothing or sends no end is given up.

use crate::gateway::{self, Gateway};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn connected(gateway: &Gateway, sent: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(gateway.address).await.unwrap();
    stream.write_all(sent).await.unwrap();
    stream
}

/// Until something is so; who waits for it gives others their turn.
async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

#[test]
fn an_answer_counts_until_it_is_taken_or_given_up() {
    gateway::with(&[], async |mut gateway| {
        let hub = gateway.hub.clone();
        let asked = connected(&gateway, b"GET /huge HTTP/1.1\r\nhost: a\r\n\r\n").await;
        until(|| hub.answers().held() > 1_000_000).await;
        let ended = gateway.ended.recv().await.unwrap().unwrap_err();
        assert_eq!(ended.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!((hub.memory().held(), hub.counts().stalled), (0, 1));
        drop(asked);
        // Who takes it gets all of it.
        let request = b"GET /huge HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
        let mut reader = connected(&gateway, request).await;
        let mut answer = Vec::new();
        reader.read_to_end(&mut answer).await.unwrap();
        assert!(answer.ends_with(b"observation \n") && answer.len() > 12_000_000);
        until(|| hub.memory().held() == 0).await;
    });
}

/// Length, type, flags, stream, payload (RFC 9113 section 4.1).
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend_from_slice(payload);
    out
}

/// The next frame of this type.
async fn next(stream: &mut TcpStream, kind: u8) -> (u32, Vec<u8>) {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload).await.unwrap();
        if head[3] == kind {
            let stream = u32::from_be_bytes(head[5..].try_into().unwrap());
            return (stream, payload);
        }
    }
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;

#[test]
fn a_stream_of_http_2_whose_window_stays_shut_is_reset() {
    gateway::with(&[], async |gateway| {
        let hub = gateway.hub.clone();
        let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // INITIAL_WINDOW_SIZE is 0 (RFC 9113 section 6.5.2).
        sent.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
        // GET, http, `a`, and the path as literals (RFC 7541 section 6).
        let asked = |path: &[u8]| {
            let mut block = vec![0x82, 0x86, 0x41, 1, b'a', 0x04, path.len() as u8];
            block.extend_from_slice(path);
            block
        };
        sent.extend(frame(HEADERS, 5, 1, &asked(b"/huge")));
        let mut stream = connected(&gateway, &sent).await;
        let (of, _) = next(&mut stream, HEADERS).await;
        assert_eq!(of, 1);
        assert!(hub.answers().held() > 12_000_000);
        let (of, _) = next(&mut stream, RST_STREAM).await;
        assert_eq!((of, hub.counts().stalled), (1, 1));
        until(|| hub.answers().held() == 0).await;
        // The connection goes on.
        let ping = frame(PING, 0, 0, b"are you?");
        stream.write_all(&ping).await.unwrap();
        assert_eq!(next(&mut stream, PING).await.1, b"are you?");
        let again = frame(HEADERS, 5, 3, &asked(b"/never"));
        stream.write_all(&again).await.unwrap();
        assert_eq!(next(&mut stream, HEADERS).await.0, 3);
    });
}

#[test]
fn unfinished_heads_and_bodies_are_refused_beyond_their_part() {
    gateway::with(&[], async |gateway| {
        let hub = gateway.hub.clone();
        hub.limit_memory(3 << 20);
        let head = format!("GET / HTTP/1.1\r\nhost: a\r\nx: {}", "x".repeat(14_000));
        let length = "POST /echo HTTP/1.1\r\nhost: a\r\ncontent-length: 9000000\r\n\r\n";
        let body = format!("{length}{}", "x".repeat(200_000));
        let mut open = Vec::new();
        for _ in 0..10 {
            open.push(connected(&gateway, head.as_bytes()).await);
            open.push(connected(&gateway, body.as_bytes()).await);
        }
        until(|| hub.arrivals().refused() > 0).await;
        assert!(hub.arrivals().held() <= hub.arrivals().most());
        // A message that is whole at once is taken, however many are not.
        let whole =
            b"POST /echo HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\n21.5";
        let mut taken = connected(&gateway, whole).await;
        let mut answer = Vec::new();
        taken.read_to_end(&mut answer).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200") && answer.ends_with(b"21.5"));
        drop(open);
        until(|| hub.memory().held() == 0).await;
    });
}
