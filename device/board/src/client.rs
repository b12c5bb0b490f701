//! Who connected to this machine and is meant to reach the board.

use crate::host::Host;
use crate::limits::{PIECES, RECEIVE_BYTES};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::tcp::{Socket, State};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::sync::mpsc::error::{TryRecvError, TrySendError};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// A client and its connection to the board.
pub(crate) struct Client {
    socket: SocketHandle,
    /// What it says; closed where it says no more.
    said: Receiver<Vec<u8>>,
    /// What it is told; none where the board says no more.
    told: Option<Sender<Vec<u8>>>,
    /// What it said and the board's connection had no room for.
    rest: Vec<u8>,
    has_ended: bool,
}

impl Client {
    /// Takes up a stream of the kernel; `news` is woken where something happens to it.
    pub(crate) fn new(stream: TcpStream, socket: SocketHandle, news: &Arc<Notify>) -> Self {
        // What is late by an algorithm of ours must not be late by one more.
        let _set = stream.set_nodelay(true);
        let (read, write) = stream.into_split();
        let (say, said) = channel(1);
        let (told, hear) = channel(PIECES);
        tokio::spawn(listen(read, say, news.clone()));
        tokio::spawn(tell(write, hear, news.clone()));
        Self {
            socket,
            said,
            told: Some(told),
            rest: Vec::new(),
            has_ended: false,
        }
    }

    /// Carries what there is, both ways. False where both ends are done with each other.
    pub(crate) fn carry(&mut self, host: &mut Host) -> bool {
        let socket = host.socket(self.socket);
        self.carry_in(socket);
        self.carry_out(socket);
        let is_over = matches!(socket.state(), State::Closed | State::TimeWait);
        if is_over && self.told.is_none() {
            host.remove(self.socket);
            return false;
        }
        true
    }

    fn carry_in(&mut self, socket: &mut Socket<'_>) {
        if self.rest.is_empty() && !self.has_ended {
            match self.said.try_recv() {
                Ok(bytes) => self.rest = bytes,
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => self.has_ended = true,
            }
        }
        if !self.rest.is_empty() && socket.can_send() {
            // It says that it can.
            let sent = socket.send_slice(&self.rest).unwrap_or(0);
            self.rest.drain(..sent);
        }
        if self.has_ended && self.rest.is_empty() && socket.may_send() {
            socket.close();
        }
    }

    fn carry_out(&mut self, socket: &mut Socket<'_>) {
        let Some(told) = &self.told else {
            return;
        };
        while socket.can_recv() {
            match told.try_reserve() {
                // It says that it can.
                Ok(place) => place.send(socket.recv(take_all).unwrap_or_default()),
                Err(TrySendError::Full(())) => return,
                Err(TrySendError::Closed(())) => break,
            }
        }
        if told.is_closed() {
            // It is gone, and whatever comes is for nobody.
            socket.abort();
        }
        let is_opening = matches!(socket.state(), State::SynSent | State::SynReceived);
        if !is_opening && !socket.may_recv() {
            self.told = None;
        }
    }
}

fn take_all(bytes: &mut [u8]) -> (usize, Vec<u8>) {
    (bytes.len(), bytes.to_vec())
}

/// Says what comes by a connection, until it ends.
pub(crate) async fn listen(mut read: OwnedReadHalf, say: Sender<Vec<u8>>, news: Arc<Notify>) {
    let mut buffer = vec![0; RECEIVE_BYTES];
    while let Ok(length @ 1..) = read.read(&mut buffer).await {
        let bytes = buffer.get(..length).unwrap_or_default().to_vec();
        if say.send(bytes).await.is_err() {
            break;
        }
        news.notify_one();
    }
    drop(say);
    news.notify_one();
}

/// Writes to a connection what it is given, until there is no more.
pub(crate) async fn tell(
    mut write: OwnedWriteHalf,
    mut hear: Receiver<Vec<u8>>,
    news: Arc<Notify>,
) {
    while let Some(bytes) = hear.recv().await {
        if write.write_all(&bytes).await.is_err() {
            break;
        }
        news.notify_one();
    }
    drop(hear);
    news.notify_one();
}
