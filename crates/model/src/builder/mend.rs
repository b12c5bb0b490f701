//! What is not taken as it stands: what is noted of it, and what becomes of names that can be no topics.

use super::{BatchBuilder, BatchError};
use crate::batch::{Naming, Place, Span};
use crate::flaw::{self, Flaw, FlawKind};
use crate::time::Time;
use crate::topic;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl BatchBuilder {
    /// From here on until it is cleared or finished, has decoders leave out what is wrong, and note that, where they
    /// would refuse the whole.
    pub fn forgive(&mut self) {
        self.forgiving = true;
    }

    /// Whether a part that is wrong is to cost itself and no more.
    #[inline]
    pub fn is_forgiving(&self) -> bool {
        self.forgiving
    }

    /// Notes what is not taken as it stands; of the datastream of the observation begun, where that is named.
    pub fn note(&mut self, kind: FlawKind, what: String) {
        let stream = self.row.stream;
        let below = stream.topic.of(&self.batch.names);
        let below = below.filter(|_| stream.naming == Naming::Below);
        self.note_flaw(Flaw::new(kind, what).of(below.unwrap_or_default()));
    }

    /// Notes a flaw, where it is not noted already.
    pub fn note_flaw(&mut self, flaw: Flaw) {
        flaw::note(&mut self.flaws, flaw);
    }

    /// What was noted since the builder was cleared or finished last; no more after.
    pub fn take_flaws(&mut self) -> Vec<Flaw> {
        core::mem::take(&mut self.flaws)
    }

    /// Whether the observation begun can be one.
    pub fn check(&self) -> Result<(), BatchError> {
        self.checked().map(drop)
    }

    /// The place is not known.
    pub fn no_place(&mut self) {
        self.row.place = Place::NOWHERE;
    }

    /// Completes what could not be completed as it stands, for this reason.
    #[cold]
    pub(super) fn mend(
        &mut self,
        sent_to: &str,
        arrival: Time,
        error: BatchError,
    ) -> Result<(), BatchError> {
        let count = self.batch.streams.len();
        let kept: Vec<bool> = (0..count).map(|of| self.mend_name(of, sent_to)).collect();
        if kept.iter().any(|kept| !kept) {
            if !self.is_forgiving() {
                return Err(error);
            }
            self.batch = self.batch.select(|row| kept[self.batch.stream_of(row)]);
        }
        if self.batch.is_empty() {
            Err(error)
        } else {
            self.batch.complete(sent_to, arrival)
        }
    }

    /// Makes a datastream's name one that can be a topic, and says whether it is.
    fn mend_name(&mut self, index: usize, sent_to: &str) -> bool {
        let Err(error) = self.batch.full_topic(index, sent_to) else {
            return true;
        };
        let stream = self.batch.stream(index);
        let (name, naming) = (stream.topic.to_owned(), stream.naming);
        let escaped = topic::escaped(&name);
        let is_topic = |name: &str| topic::check(&format!("{sent_to}/{name}")).is_ok();
        if naming == Naming::Below && is_topic(&escaped) {
            let what = format!("`{name}` can be no topic: it is at `{escaped}`");
            self.note_flaw(Flaw::new(FlawKind::Name, what).of(escaped.as_str()));
            self.batch.streams[index].topic = Span::append(&mut self.batch.names, &escaped);
            return true;
        }
        let short: String = name.chars().take(64).collect();
        let what = format!("`{short}` is left out: {error}");
        self.note_flaw(Flaw::new(FlawKind::Name, what));
        false
    }
}
