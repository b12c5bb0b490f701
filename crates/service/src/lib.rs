//! All that a plug-in must know to be a service: calls, answers, and what is waited for.
//!
//! What it deliberately does not do: no protocol, no resource, no socket, no runtime. The decision worth
//! arguing: a service answers calls with values ([`Answer`]) that the binding drives, so that one
//! resource tree serves HTTP/1.1, HTTP/2, CoAP and whatever else carries a method and a path.
//!
//! It touches nothing but memory; what reaches further (workers, the network) it is handed.
//!
//! ```
//! use weir_service::{Answer, Call, Response, Service};
//!
//! struct Greeting;
//!
//! impl Service for Greeting {
//!     fn name(&self) -> &'static str {
//!         "greeting"
//!     }
//!     fn mounts(&self) -> &'static [&'static str] {
//!         &["/greeting"]
//!     }
//!     fn call(&self, call: Call) -> Answer {
//!         Answer::Now(match call.method.as_str() {
//!             "GET" => Response::text(200, format!("hello, {}", call.principal.name)),
//!             _ => Response::text(405, "only GET is possible here").header("allow", "GET"),
//!         })
//!     }
//! }
//! assert_eq!(Greeting.mounts(), ["/greeting"]);
//! ```
#![forbid(unsafe_code)]

mod answer;
mod answering;
mod call;
mod client;
mod config;
mod connect;
mod counted;
mod elsewhere;
mod follow;
mod gateway;
mod keys;
mod multipart;
mod nearest;
mod network;
mod origin;
mod pace;
mod parts;
mod pieces;
mod premises;
mod rendering;
mod response;
mod schema;
mod service;
mod since;
mod tally;
mod threadless;
mod way;
mod web;
mod work;

pub use answer::{Answer, Delivery, Inbound, Scheme, Socket, Stream};
pub use answering::{Next, answer_of, answer_then, pieces_of};
pub use call::{AsItIs, Call, Wrapper};
pub use client::{Caller, Event, LocalFuture, Pages, Past, Post, Publisher, Subscriber, Target};
pub use config::{ConfigFault, Section};
pub use connect::Connect;
pub use counted::{Counted, SHORT_BYTES_MAX, short};
pub use elsewhere::Elsewhere;
pub use follow::{Polled, Readings, Shelf, since_time};
pub use gateway::{Gateway, Identity};
pub use keys::SharedKey;
pub use multipart::boundary;
pub use nearest::{check_keys, nearest};
pub use network::{Network, NoNetwork};
pub use pace::{PERIOD_MAX, Pace};
pub use parts::{Part, parts_as_published, parts_in};
pub use pieces::{BrokenOff, Gathered, Made, Opened, Opening, Pieces, Source};
pub use premises::{Endpoint, Logins, Place, Premises};
pub use rendering::{Changes, Rendering, Watched, gap_json, rendered};
pub use response::{Pending, Response};
pub use schema::Schema;
pub use service::Service;
pub use since::is_of_nothing;
pub use tally::{Metric, Tally};
pub use threadless::{AtOnce, Drawer};
pub use way::{Credential, Operation, Way};
pub use web::{Answered, Ask, Client, Web, by_topic, invalid, misspoken, read_message, refused};
pub use work::{Busy, Length, Outcome, Workers, hand_over, hand_over_next, too_busy, wait};
