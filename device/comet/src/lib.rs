//! A Web server with push for devices: IPv4, TCP made for notification, HTTP/1.1, and CoAP with Observe over
//! UDP, in a few kilobytes.
//!
//! The same resource is polled, long-polled, streamed and followed as server-sent events. A notification
//! is built once, in a ring that all listeners share ([`Server::publish`]); what each is sent, and sent
//! again, is regenerated from there, so that a connection is a record of 16 bytes and has no buffer.
//!
//! What it deliberately does not do: no socket, no clock, no allocation, no `unsafe`; no IP fragments, no
//! TCP options, no segments out of order, no request bodies. The driver hands over packets and the time
//! and takes packets ([`Server::receive`], [`Server::transmit`], [`Server::tick`]).
//!
//! The decision worth arguing: nothing is kept that can be computed again. A handshake is a cookie, a
//! response is a function of 2 bytes of state, the round trip is measured once for all who share the line.
//! The price is paid by the slow: an item that is overwritten before it was acknowledged ends its
//! connection, and the client resumes with `Last-Event-ID`.
//!
//! It touches nothing but its own memory, which is as large as its type says.
//!
//! ```
//! use weir_comet::{Kind, Resource, Server, Site};
//!
//! static SITE: Site = match Site::new(&[Resource {
//!     path: "/live/temperature",
//!     media_type: "text/plain",
//!     kind: Kind::Topic,
//! }]) {
//!     Ok(site) => site,
//!     Err(_) => panic!("the resources fit"),
//! };
//!
//! // 4 connections of 2 hosts; the last 2 notifications, of up to 64 bytes.
//! let mut server = Server::<4, 2, 2, 64>::new();
//! server.start(&SITE, [192, 168, 0, 2], 80, 0x5eed);
//! server.publish(0, 0, b"21.5").unwrap();
//! assert_eq!(server.connections(), 0);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod acknowledge;
mod answer;
mod checksum;
mod coap;
mod connection;
mod cookie;
mod features;
mod hosts;
mod icmp;
mod ipv4;
pub mod limits;
mod observe;
mod partial;
mod plan;
mod receive;
mod request;
mod ring;
mod rtt;
mod server;
mod site;
mod slice;
pub mod slip;
mod tcp;
mod time;
mod timers;
mod transmit;
mod udp;
mod word;

pub use ring::TooLong;
pub use server::{Counters, Server};
pub use site::{Kind, Resource, Site, SiteFault};
pub use time::Milliseconds;
