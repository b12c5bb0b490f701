//! Every limit and every time of the history in PostgreSQL.

use std::time::Duration;

/// Rows that are written at once.
pub const CHUNK_ROWS: usize = 8192;
/// Bytes of rows that are written at once.
pub const CHUNK_BYTES: usize = 4 << 20;
/// Chunks of one transaction.
pub const TRANSACTION_CHUNKS: usize = 16;
/// Bytes of rows that wait while the server is away, where nothing else is said.
pub const BUFFER_BYTES_MAX: usize = 64 << 20;
/// Bytes of rows that go to the server in one message.
pub const COPY_BYTES: usize = 256 << 10;
/// Rows that are read at once where all of a span is looked through.
pub const SCAN_ROWS: usize = 4096;
/// Last observations that are read at once.
pub const LATEST_ROWS: i64 = 10_000;
/// Rows of each datastream that are looked up for a page of many, beside its share of the page.
pub const SHARE_ROWS_MIN: usize = 16;
/// Rows that retention drops in one transaction.
pub const DROP_ROWS: i64 = 20_000;
/// Transactions that drop rows in one call of `maintain`, so that it ends.
pub const DROPS_MAX: usize = 16;
/// How long one call of `maintain` counts what a weir of before wrote.
pub const COUNT_TIME: Duration = Duration::from_secs(5);
/// By how much the bounds of a description are wider than what it has, nanoseconds: an hour.
pub const SPARE_NANOS: i64 = 3_600_000_000_000;
/// Questions that are answered at once, each by a connection of its own.
pub const READERS: usize = 4;
/// Datastreams whose newest time is asked for at once.
pub const NEWEST_TOPICS: usize = 10_000;
/// Datastreams that are taken over from another store at once.
pub const TAKE_TOPICS: usize = 1000;
/// How long connecting may take.
pub const CONNECT: Duration = Duration::from_secs(5);
/// After a connection could not be made, nobody tries again for so long.
pub const CONNECT_PAUSE: Duration = Duration::from_secs(1);
/// How long the opening waits for a server that cannot be reached yet.
pub const OPEN_WAIT: Duration = Duration::from_secs(30);
/// How long anything asked of the server may take.
pub const ANSWER_WAIT: Duration = Duration::from_secs(90);
/// What the server is told on each connection: how long a statement may take, how long it waits for another
/// gateway that writes, and how long a gateway that has gone silent may hold the others up.
pub const SESSION: &str = "SET statement_timeout = '60s'; SET lock_timeout = '30s'; \
     SET idle_in_transaction_session_timeout = '20s'; SET tcp_keepalives_idle = 10; \
     SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; SET jit = off";
