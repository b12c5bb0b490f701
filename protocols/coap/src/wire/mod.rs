//! The bytes of CoAP: messages of datagrams and of streams, options, blocks, links.

mod block;
mod check;
mod code;
mod datagram;
mod link;
mod message;
mod option;
mod options;
mod signal;
mod stream;
mod uri;

pub use block::Block;
pub use check::{Refusal, check_request, check_response};
pub use code::Code;
pub use datagram::{Datagram, Kind, Unreadable, parse_datagram, write_datagram, write_empty};
pub use link::{Link, matches_query, write_links};
pub use message::{Message, Token};
pub use option::{Definition, Number, Shape};
pub use options::{Malformed, Options, RawOption, RawOptions, Rule, uint, uint_bytes};
pub use signal::{Abort, Capabilities, Signal};
pub use stream::{Framing, Head, head_of, parse_body, write_stream};
pub use uri::{NotAUri, location, path_of, query_of, set_path, set_query};
