//! Every limit and every time of the log on JetStream.

use std::time::Duration;

/// Bytes of a line of the protocol (`max_control_line` of a server is 4,096).
pub const LINE_BYTES_MAX: u64 = 64 << 10;
/// Bytes of a message with its headers.
pub const MESSAGE_BYTES_MAX: usize = 72 << 20;
/// Bytes of records that may wait for their place before another is refused.
pub const PENDING_BYTES_MAX: usize = 32 << 20;
/// Bytes that may wait for a socket to take them.
pub const OUT_BYTES_MAX: usize = 64 << 20;
/// Records of one request, and their bytes.
pub const PULL_RECORDS: u64 = 1024;
/// Bytes of records of one request of a reader.
pub const PULL_BYTES: u64 = 1 << 20;
/// How long the log remembers what was submitted, so that it is not kept twice.
pub const DUPLICATES: Duration = Duration::from_secs(120);
/// How long a record may wait for its place until its publisher is told that it may have none; sending it
/// again ends long before [`DUPLICATES`].
pub const PLACE_WAIT: Duration = Duration::from_secs(30);
/// After so long without an answer to a look at the stream the log counts as away.
pub const TROUBLE_AFTER: Duration = Duration::from_secs(5);
/// After so long without an answer a record is sent again.
pub const SEND_AGAIN: Duration = Duration::from_secs(2);
/// After so long without a word a request for records is made anew.
pub const PULL_SILENCE: Duration = Duration::from_secs(3);
/// How long a request for records that are yet to come stays open.
pub const PULL_EXPIRES: Duration = Duration::from_secs(20);
/// How often the server says that it is there while no record comes.
pub const PULL_HEARTBEAT: Duration = Duration::from_secs(1);
/// A reader that asks for nothing is forgotten by the server after this.
pub const READER_INACTIVE: Duration = Duration::from_secs(30);
/// How often a peer is asked whether it is there.
pub const PING_EVERY: Duration = Duration::from_secs(1);
/// A connection that is silent for so long is given up.
pub const SILENCE: Duration = Duration::from_secs(4);
/// How long connecting to one server may take.
pub const CONNECT: Duration = Duration::from_secs(2);
/// Pause after no server could be reached.
pub const CONNECT_PAUSE: Duration = Duration::from_millis(250);
/// How long the opening waits for servers and for a leader of the stream.
pub const OPEN_WAIT: Duration = Duration::from_secs(30);
/// How often what is due is looked after.
pub const TICK: Duration = Duration::from_millis(250);
/// Ticks between two looks at the stream's state.
pub const LOOK_TICKS: u64 = 4;
/// So many looks in a row must show a stream that ends before what was taken of it until that is believed: a
/// server that has just become its leader may not have come to the end yet.
pub const LOOKS_SHORT_MAX: u32 = 5;
