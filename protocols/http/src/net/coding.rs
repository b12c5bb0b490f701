//! Requests whose bodies are compressed (RFC 9110 section 8.4): services see what was compressed.
//!
//! Taken is gzip, which is what clients send by default. What comes out is counted before it is there: it is no longer
//! than a body may be, nor many times longer than what came in, and has its room among what the hub holds.

use super::route::Shared;
use crate::limits::{INFLATED_BYTES_FREE, INFLATED_TIMES_MAX};
use crate::wire::Request;
use flate2::read::MultiGzDecoder;
use std::io::Read;
use weir_binding::{Response, Short};
use weir_hub::Room;

/// Bytes that are inflated at once.
const STEP_BYTES: usize = 32 << 10;

/// Takes the coding off the body of a request, and the field that says it; what comes out has this room.
pub(super) fn take_off(shared: &Shared, request: &mut Request) -> Result<Room, Response> {
    if request.header("content-encoding").is_none() {
        return Ok(Room::default());
    }
    let codings = request
        .fields("content-encoding")
        .flat_map(|value| value.split(','));
    let codings = codings.map(|coding| coding.trim().to_ascii_lowercase());
    let codings: Vec<String> = codings
        .filter(|coding| !matches!(coding.as_str(), "" | "identity"))
        .collect();
    let mut room = Room::default();
    match &codings[..] {
        [] => return Ok(room),
        [one] if matches!(one.as_str(), "gzip" | "x-gzip") => {}
        other => {
            let sentence = format!(
                "a body in `{}` is not taken here: gzip is",
                other.join(", ")
            );
            return Err(Response::text(415, sentence).header("accept-encoding", "gzip"));
        }
    }
    request
        .headers
        .retain(|(name, _)| name != "content-encoding");
    request.body = inflated(shared, &request.body, &mut room)?.into();
    Ok(room)
}

fn inflated(shared: &Shared, packed: &[u8], room: &mut Room) -> Result<Vec<u8>, Response> {
    let memory = shared.context.hub().arrivals().clone();
    let times = packed.len().saturating_mul(INFLATED_TIMES_MAX);
    let limit = shared.body_bytes_max().min(times.max(INFLATED_BYTES_FREE));
    let mut decoder = MultiGzDecoder::new(packed);
    let mut body = Vec::new();
    loop {
        let read = decoder
            .by_ref()
            .take(STEP_BYTES as u64)
            .read_to_end(&mut body);
        let read = read.map_err(|error| {
            Response::text(
                400,
                format!("the body is no gzip that can be read: {error}"),
            )
        })?;
        if body.len() > limit {
            let sentence = format!("the body is longer than {limit} bytes once it is inflated");
            return Err(Response::text(413, sentence));
        }
        if !room.grow_in_steps(&memory, body.capacity()) {
            return Err(Response::text(503, Short::Arriving.to_string()).header("retry-after", "1"));
        }
        if read == 0 {
            return Ok(body);
        }
    }
}
