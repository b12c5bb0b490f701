//! The bare echo server: every datagram and every byte of a stream goes back, on the runtime that the
//! gateway runs on and with nothing above it.

use std::io;
use std::net::Ipv4Addr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use weir_bench_model::limits::READ_BYTES_MAX;

/// The hidden subcommand that turns a process into the echo server.
pub const SUBCOMMAND: &str = "__echo";

/// Serves until killed at the address that is the first argument; prints
/// `{"ready":true,"udp":"address","tcp":"address"}` once it listens.
pub fn main(args: &[String]) -> i32 {
    weir_bench_model::process::die_with_parent();
    let host = args.first().and_then(|arg| arg.parse().ok());
    let host = host.unwrap_or(Ipv4Addr::LOCALHOST);
    let served = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .and_then(|runtime| runtime.block_on(serve(host)));
    match served {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("the echo server: {error}");
            1
        }
    }
}

async fn serve(host: Ipv4Addr) -> io::Result<()> {
    let udp = UdpSocket::bind((host, 0)).await?;
    let tcp = TcpListener::bind((host, 0)).await?;
    let (datagrams, stream) = (udp.local_addr()?, tcp.local_addr()?);
    let ready = format!(r#"{{"ready":true,"udp":"{datagrams}","tcp":"{stream}"}}"#);
    weir_bench_load::load::tell(&ready);
    tokio::try_join!(echo_datagrams(&udp), echo_streams(&tcp))?;
    Ok(())
}

async fn echo_datagrams(socket: &UdpSocket) -> io::Result<()> {
    let mut buffer = vec![0; READ_BYTES_MAX];
    loop {
        let (length, peer) = socket.recv_from(&mut buffer).await?;
        socket.send_to(&buffer[..length], peer).await?;
    }
}

/// One stream after the other: there is one device.
async fn echo_streams(listener: &TcpListener) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        // A device that goes without leave ends its own stream only.
        let _ = echo(stream).await;
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; READ_BYTES_MAX];
    loop {
        match stream.read(&mut buffer).await? {
            0 => return Ok(()),
            length => stream.write_all(&buffer[..length]).await?,
        }
    }
}
