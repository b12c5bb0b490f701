//! Sessions and packets, one file each. One program, since linking each takes longer than running it.

mod answers;
mod bridge;
mod client;
mod connect;
mod house;
mod packets;
mod quality;
mod server;
mod there_and_back;
