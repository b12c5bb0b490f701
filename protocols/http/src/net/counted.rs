//! Bodies on their way in, counted among what the hub holds.

use crate::limits::UNCOUNTED_BYTES_MAX;
use crate::wire::Refusal;
use std::sync::Arc;
use weir_hub::{Memory, Room};

/// Counts what is held of a body, a short one not at all; refuses the rest of it where memory is short.
pub(super) fn count(room: &mut Room, memory: &Arc<Memory>, held: usize) -> Result<(), Refusal> {
    if held <= UNCOUNTED_BYTES_MAX {
        *room = Room::default();
        return Ok(());
    }
    match room.grow(memory, held) {
        true => Ok(()),
        false => Err(Refusal::new(503, "memory is short: send it again later")),
    }
}
