//! An emulated link: two network namespaces joined by a program that lets packets through as a link would.
//!
//! The model ([`Pipe`], [`Medium`]) is sans-IO: a packet and a time go in, its fate comes out. Around it
//! stand a TUN device a side and one thread a direction ([`Lab`], Linux only), which also count every
//! packet ([`Ledger`]) and write them down ([`pcapng`]). What it deliberately does not do: split or join
//! streams, look into protocols above TCP and UDP, or need the kernel's own emulator, which many lack.
//!
//! The decision worth arguing: rates hold in virtual time. A packet's departure follows from the one
//! before it and not from when the thread woke up, so a late wake-up delays one packet and no rate.
//!
//! The model touches nothing but memory. [`Lab`] makes network namespaces and devices, and needs the right to.
//!
//! ```
//! use weir_link::{Fate, Medium, Pipe, Profile, Way};
//!
//! let profile = Profile::named("lan").unwrap();
//! let up = profile.direction(Way::Up);
//! let (mut medium, mut pipe) = (Medium::new(up.rate.clone()), Pipe::new(up, 0, 7));
//! // 1,250 bytes take 10 us at 1 Gbit/s, and 150 us to get there.
//! let fate = pipe.offer(&mut medium, 0, &[0; 1250]);
//! assert_eq!(fate, Fate::Arrives(160_000));
//! ```

// Real devices, threads and files are what a link is made of; the model takes its time as an argument.
#![allow(clippy::disallowed_methods)]

mod framing;
mod ledger;
pub mod limits;
mod loss;
mod medium;
mod packet;
pub mod pcapng;
mod pipe;
mod profile;
mod quantity;
mod time;
mod trace;
mod way;

#[cfg(target_os = "linux")]
mod lab;

pub use framing::Framing;
pub use ledger::{Count, Flow, Ledger, Line, Phase};
pub use loss::Loss;
pub use medium::{Medium, Rate};
pub use packet::{Segment, TcpPart};
pub use pipe::{Cause, Fate, Pipe};
pub use profile::{Direction, Duplex, PROFILES, Profile, ProfileFault};
pub use quantity::QuantityFault;
pub use time::Nanos;
pub use trace::{Trace, TraceFault};
pub use way::Way;

#[cfg(target_os = "linux")]
pub use lab::{Check, Edge, Lab, LabFault, Options, Sharing, Station, prepare};
