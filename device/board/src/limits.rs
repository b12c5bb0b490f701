//! What is bounded, and by what.

/// Packets that wait for the line to the board; while it is full no client's TCP sends (`txqueuelen` of a
/// serial line in Linux is 10, the authors' is not known; a simulated one has as many).
pub const QUEUE_PACKETS: usize = 100;
/// The line's largest packet: as much as the board takes.
pub const MTU: usize = 576;
/// The same where the board is a client: an Ethernet's.
pub const CLIENT_MTU: usize = 1_500;
/// Bytes of a datagram to the board that are read; what is more does not fit the line.
pub const DATAGRAM_BYTES_MAX: usize = CLIENT_MTU - 28;
/// Bytes of a command to a modem; what is longer is none.
pub const COMMAND_BYTES_MAX: usize = 256;
/// Bytes that a modem tells at once: a segment of an Ethernet.
pub const SEGMENT_BYTES: usize = 1_460;
/// Flows of datagrams between the board and servers; the one that was silent longest goes.
pub const FLOWS_MAX: usize = 64;
/// Connections of the board that wait for a server, and datagrams that wait each way; more are lost, and come again.
pub const WAITING_MAX: usize = 64;
/// Clients at a time; who comes then waits.
pub const CLIENTS_MAX: usize = 2_048;
/// Receive and send windows of the clients' TCP.
pub const RECEIVE_BYTES: usize = 4_096;
/// What a client may have said and the board not taken.
pub const SEND_BYTES: usize = 2_048;
/// Pieces that wait for a client that does not read, each of at most [`RECEIVE_BYTES`].
pub const PIECES: usize = 8;
/// Send buffer of the emulator's end of the line. The kernel counts some 380 bytes for each byte that is
/// written alone: this is a hidden queue of about 340 bytes, 24 ms of the line. Less starves the line on a
/// loaded machine.
pub const HIDDEN_BYTES: usize = 131_072;
/// How far behind the line may fall and catch up: what a loaded machine was late, not what it idled.
pub const LATE_NS: u64 = 50_000_000;
