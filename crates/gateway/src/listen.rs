//! The network threads: what they accept and receive is served by the bindings.

use crate::context::House;
use crate::limits::{HANDSHAKE_BYTES, HANDSHAKE_TIME_MAX, connections_max};
use crate::traffic::Traffic;
use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime;
use tokio::task::LocalSet;
use weir_binding::{Binding, Gateway, Service};
use weir_carrier::{Datagrams, Link, crowd};

/// Until it is tried again to accept a connection.
const PAUSE: Duration = Duration::from_millis(50);

/// A binding's opened listener.
pub(crate) struct Listener {
    /// Name in the ready line.
    pub(crate) name: &'static str,
    pub(crate) binding: Arc<dyn Binding>,
    pub(crate) socket: TcpListener,
    pub(crate) tls: Option<weir_carrier::tls::Acceptor>,
    /// What it offers with TLS (ALPN).
    pub(crate) alpn: Vec<String>,
}

impl Listener {
    fn try_clone(&self) -> io::Result<Self> {
        let socket = self.socket.try_clone()?;
        Ok(Self {
            name: self.name,
            binding: self.binding.clone(),
            socket,
            tls: self.tls.clone(),
            alpn: self.alpn.clone(),
        })
    }
}

/// A binding's socket for datagrams, one thread's own.
pub(crate) struct Socket {
    /// Name in the ready line.
    pub(crate) name: &'static str,
    pub(crate) binding: Arc<dyn Binding>,
    pub(crate) socket: UdpSocket,
}

/// What one network thread serves.
pub(crate) struct Share {
    listeners: Vec<Listener>,
    datagrams: Vec<Socket>,
    /// Bindings whose background runs here.
    bindings: Vec<Arc<dyn Binding>>,
    /// Services whose background runs here.
    services: Vec<Arc<dyn Service>>,
}

impl Share {
    /// All listeners, which every thread accepts from, and what is this thread's alone.
    pub(crate) fn of(listeners: &[Listener], datagrams: Vec<Socket>) -> io::Result<Self> {
        let listeners = listeners.iter().map(Listener::try_clone);
        Ok(Self {
            listeners: listeners.collect::<io::Result<_>>()?,
            datagrams,
            bindings: Vec::new(),
            services: Vec::new(),
        })
    }

    /// Has what bindings and services do beside answering run here.
    pub(crate) fn run_beside(
        &mut self,
        bindings: &[Arc<dyn Binding>],
        services: &[Arc<dyn Service>],
    ) {
        self.bindings = bindings.to_vec();
        self.services = services.to_vec();
    }
}

/// Starts a network thread that serves its share until the gateway drains; it lets go of `begun` once it
/// does.
pub(crate) fn start_thread(
    number: usize,
    share: Share,
    house: &Arc<House>,
    begun: Sender<()>,
) -> io::Result<JoinHandle<()>> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let house = house.clone();
    thread::Builder::new()
        .name(format!("net-{number}"))
        .spawn(move || {
            let local = LocalSet::new();
            runtime.block_on(local.run_until(serve(share, house, begun)));
            // What was begun is finished: links end by themselves once they have said their farewell.
            runtime.block_on(async {
                let _out_of_patience =
                    tokio::time::timeout(crate::limits::DRAIN_TIME_MAX, local).await;
            });
        })
}

async fn serve(share: Share, house: Arc<House>, begun: Sender<()>) {
    spawn_until_drained(crowd::usher(), &house);
    for listener in share.listeners {
        let house = house.clone();
        tokio::task::spawn_local(async move {
            if let Err(error) = accept(listener, house).await {
                tracing::error!(%error, "a listener ended");
            }
        });
    }
    for socket in share.datagrams {
        let house = house.clone();
        tokio::task::spawn_local(async move {
            let name = socket.name;
            if let Err(error) = serve_datagrams(socket, house).await {
                tracing::error!(%error, name, "a socket of datagrams ended");
            }
        });
    }
    start_beside(&share.bindings, &share.services, &house);
    // Each has had its first turn: groups are joined, and what is sent now is heard.
    tokio::task::yield_now().await;
    drop(begun);
    house.draining().await;
}

fn start_beside(bindings: &[Arc<dyn Binding>], services: &[Arc<dyn Service>], house: &Arc<House>) {
    for background in bindings
        .iter()
        .filter_map(|it| it.background(house.clone()))
    {
        spawn_until_drained(background, house);
    }
    // A service has its farewell to say: it ends by itself.
    let of_services = services.iter();
    of_services
        .filter_map(|it| it.background(house.clone()))
        .for_each(|background| drop(tokio::task::spawn_local(background)));
}

fn spawn_until_drained(background: impl Future<Output = ()> + 'static, house: &House) {
    let draining = house.draining();
    tokio::task::spawn_local(async move {
        tokio::select! {
            () = background => {}
            () = draining => {}
        }
    });
}

async fn serve_datagrams(socket: Socket, house: Arc<House>) -> io::Result<()> {
    let datagrams = Datagrams::new(socket.socket)?;
    socket.binding.serve_datagrams(datagrams, house).await
}

/// The next connection, once there is room for one.
async fn accepted(
    socket: &tokio::net::TcpListener,
    traffic: &Traffic,
) -> io::Result<(tokio::net::TcpStream, SocketAddr)> {
    let is_full = || traffic.connections.load(Ordering::Relaxed) as usize >= connections_max();
    if is_full() {
        tracing::warn!("cannot accept a connection: there are as many as there are files for");
    }
    while is_full() {
        tokio::time::sleep(PAUSE).await;
    }
    socket.accept().await
}

async fn accept(listener: Listener, house: Arc<House>) -> io::Result<()> {
    listener.socket.set_nonblocking(true)?;
    let socket = tokio::net::TcpListener::from_std(listener.socket)?;
    let tls = listener.tls.map(Rc::new);
    let here = house.traffic.listener(listener.name);
    let draining = house.draining();
    tokio::pin!(draining);
    loop {
        let accepted = tokio::select! {
            accepted = accepted(&socket, &house.traffic) => accepted,
            () = &mut draining => return Ok(()),
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        house.traffic.connections.fetch_add(1, Ordering::Relaxed);
        house.traffic.accepted.fetch_add(1, Ordering::Relaxed);
        let (binding, house, tls) = (listener.binding.clone(), house.clone(), tls.clone());
        let counted = Counted::new(house.traffic.clone(), here.clone());
        tokio::task::spawn_local(async move {
            let _until_the_end = counted;
            let served = match tls {
                None => binding.serve(Link::tcp(stream, peer), house).await,
                // Boxed: who does not use TLS does not pay for the size of its handshake.
                Some(tls) => Box::pin(serve_tls(&tls, stream, peer, &*binding, house)).await,
            };
            if let Err(error) = served {
                tracing::debug!(%peer, %error, "a connection ended");
            }
        });
    }
}

/// Counts a connection as open until it is dropped, however its task ends.
struct Counted {
    traffic: Arc<Traffic>,
    listener: Arc<AtomicU64>,
}

impl Counted {
    /// One that was added to the sum of all already.
    fn new(traffic: Arc<Traffic>, listener: Arc<AtomicU64>) -> Self {
        listener.fetch_add(1, Ordering::Relaxed);
        Self { traffic, listener }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.traffic.connections.fetch_sub(1, Ordering::Relaxed);
        self.listener.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn serve_tls(
    tls: &weir_carrier::tls::Acceptor,
    stream: tokio::net::TcpStream,
    peer: SocketAddr,
    binding: &dyn Binding,
    house: Arc<House>,
) -> io::Result<()> {
    let short = || io::Error::new(io::ErrorKind::OutOfMemory, "memory is short");
    let room = house
        .hub
        .arrivals()
        .room(HANDSHAKE_BYTES)
        .ok_or_else(short)?;
    let handshake = tokio::time::timeout(HANDSHAKE_TIME_MAX, tls.accept(stream, peer));
    let mut link = handshake.await.map_err(|_| io::ErrorKind::TimedOut)??;
    drop(room);
    let certificate = link.certificate.take();
    link.credential = certificate.map(|certificate| house.access.presented(&certificate));
    binding.serve(link, house).await
}
