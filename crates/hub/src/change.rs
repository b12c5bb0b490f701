//! What a datastream is: set, or forgotten.

use crate::access::{Principal, Verb};
use crate::checks::check_own;
use crate::entry;
use crate::exchange::{Fault, Ticket};
use crate::hub::{Hub, denied};
use crate::limits::DATASTREAMS_MAX;
use weir_model::{Datastream, Time, topic};

impl Hub {
    pub(crate) fn change(
        &self,
        now: Time,
        principal: &Principal,
        topic: &str,
        datastream: Option<Datastream>,
    ) -> Result<Ticket, Fault> {
        topic::check(topic).map_err(Fault::Topic)?;
        check_own(principal, topic)?;
        if !principal.grants.allow(Verb::Change, topic) {
            return Err(denied(principal, Verb::Change, topic));
        }
        match datastream {
            Some(datastream) => {
                entry::check_lengths(&[
                    ("bytes of a name", datastream.name.as_deref()),
                    ("bytes of a sensor", datastream.sensor.as_deref()),
                    ("bytes of a type", datastream.property.as_deref()),
                    ("bytes of a unit", datastream.unit.as_deref()),
                ])?;
                entry::check_about(datastream.about.as_deref())?;
                self.set(now, topic, datastream)
            }
            None => self.forget(now, topic),
        }
    }

    /// Its number stays, and what is known beyond its core where nothing is said of that.
    fn set(&self, now: Time, topic: &str, mut datastream: Datastream) -> Result<Ticket, Fault> {
        let mut core = self.core();
        let too_many = Fault::OverLimit {
            what: "datastreams",
            limit: DATASTREAMS_MAX,
        };
        if core.catalog.find(topic).is_none() && core.catalog.is_full() {
            return Err(too_many);
        }
        let (number, about) = core.catalog.known(topic);
        datastream.number = Some(number);
        datastream.about = datastream.about.or(about);
        let cursor = self.append_change(now, topic, &entry::to_json(&datastream))?;
        core.journal.note(topic);
        let id = core.catalog.intern(topic).ok_or(too_many)?;
        core.catalog.slot(id).entry.describe(cursor, datastream);
        Ok(self.ticket(cursor))
    }

    fn forget(&self, now: Time, topic: &str) -> Result<Ticket, Fault> {
        let mut core = self.core();
        if core.catalog.find(topic).is_none() {
            return Err(Fault::Unknown(topic.into()));
        }
        let cursor = self.append_change(now, topic, &[])?;
        core.catalog.remove(topic);
        core.journal.note(topic);
        self.forget_withdrawn(&mut core, now, topic)?;
        self.enqueue_forget(cursor, topic);
        Ok(self.ticket(cursor))
    }
}
