//! What a message makes known of its datastreams: in the log before the message, and whole or not at all.
//!
//! A datastream of which something new is said has one record, however often a message says it, so that the log does
//! not grow with the square of what comes. The decision worth arguing: whether the log has room for all of it is asked
//! first, since what was learned of a message that is then refused could not be unlearned.

use crate::decoded::fill_places;
use crate::descriptions::{self, Known, Learned};
use crate::entry;
use crate::fault::Fault;
use crate::hub::{Core, Hub};
use crate::limits::LEARNED_BYTES_MAX;
use crate::state::catalog::Catalog;
use crate::state::numbers::{StreamId, Streams};
use smallvec::SmallVec;
use weir_model::{Batch, Place, Time};
use weir_storage::LogFault;

impl Hub {
    /// Finds the datastreams of a batch, learns what it says of them (records of their own in the log, so that they
    /// outlive retention) and fills in what it leaves out. Nothing is learned of a message of so many bytes that the
    /// log has no room for.
    pub(crate) fn learn(
        &self,
        core: &mut Core,
        now: Time,
        batch: &mut Batch,
        (known, body_bytes): (&Known, usize),
    ) -> Result<Streams, Fault> {
        let learned = descriptions::hear(&core.catalog, batch, known, now);
        if !learned.is_empty() {
            self.keep_learned(core, now, learned, body_bytes)?;
        }
        Ok(fill(&core.catalog, batch, known))
    }

    fn keep_learned(
        &self,
        core: &mut Core,
        now: Time,
        learned: Vec<Learned>,
        body_bytes: usize,
    ) -> Result<(), Fault> {
        let (mut bytes, mut bytes_of_known) = (0, 0);
        for Learned { id, datastream, .. } in &learned {
            let each = entry::to_json(datastream).len();
            bytes += each;
            bytes_of_known += id.map_or(0, |_| each);
        }
        if bytes_of_known > LEARNED_BYTES_MAX {
            return Err(Fault::OverLimit {
                what: "bytes of what a message makes known of datastreams",
                limit: LEARNED_BYTES_MAX,
            });
        }
        if self.log.room() < bytes + body_bytes {
            return Err(LogFault::Busy.into());
        }
        for Learned {
            topic,
            mut datastream,
            ..
        } in learned
        {
            datastream.number = Some(core.catalog.known(&topic).0);
            let cursor = self.append_change(now, &topic, &entry::to_json(&datastream))?;
            let id = core.catalog.intern(&topic);
            core.catalog.take(id, cursor, datastream);
            core.journal.note(&topic);
        }
        Ok(())
    }
}

/// Fills in what is known of datastreams and a message leaves out; gives those of its parts.
pub(crate) fn fill(catalog: &Catalog, batch: &mut Batch, known: &Known) -> Streams {
    let mut streams = Streams::with_capacity(batch.stream_count());
    for index in 0..batch.stream_count() {
        // What was not known may be by now; and parts whose rows were made under several descriptions became more.
        let id = known.get(index).copied().flatten();
        let Some(id) = id.or_else(|| catalog.find(batch.stream(index).topic)) else {
            continue;
        };
        batch.fill(index, &catalog.entry(id).datastream);
        streams.push(id);
    }
    let place = |&id: &StreamId| catalog.entry(id).datastream.place;
    let places: SmallVec<[Option<Place>; 4]> = streams.iter().map(place).collect();
    fill_places(batch, &places);
    streams
}
