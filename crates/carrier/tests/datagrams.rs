//! Datagrams in batches, on real sockets.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use weir_carrier::limits::TURN_DATAGRAMS;
use weir_carrier::{Arrived, Batch, Datagrams, Leaving};

const ANY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn run<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

fn bound(address: IpAddr) -> Datagrams {
    let socket = Datagrams::bind(SocketAddr::new(address, 0), false).unwrap();
    Datagrams::new(socket).unwrap()
}

fn leaving(payload: Vec<u8>, to: SocketAddr, from: Option<IpAddr>) -> Leaving {
    let bytes = Bytes::from(payload);
    Leaving { bytes, to, from }
}

async fn send(socket: &Datagrams, datagrams: impl IntoIterator<Item = Leaving>) {
    let mut queue: VecDeque<Leaving> = datagrams.into_iter().collect();
    send_turn(socket, &mut queue).await;
    assert!(queue.is_empty());
}

async fn send_turn(socket: &Datagrams, queue: &mut VecDeque<Leaving>) {
    poll_fn(|cx| socket.poll_send_batch(cx, queue))
        .await
        .unwrap();
}

async fn receive(socket: &Datagrams, count: usize) -> Vec<(Arrived, Vec<u8>)> {
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while all.len() < count {
        poll_fn(|cx| socket.poll_receive_batch(cx, &mut batch))
            .await
            .unwrap();
        assert!(!batch.is_empty());
        let whole = |index| {
            batch
                .get(index)
                .map(|(arrived, bytes)| (arrived, bytes.to_vec()))
        };
        all.extend((0..batch.len()).filter_map(whole));
    }
    all
}

#[test]
fn what_is_due_leaves_and_what_has_arrived_is_taken_in_order() {
    run(async {
        let (one, other) = (bound(HERE), bound(HERE));
        let to = other.local_addr().unwrap();
        let all = (0..100).map(|byte| leaving(vec![byte; usize::from(byte)], to, None));
        send(&one, all).await;
        let came = receive(&other, 100).await;
        for (byte, (arrived, bytes)) in (0..).zip(&came) {
            assert_eq!(bytes, &vec![byte; usize::from(byte)]);
            assert_eq!(arrived.peer, one.local_addr().unwrap());
            assert_eq!((arrived.length, arrived.to), (usize::from(byte), None));
        }
        assert_eq!(came.len(), 100);
    });
}

#[test]
fn between_turns_of_a_long_queue_there_is_time_to_read() {
    run(async {
        let (one, other) = (bound(HERE), bound(HERE));
        let to = other.local_addr().unwrap();
        let all = TURN_DATAGRAMS + 10;
        let mut queue: VecDeque<Leaving> = (0..all).map(|_| leaving(vec![1], to, None)).collect();
        send_turn(&one, &mut queue).await;
        assert_eq!(queue.len(), 10);
        assert_eq!(receive(&other, TURN_DATAGRAMS).await.len(), TURN_DATAGRAMS);
        send_turn(&one, &mut queue).await;
        assert!(queue.is_empty());
        assert_eq!(receive(&other, 10).await.len(), 10);
    });
}

#[test]
fn a_socket_at_all_addresses_answers_from_the_one_meant() {
    run(async {
        let (all, one) = (bound(ANY), bound(HERE));
        all.tell_destinations().unwrap();
        let port = all.local_addr().unwrap().port();
        let meant = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 5));
        for _ in 0..2 {
            let to = SocketAddr::new(meant, port);
            send(&one, [leaving(vec![1], to, None)]).await;
            let asked = receive(&all, 1).await[0].0;
            assert_eq!(asked.to, Some(meant));
            send(&all, [leaving(vec![2], asked.peer, asked.to)]).await;
            let (answer, _) = receive(&one, 1).await[0];
            assert_eq!(answer.peer, to);
        }
    });
}

#[test]
fn what_one_peer_cannot_be_sent_keeps_nothing_from_others() {
    run(async {
        let (one, other) = (bound(HERE), bound(HERE));
        let to = other.local_addr().unwrap();
        let large = || leaving(vec![0; 70_000], to, None);
        let all = [large(), leaving(vec![1], to, None), large(), large()];
        send(&one, all).await;
        send(&one, [leaving(vec![2], to, None)]).await;
        let came: Vec<_> = receive(&other, 2)
            .await
            .into_iter()
            .map(|(_, bytes)| bytes)
            .collect();
        assert_eq!(came, [vec![1], vec![2]]);
    });
}

#[test]
fn a_peer_that_does_not_listen_is_an_error_of_who_has_no_other() {
    run(async {
        let gone = bound(HERE).local_addr().unwrap();
        let socket = Datagrams::connected(gone).unwrap();
        for _ in 0..2 {
            let sent = poll_fn(|cx| socket.poll_send(cx, b"hello", gone)).await;
            sent.unwrap();
            let mut buffer = [0; 16];
            let refused = poll_fn(|cx| socket.poll_receive(cx, &mut buffer)).await;
            let kind = refused.unwrap_err().kind();
            assert_eq!(kind, std::io::ErrorKind::ConnectionRefused);
        }
    });
}
