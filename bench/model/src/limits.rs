//! Every bound of the bench, each with its unit and what happens when it is reached.

/// Bytes one read from a socket takes at most; more waits for the next turn.
pub const READ_BYTES_MAX: usize = 128 * 1024;

/// Bytes that may wait unsent in one publisher; beyond, the offered rate counts as not sustained.
pub const PUBLISH_BACKLOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of a response head, or of a long poll's answer; beyond, the peer is at fault.
pub const RESPONSE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes that a null server keeps of what was published; beyond, the oldest go.
pub const NULL_LOG_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Bytes of one request that a null server takes; beyond, the connection is closed.
pub const NULL_REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Nanoseconds of the longest latency that is told apart from a longer one (60 s).
pub const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// Milliseconds from one request of a client that polls to the next.
pub const POLL_MS: u64 = 1_000;

/// Connections opened at once before their answers are awaited, so that no accept queue overflows.
pub const CONNECT_WAVE: usize = 64;

/// Idle connections of one load process; more are held by several, which open them side by side.
pub const CONNECTIONS_A_LOAD_MAX: usize = 5_000;

/// Connections that leave from one address of 127.0.0.0/8: a port of it serves one at a time, and the kernel gives
/// 28,232 to those that do not say which (`net.ipv4.ip_local_port_range`).
pub const CONNECTIONS_AN_ADDRESS_MAX: usize = 5_000;

/// Files of a process that are no connections of a cell: logs, listeners, pipes, those of a probe.
pub const FILES_RESERVED: usize = 500;

/// Milliseconds a connection may take to be answered; beyond, the cell fails.
pub const CONNECT_MS_MAX: u64 = 10_000;

/// Milliseconds without a delivery after which what is missing counts as lost.
pub const DRAIN_QUIET_MS: u64 = 700;

/// Milliseconds that a drain lasts at most, deliveries or not.
pub const DRAIN_MS_MAX: u64 = 8_000;

/// Milliseconds that a target may take from its start to its first answer.
pub const TARGET_START_MS_MAX: u64 = 60_000;

/// Share of the null server's rate from which a cell is marked `ceiling`.
pub const CEILING_SHARE: f64 = 0.8;

/// Share of a median that the load's own lateness may have at its 99th percentile; beyond, the cell is
/// marked `ceiling`.
pub const LAG_SHARE: f64 = 0.1;

/// Half width of a confidence interval, as a share of the mean, from which a result is `wide`.
pub const WIDE_SHARE: f64 = 0.5;

/// Seconds that a load process may be silent; beyond, the cell fails.
pub const WORKER_SECONDS_MAX: u64 = 600;

/// Seconds that a browser may take to answer; beyond, its cells fail.
pub const DEVTOOLS_SECONDS_MAX: u64 = 120;

/// Shares of the slowdown asked for that a page's must have, least and most; beyond, its cell is marked. Chromium's own
/// is that coarse.
pub const SLOWDOWN_SHARE_MIN: f64 = 0.7;
/// See [`SLOWDOWN_SHARE_MIN`].
pub const SLOWDOWN_SHARE_MAX: f64 = 1.5;

/// Times that a cell is measured in a slowed page until the slowdown was in force.
pub const SLOWDOWN_TRIES_MAX: usize = 3;

/// Milliseconds that a device waits for an echo; beyond, a datagram is lost.
pub const ECHO_MS_MAX: u64 = 5_000;

/// Milliseconds that a stream may be silent; beyond, it fails. TCP sends a lost segment again after 1, 2, 4
/// and 8 s (RFC 6298 section 5.5), and a disk may stall: such an echo is late, and not lost.
pub const ECHO_STREAM_MS_MAX: u64 = 20_000;

/// Milliseconds after which a device that waits for a datagram looks at its timers.
pub const ECHO_TICK_MS: u64 = 100;

/// Milliseconds between packets of a device that rests: longer than Linux delays an acknowledgment
/// (40 ms).
pub const ECHO_REST_MS: u64 = 60;

/// Milliseconds before segments are read, so that none is still to come.
pub const ECHO_SETTLE_MS: u64 = 60;

/// Milliseconds that a client of a broker waits for a message; beyond, it is lost.
pub const MESSAGING_SILENCE_MS_MAX: u64 = 5_000;
/// Looks, 10 ms apart, for the other participant of a domain of DDS; beyond, there is none.
pub const DDS_LOOKS_MAX: u32 = 1_000;
/// Looks after which nobody else is expected.
pub const DDS_QUIET_LOOKS: u32 = 100;

/// Bytes of a browser's trace; beyond, what it was for has no figure.
pub const TRACE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of it that are asked for at once.
pub const TRACE_PIECE_BYTES: usize = 4 * 1024 * 1024;

/// Seconds in which a quick run has begun and ended its cells; two minutes hold its report, too.
pub const QUICK_SECONDS_MAX: u64 = 108;

/// Round trips of a link, nanoseconds, from which its cells wait rather than compute, and run side by side.
pub const SIDE_BY_SIDE_RTT_NS_MIN: u64 = 20_000_000;

/// Highest rate of such a link, bits a second: measuring a faster one would keep the processors from those in use.
pub const SIDE_BY_SIDE_BITS_MAX: f64 = 1e8;

/// Cells that run side by side at most: each is two namespaces, four threads, a server and a load.
pub const SIDE_BY_SIDE_MAX: usize = 48;

/// Share of this machine's processors that may be busy while cells run side by side; one whose share was
/// greater is marked.
pub const SIDE_BY_SIDE_SHARE_MAX: f64 = 0.5;

/// Share up to which one more cell is let in.
pub const SIDE_BY_SIDE_SHARE_MORE: f64 = 0.35;

/// Milliseconds between looks at the processors, and between one more cell and the next.
pub const SIDE_BY_SIDE_LOOK_MS: u64 = 5_000;

/// Times that a link is measured before it is refused: a busy machine is late now and then.
pub const LINK_CHECKS_MAX: u32 = 3;

/// Bytes of one line between a coordinator and an agent: histograms of a job.
pub const AGENT_LINE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Seconds that a coordinator may leave an agent alone; beyond, the agent takes the next one.
pub const AGENT_SILENCE_SECONDS_MAX: u64 = 3_600;

/// Characters of a token that is worth the name.
pub const AGENT_TOKEN_BYTES_MIN: usize = 16;

/// Exchanges by which an agent's clock is compared with ours.
pub const AGENT_CLOCK_EXCHANGES: usize = 200;

/// Bytes of a plan file.
pub const PLAN_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of a person's own message.
pub const OWN_MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// Cells of a plan.
pub const PLAN_CELLS_MAX: usize = 10_000;

/// Subscribers, and publishers, of a plan's cell.
pub const PLAN_CONNECTIONS_MAX: usize = 100_000;

/// Observations in a message that a plan describes.
pub const PLAN_OBSERVATIONS_MAX: usize = 5_000;

/// Rounds of a plan's cells.
pub const PLAN_ROUNDS_MAX: usize = 1_000;

/// Seconds that a plan measures or warms up at most.
pub const PLAN_SECONDS_MAX: f64 = 3_600.0;

/// Samples of one metric, contender and round that are kept one by one; of more, the first.
pub const SAMPLES_A_SERIES_MAX: usize = 1_000_000;

/// Rows after which those that wait are written to the sheet of samples.
pub const SHEET_GROUP_ROWS_MAX: usize = 100_000;

/// Bytes of a document that is sent to the server of documents, or fetched from it.
pub const DOCUMENT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Minutes that a person has to open the link of a run; beyond, its cells fail.
pub const BROWSER_MINUTES_MAX: u64 = 15;

/// Files of captures of one link in a folder.
pub const CAPTURES_MAX: usize = 10_000;

/// Bytes of a message that reaches an observer by CoAP in one block: what a person's own message may have there, and
/// its names are written anew.
pub const OBSERVED_BYTES_MAX: usize = 512;

/// Bytes of a file that is kept as a part of a target's configuration; longer ones are data.
pub const CONFIGURATION_BYTES_MAX: u64 = 64 * 1024;

/// Configurations of one target that are kept; cells may each have one of their own.
pub const CONFIGURATIONS_MAX: usize = 16;
