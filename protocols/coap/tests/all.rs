//! Messages, sessions and what bears them, one file each. One program, since linking each takes longer than running it.

mod client;
mod lossy;
mod messages;
mod observing;
mod secure;
mod server;
mod streams;
