//! What an observation says beside its result, kept until the result comes.

use crate::rows::Rows;
use crate::unescaped::Unescaped;
use crate::vocabulary::swe::array::Common;
use crate::vocabulary::swe::block_read::Shared;
use alloc::string::String;
use weir_model::batch::Naming;
use weir_model::{Extra, Time};

/// A text that may be there.
#[derive(Default)]
pub(super) struct Kept {
    text: Unescaped,
    there: bool,
}

impl Kept {
    pub(super) fn set(&mut self, text: &str) {
        self.text.clear();
        self.text.push(text.as_bytes());
        self.there = true;
    }

    pub(super) fn get(&self) -> Option<&str> {
        self.there.then(|| self.text.as_str())
    }

    fn clear(&mut self) {
        self.there = false;
    }
}

/// The properties of one observation.
#[derive(Default)]
pub(super) struct Context {
    pub(super) topic: Kept,
    pub(super) sensor: Kept,
    pub(super) property: Kept,
    pub(super) unit: Kept,
    pub(super) quality: Kept,
    pub(super) feature: Kept,
    pub(super) parameters: Kept,
    /// Parameters that are not weir's, as members of an object that lacks its brackets.
    pub(super) others: String,
    pub(super) times: Times,
    pub(super) latitude: Option<f64>,
    pub(super) longitude: Option<f64>,
    /// Whether the result is JSON in a string.
    pub(super) json: bool,
    /// Whether a result was met.
    pub(super) done: bool,
}

/// The times of one observation.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) begin: Option<Time>,
    pub(super) end: Option<Time>,
    pub(super) result: Option<Time>,
    pub(super) valid: Option<(Time, Time)>,
}

impl Context {
    /// Forgets the observation before.
    pub(super) fn clear(&mut self) {
        for text in [
            &mut self.topic,
            &mut self.sensor,
            &mut self.property,
            &mut self.unit,
            &mut self.quality,
            &mut self.feature,
            &mut self.parameters,
        ] {
            text.clear();
        }
        self.others.clear();
        self.times = Times::default();
        (self.latitude, self.longitude) = (None, None);
        (self.json, self.done) = (false, false);
    }

    /// Closes the object of parameters that are not weir's.
    pub(super) fn close_others(&mut self) {
        if self.parameters.get().is_none() && !self.others.is_empty() {
            self.others.push('}');
            self.parameters.set(&self.others);
        }
    }

    fn extra(&self) -> Extra<'_> {
        Extra {
            end: self.times.end,
            result_time: self.times.result,
            valid: self.times.valid,
            quality: self.quality.get(),
            feature: self.feature.get(),
            parameters: self.parameters.get(),
        }
    }

    /// Sets all but the result of an observation that was begun.
    pub(super) fn set(&self, rows: &mut Rows<'_>) {
        if let Some(topic) = self.topic.get() {
            rows.topic(Naming::Topic, topic);
        }
        let (sensor, property, unit) = (&self.sensor, &self.property, &self.unit);
        sensor.get().into_iter().for_each(|uri| rows.sensor(uri));
        property.get().into_iter().for_each(|it| rows.property(it));
        unit.get().into_iter().for_each(|code| rows.unit(code));
        self.times.begin.into_iter().for_each(|it| rows.time(it));
        self.latitude.into_iter().for_each(|it| rows.latitude(it));
        self.longitude.into_iter().for_each(|it| rows.longitude(it));
        let extra = self.extra();
        if !extra.is_empty() {
            rows.extra(extra);
        }
    }

    /// What all records of a block share: all but the times, which the records have themselves.
    pub(super) fn common(&self) -> Common<'_> {
        Common {
            topic: self.topic.get(),
            sensor: self.sensor.get(),
            property: self.property.get(),
            unit: self.unit.get(),
            shared: Shared {
                extra: Extra {
                    end: None,
                    ..self.extra()
                },
                latitude: self.latitude,
                longitude: self.longitude,
            },
        }
    }
}
