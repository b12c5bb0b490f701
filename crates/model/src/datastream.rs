//! What a datastream is: the catalog's entry.

use crate::batch::Place;
use alloc::boxed::Box;

/// One sensor, one observed property, one unit (OGC 18-088 section 8.2.4), named by its topic.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Datastream {
    /// Label for people.
    pub name: Option<Box<str>>,
    /// URI of the sensor (procedure).
    pub sensor: Option<Box<str>>,
    /// Observed property; `type` on the wire.
    pub property: Option<Box<str>>,
    /// Unit of measurement, UCUM.
    pub unit: Option<Box<str>>,
    /// Where the sensor is, degrees WGS 84.
    pub place: Option<Place>,
    /// Greatest value to be expected: what a bar of full height stands for (Babovic, section V).
    pub maximum: Option<f64>,
    /// Small number that the gateway gives it and never gives again while it is known.
    pub number: Option<u32>,
    /// What services know of it beyond this, as a compact JSON object.
    pub about: Option<Box<str>>,
}

impl Datastream {
    /// Takes over what `newer` says and keeps the rest; says whether anything changed.
    pub fn learn(&mut self, newer: &Datastream) -> bool {
        let before = self.clone();
        learn(&mut self.name, &newer.name);
        learn(&mut self.sensor, &newer.sensor);
        learn(&mut self.property, &newer.property);
        learn(&mut self.unit, &newer.unit);
        learn(&mut self.place, &newer.place);
        learn(&mut self.maximum, &newer.maximum);
        learn(&mut self.about, &newer.about);
        *self != before
    }
}

fn learn<T: Clone>(known: &mut Option<T>, newer: &Option<T>) {
    if newer.is_some() {
        known.clone_from(newer);
    }
}
