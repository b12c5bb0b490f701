//! The gateway's limits.

use std::time::Duration;

/// Connections open at once, all listeners together; beyond, new ones wait unaccepted.
pub const CONNECTIONS_MAX: usize = 200_000;
/// For how long a stopping gateway waits for what was begun.
pub const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of memory that a TLS handshake may take.
pub const HANDSHAKE_BYTES: usize = 32 << 10;
/// For how long a peer may take to finish its TLS handshake.
pub const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(10);
/// Credentials whose check is remembered, so that a password is not hashed at every request.
pub const VERIFIED_MAX: usize = 10_000;
/// Longest token that an issuer has signed, bytes.
pub const TOKEN_BYTES_MAX: usize = 16 << 10;
/// Tokens of one subject that an issuer's entry knows at once; the one that expires first gives way.
pub const TOKENS_OF_ONE_MAX: usize = 2000;

/// For how long an issuer of tokens may take to say its keys.
pub const ISSUER_TIME_MAX: Duration = Duration::from_secs(5);
/// Longest set of keys of an issuer, bytes.
pub const ISSUER_KEYS_BYTES_MAX: u64 = 1 << 20;

/// Spans of traces that wait to be sent; beyond, they are dropped and counted.
pub const TRACE_SPANS_WAITING_MAX: usize = 8192;
/// Spans that are sent at once.
pub const TRACE_SPANS_OF_ONE_POST_MAX: usize = 512;
/// For how long a collector of traces may take to answer.
pub const TRACE_POST_TIME_MAX: Duration = Duration::from_secs(5);
/// How often spans are sent before they are dropped.
pub const TRACE_TRIES_MAX: u32 = 4;

/// Threads that answer questions about the past; one of them takes no long question.
pub const WORK_THREADS: usize = 3;
/// Questions about the past that wait for a thread, long ones and short ones each; beyond, they are refused.
pub const WORK_WAITING_MAX: usize = 256;
/// Long questions that wait for a thread where memory of answers is short.
pub const SHORT_WAITING_MAX: usize = 8;
/// For how long a peer is waited for that takes nothing, where memory is short, at most.
pub const SHORT_PATIENCE: Duration = Duration::from_secs(5);
/// Threads that hash passwords: who guesses them takes one core at most.
pub const CHECK_THREADS: usize = 1;
/// Passwords that wait to be hashed, more than a second's worth; beyond, they are refused.
pub const CHECK_WAITING_MAX: usize = 64;

/// Files that are not connections: of the log, the history and the listeners, and what goes out.
pub const FILES_RESERVED: usize = 64;

/// Connections that may be open at once, as many as there are files for now, so that log and history always have
/// theirs.
pub fn connections_max() -> usize {
    use rustix::process::{Resource, getrlimit};
    let files = getrlimit(Resource::Nofile).current;
    let files = files.map_or(usize::MAX, |files| files as usize);
    CONNECTIONS_MAX.min(files.saturating_sub(FILES_RESERVED))
}

/// Lifts this process's limit of open files to the most that it may have.
pub fn raise_descriptor_limit() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    )?;
    Ok(())
}

/// How long a start looks for the bus and for the store before it says that it waits for them.
pub const LOOK_WAIT: Duration = Duration::from_secs(2);
