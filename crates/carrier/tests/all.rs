//! Links of every kind, one file each. One program, since linking each takes longer than running it.

mod crowd;
mod datagrams;
mod driver;
mod stream;
mod tls;
mod websocket;
