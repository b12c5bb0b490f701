//! A link of the modem: a connection of the kernel, or a socket of datagrams.

use super::command::Kind;
use crate::client::{listen, tell};
use crate::limits::PIECES;
use crate::outward::converse;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Notify;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Both ways of a link; it closes with this value.
pub(super) struct Link {
    said: Sender<Vec<u8>>,
    heard: Receiver<Vec<u8>>,
}

impl Link {
    /// A link to a server; `news` is woken where something happens.
    pub(super) async fn open(
        kind: Kind,
        server: SocketAddr,
        news: &Arc<Notify>,
    ) -> io::Result<Self> {
        let (said, says) = channel(PIECES);
        let (hears, heard) = channel(PIECES);
        match kind {
            Kind::Stream => {
                let stream = TcpStream::connect(server).await?;
                stream.set_nodelay(true)?;
                let (read, write) = stream.into_split();
                tokio::spawn(listen(read, hears, news.clone()));
                tokio::spawn(tell(write, says, news.clone()));
            }
            Kind::Datagrams => {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
                socket.connect(server).await?;
                let news = news.clone();
                let task = async move { converse(&socket, says, |it| it, &hears, &news).await };
                tokio::spawn(task);
            }
        }
        Ok(Self { said, heard })
    }

    /// Sends something; it comes back where there is no room yet. What nobody listens to is lost.
    pub(super) fn give(&self, data: Vec<u8>) -> Result<(), Vec<u8>> {
        match self.said.try_send(data) {
            Ok(()) | Err(TrySendError::Closed(_)) => Ok(()),
            Err(TrySendError::Full(data)) => Err(data),
        }
    }

    /// What has come next.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        self.heard.try_recv().ok()
    }

    /// Whether nothing comes any more.
    pub(super) fn is_over(&self) -> bool {
        self.heard.is_closed() && self.heard.is_empty()
    }
}
