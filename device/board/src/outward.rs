//! The way from the board to servers of this machine: its connections and datagrams become those of the kernel.
//!
//! What the board takes for this side's address is one address of servers, port by port; no other is reached. A
//! connection of the board is answered once the server has taken it, so that one that is refused is refused to the
//! board. What it deliberately does not do: keep a flow of datagrams that was silent when another needs its place.

use crate::datagram::{Datagram, opening};
use crate::limits::{DATAGRAM_BYTES_MAX, FLOWS_MAX, WAITING_MAX};
use crate::line::Line;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::{TcpStream, UdpSocket};
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

/// Where a board that is a client is told what to do, and whom it tells what it found.
const ORDER_PORT: u16 = 4_003;
pub(crate) const ORDERER_PORT: u16 = 4_002;

/// A connection that the board wants.
pub(crate) struct Wanted {
    /// The packet that says so.
    pub(crate) packet: Vec<u8>,
    /// The server's port.
    pub(crate) port: u16,
    /// The server's end; none where there is no server.
    pub(crate) stream: Option<TcpStream>,
}

/// Datagrams between a port of the board and a server's.
struct Flow {
    board: u16,
    server: u16,
    /// What the board says.
    said: Sender<Vec<u8>>,
    task: JoinHandle<()>,
}

/// The board's connections that wait to be taken, and its datagrams.
pub(crate) struct Outward {
    servers: Ipv4Addr,
    news: Arc<Notify>,
    /// Ports of connections that wait for a server: the board's and the server's.
    waiting: Vec<(u16, u16)>,
    taken: (Sender<Wanted>, Receiver<Wanted>),
    flows: VecDeque<Flow>,
    answers: (Sender<Datagram>, Receiver<Datagram>),
    reports: VecDeque<String>,
}

impl Outward {
    /// No connections yet; `news` is woken where something happens.
    pub(crate) fn new(servers: Ipv4Addr, news: &Arc<Notify>) -> Self {
        Self {
            servers,
            news: news.clone(),
            waiting: Vec::new(),
            taken: channel(WAITING_MAX),
            flows: VecDeque::new(),
            answers: channel(WAITING_MAX),
            reports: VecDeque::new(),
        }
    }

    /// Takes a packet of the board; gives back what is not for it.
    pub(crate) fn take(&mut self, packet: Vec<u8>) -> Option<Vec<u8>> {
        if let Some(datagram) = Datagram::read(&packet) {
            match datagram.to {
                ORDERER_PORT => {
                    let text = String::from_utf8_lossy(&datagram.bytes).into_owned();
                    self.reports.push_back(text);
                }
                _ => self.send(datagram),
            }
            return None;
        }
        let Some(ports) = opening(&packet) else {
            return Some(packet);
        };
        // One that waits is asked for again when it took long.
        if !self.waiting.contains(&ports) && self.waiting.len() < WAITING_MAX {
            self.open(ports, packet);
        }
        None
    }

    fn open(&mut self, ports: (u16, u16), packet: Vec<u8>) {
        self.waiting.push(ports);
        let (_, port) = ports;
        let server = SocketAddr::from((self.servers, port));
        let (taken, news) = (self.taken.0.clone(), self.news.clone());
        tokio::spawn(async move {
            let stream = TcpStream::connect(server).await.ok();
            let wanted = Wanted {
                packet,
                port,
                stream,
            };
            // Where nobody waits any more, it is closed again.
            let _told = taken.send(wanted).await;
            news.notify_one();
        });
    }

    /// The next connection of which it is known whether a server takes it.
    pub(crate) fn wanted(&mut self) -> Option<Wanted> {
        let wanted = self.taken.1.try_recv().ok()?;
        let ports = opening(&wanted.packet);
        self.waiting.retain(|&waiting| Some(waiting) != ports);
        Some(wanted)
    }

    fn send(&mut self, datagram: Datagram) {
        let is = |flow: &Flow| (flow.board, flow.server) == (datagram.from, datagram.to);
        let found = self.flows.iter().position(is);
        let flow = match found.and_then(|place| self.flows.remove(place)) {
            Some(flow) => flow,
            None => self.begin(&datagram),
        };
        // What a server is too slow for is lost, as datagrams are.
        let _sent = flow.said.try_send(datagram.bytes);
        self.flows.push_back(flow);
        if self.flows.len() > FLOWS_MAX
            && let Some(oldest) = self.flows.pop_front()
        {
            oldest.task.abort();
        }
    }

    fn begin(&self, datagram: &Datagram) -> Flow {
        let (board, server) = (datagram.from, datagram.to);
        let (said, says) = channel(WAITING_MAX);
        let to = SocketAddr::from((self.servers, server));
        let (answers, news) = (self.answers.0.clone(), self.news.clone());
        let task = tokio::spawn(async move {
            // Without a socket nothing comes back, as from a server that is not there.
            if let Ok(socket) = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await
                && socket.connect(to).await.is_ok()
            {
                let answer = |bytes| Datagram {
                    from: server,
                    to: board,
                    bytes,
                };
                converse(&socket, says, answer, &answers, &news).await;
            }
        });
        Flow {
            board,
            server,
            said,
            task,
        }
    }

    /// Puts on the line what servers have answered.
    pub(crate) fn carry(&mut self, line: &mut Line) {
        while line.has_room()
            && let Ok(answer) = self.answers.1.try_recv()
        {
            line.enqueue(&answer.write());
        }
    }

    /// Tells the board what to do.
    pub(crate) fn order(&self, text: &str, line: &mut Line) {
        let order = Datagram {
            from: ORDERER_PORT,
            to: ORDER_PORT,
            bytes: text.as_bytes().to_vec(),
        };
        line.enqueue_uncounted(&order.write());
    }

    /// Whether a packet of the board is a report.
    pub(crate) fn is_report(packet: &[u8]) -> bool {
        Datagram::read(packet).is_some_and(|it| it.to == ORDERER_PORT)
    }

    /// The next report of the board.
    pub(crate) fn report(&mut self) -> Option<String> {
        self.reports.pop_front()
    }

    pub(crate) fn has_report(&self) -> bool {
        !self.reports.is_empty()
    }
}

/// Carries datagrams both ways, until nobody says anything any more.
pub(crate) async fn converse<T>(
    socket: &UdpSocket,
    mut says: Receiver<Vec<u8>>,
    answer: impl Fn(Vec<u8>) -> T,
    answers: &Sender<T>,
    news: &Notify,
) {
    let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
    loop {
        tokio::select! {
            said = says.recv() => {
                let Some(said) = said else { return };
                // An error is what the server answered to the one before.
                let _sent = socket.send(&said).await;
            }
            received = socket.recv(&mut buffer) => {
                let Ok(length) = received else { continue };
                let bytes = buffer.get(..length).unwrap_or_default().to_vec();
                let _told = answers.send(answer(bytes)).await;
                news.notify_one();
            }
        }
    }
}
