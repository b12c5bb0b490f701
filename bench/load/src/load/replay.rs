//! Publishes a backlog, then reads it back from a cursor as fast as the target gives it.
//!
//! Only the reading is timed: from the request to the last observation.

use std::io::{Read, Write};
use std::net::SocketAddr;

use memchr::memmem;

use super::job::{Event, ReplayOutcome, ReplayPlan};
use super::message::Template;
use super::one_by_one::{OneByOne, connect};
use super::subscriber::fill;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::READ_BYTES_MAX;
use weir_bench_model::own::MARKER;

/// Publishes, asks for the replay, counts what comes.
pub fn run(address: SocketAddr, plan: &ReplayPlan) -> Result<ReplayOutcome, String> {
    let mut publisher = Publisher::open(address, plan)?;
    let cursor = match &plan.cursor_request {
        Some(request) => first_cursor(address, request, &mut publisher)?,
        None => "0".into(),
    };
    publisher.publish(plan.messages)?;
    let expected = (plan.messages * plan.body.observations()) as u64;
    let request = fill(&plan.replay_request, |_| Some(cursor.as_str()));
    super::emit(&Event::Begin);
    let outcome = read_back(address, &request, expected);
    super::emit(&Event::End);
    outcome
}

/// Publishes the backlog's message again and again.
struct Publisher {
    publishing: OneByOne,
    template: Template,
}

impl Publisher {
    fn open(address: SocketAddr, plan: &ReplayPlan) -> Result<Self, String> {
        Ok(Self {
            publishing: OneByOne::open(address)?,
            template: Template::new(&plan.publish, plan.body),
        })
    }

    fn publish(&mut self, messages: usize) -> Result<(), String> {
        let mut message = Vec::with_capacity(self.template.len());
        for _ in 0..messages {
            message.clear();
            self.template.write(0, 0, &mut message);
            self.publishing.send(&message)?;
        }
        Ok(())
    }
}

/// The cursor after one first message, as the control line of a stream tells it.
fn first_cursor(
    address: SocketAddr,
    request: &str,
    publisher: &mut Publisher,
) -> Result<String, String> {
    let mut stream = connect(address)?;
    stream
        .write_all(request.as_bytes())
        .map_err(|e| e.to_string())?;
    let mut seen = Vec::new();
    let mut buffer = vec![0u8; READ_BYTES_MAX];
    let mut published = false;
    let mark = b"\"cursor\":\"";
    loop {
        let len = stream
            .read(&mut buffer)
            .map_err(|e| format!("no control line came: {e}"))?;
        if len == 0 {
            return Err("the stream closed before a control line".into());
        }
        seen.extend_from_slice(&buffer[..len]);
        if !published && memmem::find(&seen, b"\r\n\r\n").is_some() {
            publisher.publish(1)?;
            published = true;
        }
        let found = memmem::rfind(&seen, mark).filter(|_| observed(&seen));
        let Some(start) = found.map(|at| at + mark.len()) else {
            continue;
        };
        if let Some(end) = seen[start..].iter().position(|&byte| byte == b'"') {
            return Ok(String::from_utf8_lossy(&seen[start..start + end]).into_owned());
        }
    }
}

/// Whether the message itself has come; a control line before it would name an older cursor.
fn observed(seen: &[u8]) -> bool {
    let Some(value) = memmem::find(seen, MARKER) else {
        return false;
    };
    memmem::rfind(seen, b"\"cursor\"").is_some_and(|cursor| cursor > value)
}

fn read_back(address: SocketAddr, request: &str, expected: u64) -> Result<ReplayOutcome, String> {
    let mut stream = connect(address)?;
    let mut buffer = vec![0u8; 4 * READ_BYTES_MAX];
    let marker = memmem::Finder::new(MARKER);
    let (mut received, mut received_bytes, mut kept) = (0u64, 0u64, 0usize);
    let start = now_ns();
    let mut last = start;
    stream
        .write_all(request.as_bytes())
        .map_err(|e| e.to_string())?;
    while received < expected {
        let len = match stream.read(&mut buffer[kept..]) {
            Ok(0) => {
                return Err(format!(
                    "closed after {received} of {expected} observations"
                ));
            }
            Ok(len) => len,
            Err(e) => return Err(format!("{received} of {expected} observations, then {e}")),
        };
        received_bytes += len as u64;
        let whole = kept + len;
        received += marker.find_iter(&buffer[..whole]).count() as u64;
        last = now_ns();
        // A marker may be cut by the read: its possible beginning is seen again.
        let tail = whole.saturating_sub(MARKER.len() - 1);
        buffer.copy_within(tail..whole, 0);
        kept = whole - tail;
    }
    let seconds = (last - start) as f64 / 1e9;
    Ok(ReplayOutcome {
        expected,
        received,
        received_bytes,
        seconds,
    })
}
