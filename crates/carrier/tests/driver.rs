//! The loop that drives a connection, with a machine that repeats lines, over TCP.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use weir_carrier::Stream;
use weir_carrier::clock::Timer;
use weir_carrier::driver::{Driven, Due, Heard, Host, Leave, Over, Serving};
use weir_carrier::outbox::Outbox;
use weir_sansio::{Instant, Output, Session};

const ANY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const UNSENT_BYTES_MAX: usize = 64 << 10;

/// Tells each line that came, and says what it is given to say.
#[derive(Default)]
struct Lines {
    came: Vec<u8>,
    out: Vec<u8>,
    is_over: bool,
}

impl Session for Lines {
    type Transmit = Bytes;
    type Event = Vec<u8>;
    type Error = Infallible;

    fn handle_input(&mut self, _: Instant, bytes: &[u8]) -> Result<(), Infallible> {
        self.came.extend_from_slice(bytes);
        Ok(())
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_output(&mut self) -> Output<Bytes, Vec<u8>> {
        if !self.out.is_empty() {
            return Output::Transmit(std::mem::take(&mut self.out).into());
        }
        match self.came.iter().position(|byte| *byte == b'\n') {
            Some(end) if !self.is_over => Output::Event(self.came.drain(..=end).collect()),
            _ => Output::Timeout(Instant::NEVER),
        }
    }
}

/// What a test has a say in, and what it sees.
#[derive(Default)]
struct Desk {
    stops: bool,
    revoked: bool,
    /// Nothing is taken: lines are kept.
    busy: bool,
    arriving_max: Option<usize>,
    heard: Vec<Vec<u8>>,
    /// The most that waited for the socket after a turn.
    waiting: usize,
    waker: Option<Waker>,
}

#[derive(Clone, Default)]
struct House(Rc<RefCell<Desk>>);

impl Host for House {
    fn poll_stop(&mut self, cx: &mut Context<'_>) -> bool {
        let mut desk = self.0.borrow_mut();
        desk.waker = Some(cx.waker().clone());
        std::mem::take(&mut desk.stops)
    }

    fn count(&mut self, held: (usize, usize), outbox: &Outbox) -> io::Result<bool> {
        let mut desk = self.0.borrow_mut();
        desk.waiting = desk.waiting.max(outbox.waiting());
        Ok(desk.arriving_max.is_none_or(|most| held.0 <= most))
    }

    fn deadline(&self, _: &Outbox) -> Instant {
        Instant::NEVER
    }

    fn delivered(&self) {}
}

/// Answers each line with itself, so often.
struct Repeats {
    machine: Lines,
    host: House,
    times: usize,
    held: Option<Vec<u8>>,
}

impl Repeats {
    fn answer(&mut self, line: Vec<u8>) -> Heard {
        let mut desk = self.host.0.borrow_mut();
        if desk.busy {
            self.held = Some(line);
            return Heard::Kept;
        }
        for _ in 0..self.times {
            self.machine.out.extend_from_slice(&line);
        }
        desk.heard.push(line);
        Heard::Done
    }
}

impl Driven for Repeats {
    type Machine = Lines;
    type Host = House;
    type End = Over;

    const UNSENT_BYTES_MAX: usize = UNSENT_BYTES_MAX;

    fn machine(&mut self) -> &mut Lines {
        &mut self.machine
    }

    fn host(&mut self) -> &mut House {
        &mut self.host
    }

    fn poll_begin(
        &mut self,
        _: &Outbox,
        _: &mut Timer,
        _: &mut Context<'_>,
    ) -> Poll<Result<(), Over>> {
        match self.machine.is_over {
            true => Poll::Ready(Err(Over::Closed)),
            false => Poll::Ready(Ok(())),
        }
    }

    fn is_revoked(&self) -> bool {
        self.host.0.borrow().revoked
    }

    fn take_leave(&mut self, why: Leave) -> Result<(), Over> {
        self.machine
            .out
            .extend_from_slice(why.to_string().as_bytes());
        self.machine.is_over = true;
        Err(Over::Closed)
    }

    fn resume(&mut self) -> Result<Heard, Over> {
        let held = self.held.take();
        Ok(held.map_or(Heard::Done, |held| self.answer(held)))
    }

    fn on_event(&mut self, line: Vec<u8>) -> Result<Heard, Over> {
        Ok(self.answer(line))
    }

    fn may_read(&self, waiting: usize) -> bool {
        self.held.is_none() && waiting < UNSENT_BYTES_MAX
    }

    fn lost(&mut self, error: io::Error) -> Over {
        Over::Lost(error)
    }

    fn broken(&mut self, error: Infallible) -> Over {
        match error {}
    }

    fn ended(&mut self, _: &mut Outbox) -> Result<(), Over> {
        Err(Over::Closed)
    }

    fn deliver(&mut self, _: &mut Outbox, _: &mut Context<'_>) -> Result<Due, Over> {
        Ok(Due::default())
    }

    fn arriving_bytes(&self) -> usize {
        self.machine.came.len()
    }
}

/// A client of what answers each line with itself so often.
async fn served(times: usize) -> (TcpStream, Serving<Repeats>, Rc<RefCell<Desk>>) {
    let listener = TcpListener::bind(ANY).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    let host = House::default();
    let desk = host.0.clone();
    let repeats = Repeats {
        machine: Lines::default(),
        host,
        times,
        held: None,
    };
    let stream = Stream::Tcp(accepted.unwrap().0);
    (client.unwrap(), Serving::new(stream, repeats), desk)
}

fn wake(desk: &Rc<RefCell<Desk>>) {
    let waker = desk.borrow().waker.clone();
    waker.unwrap().wake();
}

/// What the client reads until the end.
async fn all(mut client: TcpStream) -> String {
    let mut read = String::new();
    client.read_to_string(&mut read).await.unwrap();
    read
}

#[tokio::test]
async fn what_comes_is_heard_and_answered_in_its_order() {
    let (mut client, serving, desk) = served(1).await;
    let asks = async {
        client.write_all(b"a\nb").await.unwrap();
        tokio::task::yield_now().await;
        client.write_all(b"\n").await.unwrap();
        client.shutdown().await.unwrap();
        all(client).await
    };
    let (read, ended) = tokio::join!(asks, serving);
    ended.unwrap();
    assert_eq!(read, "a\nb\n");
    assert_eq!(desk.borrow().heard, [b"a\n", b"b\n"]);
}

#[tokio::test]
async fn a_peer_that_reads_nothing_is_read_no_further() {
    let (mut client, serving, desk) = served(100).await;
    let line = [&[b'x'; 1023][..], b"\n"].concat();
    let floods = async {
        let mut sent = 0;
        // As much as the kernel takes of what nobody reads.
        while let Ok(written) =
            tokio::time::timeout(Duration::from_millis(300), client.write(&line)).await
        {
            sent += written.unwrap();
        }
        sent
    };
    tokio::select! {
        ended = serving => panic!("{ended:?}"),
        sent = floods => {
            let desk = desk.borrow();
            assert!(desk.heard.len() * line.len() < sent, "all of {sent} bytes were read");
            // What one read brings is answered, and nothing is read then.
            let one_read = (64 << 10) * 100;
            assert!(desk.waiting <= UNSENT_BYTES_MAX + one_read, "{}", desk.waiting);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_taken_is_kept_and_nothing_overtakes_it() {
    let (mut client, serving, desk) = served(1).await;
    desk.borrow_mut().busy = true;
    let asks = async {
        client.write_all(b"a\nb\n").await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(desk.borrow().heard.is_empty());
        desk.borrow_mut().busy = false;
        wake(&desk);
        let mut read = [0; 4];
        client.read_exact(&mut read).await.unwrap();
        client.shutdown().await.unwrap();
        read
    };
    let (read, ended) = tokio::join!(asks, serving);
    ended.unwrap();
    assert_eq!(&read, b"a\nb\n");
}

/// What a client reads that is told to go while it still sends.
async fn told(why: impl FnOnce(&mut Desk)) -> String {
    let (mut client, serving, desk) = served(1).await;
    let told = async {
        client.write_all(b"a\nunfinished").await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        why(&mut desk.borrow_mut());
        wake(&desk);
        // It is on its way while the connection ends: closed at once, that would be answered with a reset.
        client.write_all(&[b'x'; 4096]).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        all(client).await
    };
    let (read, ended) = tokio::join!(told, serving);
    ended.unwrap();
    read
}

#[tokio::test]
async fn who_is_told_to_go_reads_why_though_it_still_sends() {
    let read = told(|desk| desk.stops = true).await;
    assert_eq!(read, format!("a\n{}", Leave::Stopping));
    let read = told(|desk| desk.revoked = true).await;
    assert_eq!(read, format!("a\n{}", Leave::Revoked));
    let read = told(|desk| desk.arriving_max = Some(4)).await;
    assert_eq!(read, format!("a\n{}", Leave::Short));
}

#[tokio::test]
async fn a_peer_that_takes_its_time_has_all_that_was_left_to_say() {
    let (mut client, serving, desk) = served(8000).await;
    let line = [&[b'x'; 1023][..], b"\n"].concat();
    let slow = async {
        client.write_all(&line).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        desk.borrow_mut().stops = true;
        wake(&desk);
        // Longer than a peer has that was sent everything.
        tokio::time::sleep(Duration::from_millis(2300)).await;
        all(client).await.len()
    };
    let (read, ended) = tokio::join!(slow, serving);
    ended.unwrap();
    assert_eq!(read, 8000 * 1024 + Leave::Stopping.to_string().len());
}
