//! What a publisher does when the other side misbehaves, over real sockets.

#![allow(clippy::unwrap_used)]
use super::*;
use tokio::net::TcpListener;

#[test]
fn a_topic_is_escaped_but_keeps_its_levels() {
    assert_eq!(escape("a b/c#/ü"), "a%20b/c%23/%C3%BC");
}

#[test]
fn a_url_without_a_port_means_80_or_443() {
    let authority = |url| {
        let gateway = Gateway::parse(url, None, None);
        gateway.map(|it| it.authority).ok()
    };
    assert_eq!(authority("http://localhost"), Some("localhost:80".into()));
    assert_eq!(
        authority("http://[::1]:8080/weir/"),
        Some("[::1]:8080".into())
    );
    assert_eq!(authority("https://localhost"), Some("localhost:443".into()));
    assert_eq!(authority("ftp://localhost"), None);
    assert_eq!(authority("http://a@b"), None);
}

/// Takes one connection for each answer, reads one request from it, gives the answer and closes.
async fn answer_each(listener: TcpListener, answers: &[&str]) -> Vec<String> {
    let mut requests = Vec::new();
    for answer in answers {
        let (socket, _) = listener.accept().await.unwrap();
        let mut connection = BufReader::new(socket);
        let mut request = String::new();
        while !request.ends_with("\r\n\r\n") {
            connection.read_line(&mut request).await.unwrap();
        }
        let length = header(&request, "Content-Length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.unwrap();
        connection
            .get_mut()
            .write_all(answer.as_bytes())
            .await
            .unwrap();
        requests.push(request + &String::from_utf8(body).unwrap());
    }
    requests
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    request
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

fn message() -> Message {
    Message {
        topic: "a/b".into(),
        observations: Vec::new(),
    }
}

/// Publishes one message to a listener that gives these answers, one a connection.
fn exchange(answers: &[&str]) -> (Vec<String>, Result<(), DemoFault>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let mut publisher = Publisher::new(Gateway::parse(&url, None, None).unwrap(), 1);
        let message = message();
        tokio::join!(answer_each(listener, answers), publisher.publish(&message))
    })
}

#[test]
fn a_lost_acknowledgement_is_asked_for_again_under_the_same_key() {
    let late =
        "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let (requests, result) = exchange(&["", late, "HTTP/1.1 204 No Content\r\n\r\n"]);
    assert!(result.is_ok());
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| *request == requests[0]));
    assert!(header(&requests[0], "Idempotency-Key").is_some_and(|key| key.ends_with("-1")));
    assert!(requests[0].starts_with("POST /live/a/b HTTP/1.1\r\n"));
}

#[test]
fn a_refusal_is_said_in_the_words_of_the_gateway() {
    let refusal = "HTTP/1.1 400 Bad Request\r\nContent-Length: 12\r\n\r\nbyte 7: no }\n";
    let (_, result) = exchange(&[&refusal[..refusal.len() - 1]]);
    let said = result.unwrap_err().to_string();
    assert_eq!(said, "the gateway refused /live/a/b with 400: byte 7: no }");
}

#[test]
fn an_entry_without_a_value_was_never_observed() {
    assert!(has_value(r#"{"topic":"a","value":1.5}"#));
    assert!(!has_value(r#"{"topic":"a","unit":"Cel"}"#));
    assert!(!has_value(r#"{"datastreams":[]}"#));
}
