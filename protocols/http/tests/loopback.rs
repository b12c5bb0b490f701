//! The server over real sockets.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

mod gateway;
mod held;
mod pieces;

use gateway::Gateway;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use weir_carrier::websocket::{Message, Opcode, Reader, Role, write_masked};

async fn connect(gateway: &Gateway, request: &str) -> TcpStream {
    let mut tcp = TcpStream::connect(gateway.address).await.unwrap();
    tcp.write_all(request.as_bytes()).await.unwrap();
    tcp
}

/// Reads until the text has come.
async fn until(tcp: &mut TcpStream, wanted: &str) -> String {
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains(wanted) {
        let mut piece = [0; 4096];
        let length = tcp.read(&mut piece).await.unwrap();
        assert_ne!(
            length,
            0,
            "ended after {:?}",
            String::from_utf8_lossy(&text)
        );
        text.extend_from_slice(&piece[..length]);
    }
    String::from_utf8_lossy(&text).into_owned()
}

async fn all(mut tcp: TcpStream) -> String {
    let mut text = Vec::new();
    tcp.read_to_end(&mut text).await.unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    gateway::with(&[], async |gateway| {
        let requests = "POST /later HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n1\
             POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n2\r\n0\r\n\r\n\
             GET /never HTTP/1.1\r\nHost: a\r\n\r\n\
             HEAD /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let text = all(connect(&gateway, requests).await).await;
        let head = |media: &str, length: usize| {
            format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\nx-content-type-options: nosniff\r\n\
                 content-length: {length}\r\n"
            )
        };
        let bytes = "application/octet-stream";
        let expected = [
            &head("text/plain", 1),
            "\r\n1",
            &head(bytes, 1),
            "\r\n2HTTP/1.1 204 No Content\r\n\r\n",
            &head(bytes, 0),
            "connection: close\r\n\r\n",
        ];
        let dated = "date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
        assert_eq!(text.matches(dated).count(), 4, "each answer is dated");
        assert_eq!(text.replace(dated, ""), expected.concat());
    });
}

#[test]
fn who_reads_no_answers_is_not_asked_for_more_than_a_few() {
    gateway::with(&[], async |gateway| {
        let many = 1900;
        for path in ["/large", "/later"] {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(16 << 10).unwrap();
            let mut tcp = socket.connect(gateway.address).await.unwrap();
            let before = gateway.calls.load(Ordering::Relaxed);
            let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
            tcp.write_all(request.repeat(many).as_bytes())
                .await
                .unwrap();
            // All that one read of the socket brought was answered before the first answer went out.
            tcp.read_exact(&mut [0]).await.unwrap();
            let asked = gateway.calls.load(Ordering::Relaxed) - before;
            assert!(asked < many / 2, "{asked} of {many} at {path}");
            let mut answers = 1;
            let mut piece = vec![0; 1 << 20];
            let last = "GET /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
            tcp.write_all(last.as_bytes()).await.unwrap();
            let mut kept = Vec::new();
            loop {
                let length = tcp.read(&mut piece).await.unwrap();
                if length == 0 {
                    break;
                }
                kept.extend_from_slice(&piece[..length]);
                answers += kept.windows(9).filter(|it| it == b"HTTP/1.1 ").count();
                kept.drain(..kept.len().saturating_sub(8));
            }
            assert_eq!(answers, many + 1, "{path}");
        }
    });
}

#[test]
fn a_refused_request_is_answered_although_its_body_still_comes() {
    gateway::with(&[("max_body_bytes", "10")], async |gateway| {
        let head = "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n";
        let mut tcp = connect(&gateway, head).await;
        let (mut read, mut write) = tcp.split();
        let sent = async {
            let _refused_meanwhile = write.write_all(&vec![0; 1_000_000]).await;
            write.shutdown().await.ok();
        };
        let mut text = Vec::new();
        let (_, received) = tokio::join!(sent, read.read_to_end(&mut text));
        received.unwrap();
        let text = String::from_utf8_lossy(&text);
        assert!(
            text.starts_with("HTTP/1.1 413 Content Too Large\r\n"),
            "{text}"
        );
        assert!(
            text.ends_with("the body is larger than 10 bytes\n"),
            "{text}"
        );
    });
}

#[test]
fn a_stream_is_chunked_and_ends_with_its_farewell() {
    gateway::with(&[], async |gateway| {
        let mut tcp = connect(&gateway, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
        let head = until(&mut tcp, "6\r\nbegin\n\r\n").await;
        assert!(head.contains("transfer-encoding: chunked\r\n"), "{head}");
        gateway.publish("kitchen/temp", "21.5");
        let message = until(&mut tcp, "\n\r\n").await;
        assert!(message.contains("21.5"), "{message}");
        gateway.drain.send(true).unwrap();
        assert_eq!(all(tcp).await, "9\r\nfarewell\n\r\n0\r\n\r\n");
    });
}

#[test]
fn a_stream_to_http_10_ends_with_the_connection() {
    gateway::with(&[], async |gateway| {
        let mut tcp = connect(&gateway, "GET /stream HTTP/1.0\r\n\r\n").await;
        let head = until(&mut tcp, "\r\n\r\nbegin\n").await;
        assert!(!head.contains("chunked"), "{head}");
        gateway.drain.send(true).unwrap();
        assert_eq!(all(tcp).await, "farewell\n");
    });
}

/// What a gzip member that has not ended yet holds so far, behind the head of an answer.
fn gunzipped(answer: &[u8]) -> String {
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let deflated = head
        .and_then(|at| answer.get(at + 4 + 10..))
        .unwrap_or_default();
    let mut text = vec![0; 10_000];
    let mut inflate = flate2::Decompress::new(false);
    let flush = flate2::FlushDecompress::Sync;
    inflate.decompress(deflated, &mut text, flush).unwrap();
    text.truncate(inflate.total_out() as usize);
    String::from_utf8(text).unwrap()
}

#[test]
fn a_stream_in_gzip_is_readable_after_each_message() {
    gateway::with(&[], async |gateway| {
        let request = "GET /stream HTTP/1.0\r\nAccept-Encoding: br, gzip\r\n\r\n";
        let mut tcp = connect(&gateway, request).await;
        let topic = format!("kitchen/{}", "a".repeat(300));
        let mut answer = Vec::new();
        for wanted in ["begin\n", "1.5", "2.5", "3.5"] {
            if wanted != "begin\n" {
                gateway.publish(&topic, wanted);
            }
            while !gunzipped(&answer).contains(wanted) {
                let mut piece = [0; 4096];
                let length = tcp.read(&mut piece).await.unwrap();
                assert_ne!(length, 0);
                answer.extend_from_slice(&piece[..length]);
            }
        }
    });
}

#[test]
fn a_large_answer_is_compressed_for_who_accepts_it() {
    gateway::with(&[], async |gateway| {
        let request =
            "GET /large HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
        let packed = all(connect(&gateway, request).await).await;
        assert!(packed.contains("content-encoding: gzip\r\n"), "{packed}");
        assert!(packed.len() < 1000);
        let request = "GET /large?compress=0 HTTP/1.1\r\nHost: a\r\n\
             Accept-Encoding: gzip\r\nConnection: close\r\n\r\n";
        assert!(all(connect(&gateway, request).await).await.len() > 12_000);
    });
}

#[test]
fn every_format_is_compressed_unless_it_is_so_already() {
    gateway::with(&[("cors", "https://b.example")], async |gateway| {
        for format in weir_codec::FORMATS {
            let ask = async |coding: &str| {
                let request = format!(
                    "GET /in/{} HTTP/1.1\r\nHost: a\r\nOrigin: https://b.example\r\n\
                     Accept-Encoding: {coding}\r\nConnection: close\r\n\r\n",
                    format.name
                );
                all(connect(&gateway, &request).await).await
            };
            let packed = ask("gzip").await;
            let (head, _) = packed.split_once("\r\n\r\n").unwrap();
            let dense = ["exi-c", "exi-sc", "exi-om-c", "block"].contains(&format.name);
            let coded = head.contains("content-encoding: gzip");
            // What is dense by itself may win a little or nothing.
            assert!(coded || dense, "{}: {head}", format.name);
            let varies: Vec<_> = head
                .lines()
                .filter(|line| line.starts_with("vary: "))
                .collect();
            let by = if coded {
                "accept, origin, accept-encoding"
            } else {
                "accept, origin"
            };
            assert_eq!(varies, [format!("vary: {by}")], "{}", format.name);
            assert!(
                !ask("identity").await.contains("content-encoding"),
                "{}",
                format.name
            );
        }
    });
}

#[test]
fn a_page_of_another_origin_may_read_without_credentials() {
    gateway::with(&[("cors", "*")], async |gateway| {
        let request = "OPTIONS /echo HTTP/1.1\r\nHost: a\r\nOrigin: https://b.example\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\n\r\n";
        let text = all(connect(&gateway, request).await).await;
        assert!(text.starts_with("HTTP/1.1 204 "), "{text}");
        assert!(
            text.contains("access-control-allow-origin: *\r\n"),
            "{text}"
        );
        assert!(
            text.contains("access-control-allow-methods: GET, "),
            "{text}"
        );
        assert!(!text.contains("credentials"), "{text}");
    });
}

#[test]
fn a_wrong_credential_is_challenged() {
    gateway::with(&[], async |gateway| {
        let request =
            "GET /echo?access_token=wrong HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let text = all(connect(&gateway, request).await).await;
        assert!(text.starts_with("HTTP/1.1 401 Unauthorized\r\n"), "{text}");
        assert!(
            text.contains("www-authenticate: Basic realm=\"weir\", Bearer\r\n"),
            "{text}"
        );
    });
}

/// Lets the gateway's tasks go on until so many credentials wait to be checked, then checks them.
async fn check(gateway: &Gateway, mut waiting: usize) {
    while waiting > 0 {
        tokio::task::yield_now().await;
        waiting -= gateway.drawer.work_off();
    }
}

#[test]
fn a_credential_that_takes_long_to_check_holds_up_nobody_else() {
    gateway::with(&[], async |gateway| {
        let post = |path: &str, credential: &str, body: &str| {
            format!(
                "POST {path} HTTP/1.1\r\nHost: a\r\n{credential}Content-Length: 1\r\n\r\n{body}"
            )
        };
        let slow = "Authorization: Basic slow\r\n";
        let pipelined =
            post("/echo", slow, "1") + &post("/echo", "", "2") + &post("/later", slow, "3");
        let mut checked = connect(&gateway, &pipelined).await;
        let mut other = connect(&gateway, &post("/echo", "", "4")).await;
        assert!(
            until(&mut other, "\r\n\r\n4")
                .await
                .starts_with("HTTP/1.1 200 ")
        );
        check(&gateway, 2).await;
        let answers = until(&mut checked, "\r\n\r\n3").await;
        let places = ["1", "2", "3"].map(|body| answers.find(&format!("\r\n\r\n{body}")));
        assert!(places.is_sorted() && places[0].is_some(), "{answers}");
    });
}

#[test]
fn a_slow_credential_opens_streams_and_websockets_too() {
    gateway::with(&[], async |gateway| {
        let slow = "Authorization: Basic slow\r\n\r\n";
        let stream = format!("GET /stream HTTP/1.1\r\nHost: a\r\n{slow}");
        let mut stream = connect(&gateway, &stream).await;
        let mut socket = connect(&gateway, &format!("{HANDSHAKE}{slow}")).await;
        check(&gateway, 2).await;
        until(&mut stream, "begin").await;
        until(&mut socket, "101 Switching Protocols").await;
    });
}

#[test]
fn credentials_that_would_wait_too_long_are_refused_for_now() {
    gateway::with(&[], async |gateway| {
        let request = "GET /echo HTTP/1.1\r\nHost: a\r\nAuthorization: Basic slow\r\n\r\n";
        let waiting = [
            connect(&gateway, request).await,
            connect(&gateway, request).await,
        ];
        while gateway.drawer.waiting() < waiting.len() {
            tokio::task::yield_now().await;
        }
        let mut last = connect(&gateway, request).await;
        let refused = until(&mut last, "try again").await;
        assert!(refused.starts_with("HTTP/1.1 503 "), "{refused}");
        assert!(refused.contains("retry-after: 1\r\n"), "{refused}");
        check(&gateway, 2).await;
    });
}

#[test]
fn a_reader_that_leaves_is_noticed() {
    gateway::with(&[], async |mut gateway| {
        let mut tcp = connect(&gateway, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n").await;
        until(&mut tcp, "begin").await;
        drop(tcp);
        assert!(gateway.ended.recv().await.unwrap().is_ok());
    });
}

const HANDSHAKE: &str = "GET /socket HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\n\
     Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: weir.json\r\n";

async fn messages(tcp: &mut TcpStream, reader: &mut Reader, count: usize) -> Vec<Message> {
    let mut messages = Vec::new();
    while messages.len() < count {
        let mut piece = [0; 4096];
        let length = tcp.read(&mut piece).await.unwrap();
        assert_ne!(length, 0);
        reader.read(&piece[..length], &mut messages).unwrap();
    }
    messages
}

#[test]
fn a_websocket_delivers_answers_and_closes() {
    gateway::with(&[], async |gateway| {
        let mut tcp = connect(&gateway, &format!("{HANDSHAKE}\r\n")).await;
        let head = until(&mut tcp, "\r\n\r\n").await;
        assert!(
            head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"),
            "{head}"
        );
        assert!(head.contains("sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(head.contains("sec-websocket-protocol: weir.json\r\n"));
        let mut reader = Reader::new(Role::Client, false, 1 << 20);
        gateway.publish("kitchen/temp", "21.5");
        let delivered = messages(&mut tcp, &mut reader, 1).await;
        let Message::Text(text) = &delivered[0] else {
            panic!("{delivered:?}");
        };
        assert!(String::from_utf8_lossy(text).contains("21.5"));
        let mut frames = Vec::new();
        for (opcode, payload) in [
            (Opcode::TEXT, "one"),
            (Opcode::TEXT, "two"),
            (Opcode::PING, "!"),
        ] {
            write_masked(opcode, payload.as_bytes(), [1, 2, 3, 4], &mut frames);
        }
        tcp.write_all(&frames).await.unwrap();
        let answers = messages(&mut tcp, &mut reader, 3).await;
        assert!(answers.contains(&Message::Pong("!".into())));
        let texts: Vec<_> = answers
            .iter()
            .filter(|answer| matches!(answer, Message::Text(_)))
            .collect();
        assert_eq!(
            texts,
            [&Message::Text("one".into()), &Message::Text("two".into())]
        );
        gateway.drain.send(true).unwrap();
        let last = messages(&mut tcp, &mut reader, 1).await;
        assert!(matches!(&last[0], Message::Close(Some(close)) if close.code.0 == 1001));
    });
}

#[test]
fn a_websocket_is_deflated_where_that_is_agreed_and_worth_it() {
    gateway::with(&[], async |gateway| {
        let extensions =
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n";
        let mut tcp = connect(&gateway, &format!("{HANDSHAKE}{extensions}")).await;
        let head = until(&mut tcp, "\r\n\r\n").await;
        assert!(
            head.contains("permessage-deflate; server_no_context_takeover"),
            "{head}"
        );
        let topic = format!("kitchen/{}", "a".repeat(400));
        gateway.publish(&topic, "21.5");
        let mut piece = [0; 4096];
        let length = tcp.read(&mut piece).await.unwrap();
        assert_eq!(piece[0], 0xc1, "text with RSV1");
        assert!(length < 300);
        let mut messages = Vec::new();
        let mut reader = Reader::new(Role::Client, true, 1 << 20);
        reader.read(&piece[..length], &mut messages).unwrap();
        assert!(matches!(&messages[0], Message::Text(text) if text.len() > 400));
    });
}

#[test]
fn an_unmasked_frame_closes_the_websocket_with_1002() {
    gateway::with(&[], async |gateway| {
        let mut tcp = connect(&gateway, &format!("{HANDSHAKE}\r\n")).await;
        until(&mut tcp, "\r\n\r\n").await;
        tcp.write_all(&[0x81, 1, b'a']).await.unwrap();
        let mut reader = Reader::new(Role::Client, false, 1 << 20);
        let last = messages(&mut tcp, &mut reader, 1).await;
        assert!(matches!(&last[0], Message::Close(Some(close)) if close.code.0 == 1002));
    });
}

/// Runs curl in the background of the test's thread; `None` without curl.
async fn curl(gateway: &Gateway, path: &str, options: &[&str]) -> Option<String> {
    let url = format!("http://{}{path}", gateway.address);
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let run = move || {
        std::process::Command::new("curl")
            .args(options)
            .arg("-s")
            .arg(url)
            .output()
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("SKIPPED: curl is not to be had: {error}");
            assert!(
                std::env::var_os("CI").is_none(),
                "a skip is a failure in CI"
            );
            None
        }
    }
}

#[test]
fn a_body_of_http_2_is_counted_while_it_comes() {
    gateway::with(&[], async |gateway| {
        gateway.hub.limit_memory(1 << 20);
        let body = concat!("@", env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let long = "x".repeat(3 << 19);
        let file = std::env::temp_dir().join(format!("weir-http2-{}", std::process::id()));
        std::fs::write(&file, long).unwrap();
        let long = format!("@{}", file.display());
        for (body, status) in [
            (body, "HTTP/2 200 "),
            (long.as_str(), "HTTP/2 503 "),
            (body, "HTTP/2 200 "),
        ] {
            let options = ["--http2-prior-knowledge", "-i", "--data-binary", body];
            let Some(text) = curl(&gateway, "/echo", &options).await else {
                break;
            };
            assert!(text.starts_with(status), "{text}");
        }
        assert_eq!(gateway.hub.memory().held(), 0);
        std::fs::remove_file(&file).unwrap();
    });
}

#[test]
fn http_2_with_prior_knowledge_answers_calls_and_streams() {
    gateway::with(&[], async |gateway| {
        let options = ["--http2-prior-knowledge", "-i", "--data-binary", "21.5"];
        let Some(text) = curl(&gateway, "/later", &options).await else {
            return;
        };
        assert!(text.starts_with("HTTP/2 200 "), "{text}");
        assert!(text.ends_with("\r\n\r\n21.5"), "{text}");
        let (text, ()) = tokio::join!(
            curl(&gateway, "/stream", &["--http2-prior-knowledge", "-iN"]),
            async {
                while gateway.hub.gauges().1 == 0 {
                    tokio::task::yield_now().await;
                }
                gateway.publish("kitchen/temp", "21.5");
                tokio::task::yield_now().await;
                gateway.drain.send(true).unwrap();
            }
        );
        let text = text.unwrap();
        assert!(text.contains("\r\n\r\nbegin\n"), "{text}");
        assert!(text.ends_with("farewell\n"), "{text}");
    });
}
