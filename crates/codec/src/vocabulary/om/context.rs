//! What an observation says beside its result, kept until the result comes.

use super::properties::add_member;
use crate::crs::{HEIGHT, Position};
use crate::rows::Rows;
use crate::unescaped::Unescaped;
use crate::vocabulary::swe::array::Common;
use crate::vocabulary::swe::block_read::Shared;
use alloc::string::String;
use weir_model::batch::Naming;
use weir_model::{Extra, Time, Value};

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
    /// Where it was made.
    pub(super) position: Option<Position>,
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
        self.position = None;
        (self.json, self.done) = (false, false);
    }

    /// Closes the object of parameters that are not weir's, among which is the height that places lack. An object of
    /// weir's own goes on behind them.
    pub(super) fn close_others(&mut self) {
        if let Some(height) = self.position.and_then(|position| position.height) {
            add_member(HEIGHT, Value::Number(height), &mut self.others);
        }
        if self.others.is_empty() {
            return;
        }
        let own = self.parameters.get().unwrap_or_default().trim_ascii();
        match own.strip_prefix('{').map(str::trim_ascii_start) {
            Some(rest) if !rest.starts_with('}') => {
                self.others.push(',');
                self.others.push_str(rest);
            }
            _ => self.others.push('}'),
        }
        self.parameters.set(&self.others);
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
        if let Some(Position { place, .. }) = self.position {
            rows.latitude(place.latitude);
            rows.longitude(place.longitude);
        }
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
                latitude: self.position.map(|position| position.place.latitude),
                longitude: self.position.map(|position| position.place.longitude),
            },
        }
    }
}
