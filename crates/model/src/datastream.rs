//! What a datastream is, and what it was: the catalog's entry.

use crate::batch::{Place, StreamView};
use crate::limits::DESCRIPTIONS_MAX;
use crate::time::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Before all times.
const ALWAYS: Time = Time::from_nanos(i64::MIN);

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
    /// Whether who may change it said what it is: an observation that contradicts that is refused, and none changes
    /// what it is.
    pub declared: bool,
    /// All descriptions that it had, by their numbers, the one that it has among them; empty where it never had
    /// another. Sensor, property and unit above are those of the newest.
    pub descriptions: Vec<Description>,
}

/// Sensor, property and unit of a datastream from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The phenomenon time from which it holds.
    pub from: Time,
    /// When the message or the request came that told of it.
    pub learned: Time,
    /// Whether who may change the datastream said so.
    pub declared: bool,
    /// URI of the sensor.
    pub sensor: Option<Box<str>>,
    /// Observed property.
    pub property: Option<Box<str>>,
    /// Unit of measurement.
    pub unit: Option<Box<str>>,
}

/// What a description says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Described<'a> {
    /// URI of the sensor.
    pub sensor: Option<&'a str>,
    /// Observed property.
    pub property: Option<&'a str>,
    /// Unit of measurement.
    pub unit: Option<&'a str>,
}

/// Whether a text says nothing: it is empty, or nothing but white space.
#[inline]
pub fn is_blank(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'!'..=b'~') => false,
        _ => text.trim().is_empty(),
    }
}

/// What is said of an observation beside what its datastream was declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contradiction<'a> {
    /// Of what: `sensor`, `type` or `unit`.
    pub what: &'static str,
    /// What was declared.
    pub declared: &'a str,
    /// What is said.
    pub said: &'a str,
}

impl<'a> Described<'a> {
    /// What a part of a message says.
    pub fn of(view: &StreamView<'a>) -> Self {
        Self {
            sensor: view.sensor,
            property: view.property,
            unit: view.unit,
        }
    }

    /// The same with what another says in the place of what this does.
    pub fn with(self, other: Self) -> Self {
        Self {
            sensor: other.sensor.or(self.sensor),
            property: other.property.or(self.property),
            unit: other.unit.or(self.unit),
        }
    }

    /// What another says that is not what this says.
    pub fn contradicted(self, other: Self) -> Option<Contradiction<'a>> {
        let of = |what, declared: Option<&'a str>, said: Option<&'a str>| {
            let (declared, said) = declared.zip(said)?;
            (declared != said).then_some(Contradiction {
                what,
                declared,
                said,
            })
        };
        of("sensor", self.sensor, other.sensor)
            .or_else(|| of("type", self.property, other.property))
            .or_else(|| of("unit", self.unit, other.unit))
    }

    /// What of it another does not say.
    #[inline]
    pub fn beyond(self, other: Described<'_>) -> Self {
        Self {
            sensor: self.sensor.filter(|said| other.sensor != Some(*said)),
            property: self.property.filter(|said| other.property != Some(*said)),
            unit: self.unit.filter(|said| other.unit != Some(*said)),
        }
    }

    /// Whether it says nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sensor.is_none() && self.property.is_none() && self.unit.is_none()
    }
}

impl Description {
    /// What it says.
    pub fn says(&self) -> Described<'_> {
        Described {
            sensor: self.sensor.as_deref(),
            property: self.property.as_deref(),
            unit: self.unit.as_deref(),
        }
    }

    fn new(from: Time, learned: Time, declared: bool, says: Described<'_>) -> Self {
        Self {
            from,
            learned,
            declared,
            sensor: says.sensor.map(Into::into),
            property: says.property.map(Into::into),
            unit: says.unit.map(Into::into),
        }
    }
}

impl Datastream {
    /// Forgets names that say nothing.
    pub fn drop_blanks(&mut self) {
        let Self {
            name,
            sensor,
            property,
            unit,
            ..
        } = self;
        for text in [name, sensor, property, unit] {
            text.take_if(|text| is_blank(text));
        }
        for own in &mut self.descriptions {
            for text in [&mut own.sensor, &mut own.property, &mut own.unit] {
                text.take_if(|text| is_blank(text));
            }
        }
    }

    /// Takes over what is said and keeps the rest.
    pub fn learn(&mut self, said: Described<'_>) {
        for (known, said) in [
            (&mut self.sensor, said.sensor),
            (&mut self.property, said.property),
            (&mut self.unit, said.unit),
        ] {
            if said.is_some() {
                *known = said.map(Into::into);
            }
        }
    }

    /// What its newest description says.
    #[inline]
    pub fn says(&self) -> Described<'_> {
        Described {
            sensor: self.sensor.as_deref(),
            property: self.property.as_deref(),
            unit: self.unit.as_deref(),
        }
    }

    /// What the description of this number says; nothing, where there is none of it.
    pub fn described(&self, number: u8) -> Described<'_> {
        if self.descriptions.is_empty() {
            return self.says();
        }
        let found = self.descriptions.get(usize::from(number));
        found.map_or(Described::default(), Description::says)
    }

    /// The number of the description that holds at a time, as far as was known when something came: the last that
    /// begins by then, or the first of all.
    pub fn in_force(&self, time: Time, arrival: Time) -> u8 {
        let known = self.descriptions.iter().enumerate();
        let known = known.filter(|(_, own)| own.learned <= arrival);
        let begun = known.clone().filter(|(_, own)| own.from <= time);
        let last = begun.max_by_key(|(number, own)| rank(*number, own));
        let first = || known.min_by_key(|(number, own)| (own.from, *number));
        last.or_else(first).map_or(0, |(number, _)| number as u8)
    }

    /// From when on each description held, by time, as far as is known now; none where it never had another.
    pub fn timeline(&self) -> Vec<(Time, u8)> {
        let mut begins: Vec<Time> = self.descriptions.iter().map(|own| own.from).collect();
        begins.sort_unstable();
        let now = Time::from_nanos(i64::MAX);
        let held = begins
            .into_iter()
            .map(|from| (from, self.in_force(from, now)));
        let mut timeline: Vec<(Time, u8)> = held.collect();
        timeline.dedup_by_key(|(_, number)| *number);
        timeline
    }

    /// The number of the description that says this.
    pub fn number_of(&self, says: Described<'_>) -> Option<u8> {
        let same = |own: &Description| own.says() == says;
        if self.descriptions.is_empty() {
            (self.says() == says).then_some(0)
        } else {
            self.descriptions.iter().position(same).map(|it| it as u8)
        }
    }

    /// Adds a description; its number, unless there are too many. One from before the `last` observation ends with
    /// that: what held there goes on from there. None begins later than it is learned.
    pub fn describe(
        &mut self,
        (from, last): (Time, Option<Time>),
        learned: Time,
        says: Described<'_>,
    ) -> Option<u8> {
        if self.descriptions.is_empty() {
            let first = Description::new(ALWAYS, ALWAYS, self.declared, self.says());
            self.descriptions.push(first);
        }
        let number = self.descriptions.len();
        if number >= DESCRIPTIONS_MAX {
            return None;
        }
        let from = from.min(learned);
        let held = last.map(|last| (last, usize::from(self.in_force(last, learned))));
        let said = Description::new(from, learned, false, says);
        self.descriptions.push(said);
        let is_late = |&(last, _): &(Time, usize)| {
            from < last && usize::from(self.in_force(last, learned)) == number
        };
        if let Some((last, held)) = held.filter(is_late)
            && number + 1 < DESCRIPTIONS_MAX
        {
            let on = Description {
                from: last,
                learned,
                ..self.descriptions[held].clone()
            };
            self.descriptions.push(on);
        }
        self.tell_newest();
        Some(number as u8)
    }

    /// Has it be what is declared, from now on; `false` where it has too many descriptions. What is left out stays.
    /// What was not known is known of all that was observed under the description of now; what contradicts that
    /// begins another one, unless nothing `is_observed`.
    pub fn declare(&mut self, said: Described<'_>, now: Time, is_observed: bool) -> bool {
        self.bound(now);
        let held = self.described(self.in_force(now, now));
        if !is_observed || held.contradicted(said).is_none() {
            self.correct(said, now);
            return true;
        }
        let told = Description::new(now, now, true, held.with(said));
        if self.descriptions.is_empty() {
            let first = Description::new(ALWAYS, ALWAYS, self.declared, self.says());
            self.descriptions.push(first);
        }
        let has_room = self.descriptions.len() < DESCRIPTIONS_MAX;
        if has_room {
            self.declared = true;
            self.descriptions.push(told);
            self.tell_newest();
        }
        has_room
    }

    /// Has its description of now say what is said, and so of all that was observed under it; what is left out stays.
    pub fn correct(&mut self, said: Described<'_>, now: Time) {
        self.bound(now);
        self.declared |= !said.is_empty();
        let held = usize::from(self.in_force(now, now));
        match self.descriptions.get_mut(held) {
            None => self.learn(said),
            Some(own) => {
                let is_declared = own.declared || !said.is_empty();
                let whole = own.says().with(said);
                *own = Description::new(own.from, own.learned, is_declared, whole);
                self.tell_newest();
            }
        }
    }

    /// Has no description begin or be learned later than now: one that does came by a clock that was ahead. Says
    /// whether there was one.
    pub fn bound(&mut self, now: Time) -> bool {
        let mut is_bound = false;
        for own in &mut self.descriptions {
            let learned = own.learned.min(now);
            let from = own.from.min(learned);
            is_bound |= (from, learned) != (own.from, own.learned);
            (own.from, own.learned) = (from, learned);
        }
        is_bound
    }

    /// Whether a description begins or was learned later than now.
    pub fn is_ahead(&self, now: Time) -> bool {
        let mut all = self.descriptions.iter();
        all.any(|own| own.learned > now || own.from > own.learned)
    }

    /// Has it be described as another one is.
    pub fn keep_descriptions(&mut self, other: &Self) {
        self.descriptions.clone_from(&other.descriptions);
        self.declared = other.declared;
        self.tell_newest();
    }

    fn tell_newest(&mut self) {
        if let Some(newest) = self.newest().map(|at| self.descriptions[at].clone()) {
            self.sensor = newest.sensor;
            self.property = newest.property;
            self.unit = newest.unit;
        }
    }

    /// The unit that it has now, or the last that it had.
    pub fn last_unit(&self) -> Option<&str> {
        let had = || {
            self.descriptions
                .iter()
                .rev()
                .find_map(|own| own.unit.as_deref())
        };
        self.unit.as_deref().or_else(had)
    }

    /// The number of the description that it has now.
    pub fn number(&self) -> u8 {
        self.newest().map_or(0, |number| number as u8)
    }

    fn newest(&self) -> Option<usize> {
        let each = self.descriptions.iter().enumerate();
        let newest = each.max_by_key(|(number, own)| rank(*number, own));
        newest.map(|(number, _)| number)
    }
}

/// The last one holds; what was declared before what was not.
fn rank(number: usize, own: &Description) -> (bool, Time, Time, usize) {
    (own.declared, own.from, own.learned, number)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn unit(unit: &str) -> Described<'_> {
        Described {
            unit: Some(unit),
            ..Described::default()
        }
    }

    fn at(second: i64) -> Time {
        Time::from_nanos(second)
    }

    #[test]
    fn each_time_has_the_description_that_held_then() {
        let mut river = Datastream {
            unit: Some("m".into()),
            ..Datastream::default()
        };
        assert_eq!(
            (river.in_force(at(5), at(5)), river.number_of(unit("m"))),
            (0, Some(0))
        );
        let first = river.describe((at(10), Some(at(9))), at(100), unit("cm"));
        assert_eq!(first, Some(1));
        assert_eq!(river.says(), unit("cm"));
        let held = |time, arrival| river.described(river.in_force(at(time), at(arrival)));
        assert_eq!(held(9, 200), unit("m"));
        assert_eq!(held(10, 200), unit("cm"));
        assert_eq!(held(10, 99), unit("m"), "nobody knew");
        // Late, and of before: what it is now stays.
        let late = river.describe((at(4), Some(at(12))), at(300), unit("mm"));
        assert_eq!((late, river.descriptions.len()), (Some(2), 3));
        assert_eq!(river.says(), unit("cm"));
        let held = |time| river.described(river.in_force(at(time), at(999)));
        assert_eq!([3, 4, 9, 10].map(held), ["m", "mm", "mm", "cm"].map(unit));
        let timeline = [(i64::MIN, 0), (4, 2), (10, 1)].map(|(from, number)| (at(from), number));
        assert_eq!(river.timeline(), timeline);
        assert_eq!(river.number_of(unit("mm")), Some(2));
        river.correct(unit("dm"), at(999));
        assert_eq!(river.described(1), unit("dm"));
        assert_eq!(river.described(0), unit("m"));
    }

    #[test]
    fn a_declaration_holds_from_now_on_and_fills_in_what_was_open() {
        let mut river = Datastream::default();
        assert!(river.declare(unit("m"), at(5), true));
        assert_eq!(river.descriptions, [], "it was not known");
        assert!(river.declare(unit("cm"), at(10), true));
        let held = |river: &Datastream, time| {
            river
                .described(river.in_force(at(time), at(99)))
                .unit
                .map(alloc::string::String::from)
        };
        assert_eq!(
            [held(&river, 9), held(&river, 10)],
            [Some("m".into()), Some("cm".into())]
        );
        let sensor = Described {
            sensor: Some("urn:s"),
            ..Described::default()
        };
        assert!(river.declare(sensor, at(20), true));
        assert_eq!(
            river.descriptions.len(),
            2,
            "of the sensor nothing was known"
        );
        assert_eq!(river.says(), sensor.with(unit("cm")));
        assert!(river.declare(Described::default(), at(30), true));
        assert_eq!(
            river.says(),
            sensor.with(unit("cm")),
            "what is left out stays"
        );
        assert!(river.declared);
    }

    #[test]
    fn a_clock_that_was_ahead_does_not_outlive_its_message() {
        let mut river = Datastream {
            unit: Some("m".into()),
            ..Datastream::default()
        };
        assert_eq!(
            river.describe((at(9000), Some(at(4))), at(10), unit("cm")),
            Some(1)
        );
        assert_eq!(
            river.descriptions[1].from,
            at(10),
            "no later than it was learned"
        );
        // The gateway's own clock.
        assert_eq!(
            river.describe((at(5000), None), at(5000), unit("mm")),
            Some(2)
        );
        assert!(river.is_ahead(at(20)));
        assert!(river.bound(at(20)) && !river.is_ahead(at(20)) && !river.bound(at(20)));
        assert_eq!(river.described(river.in_force(at(20), at(20))), unit("mm"));
        assert_eq!(river.described(river.in_force(at(15), at(30))), unit("cm"));
    }

    #[test]
    fn what_is_said_late_ends_where_something_else_was_observed() {
        let mut river = Datastream {
            unit: Some("cm".into()),
            ..Datastream::default()
        };
        let late = river.describe((at(4), Some(at(10))), at(100), unit("m"));
        assert_eq!((late, river.says()), (Some(1), unit("cm")));
        let held = |time| river.described(river.in_force(at(time), at(999)));
        assert_eq!([3, 4, 9, 10].map(held), ["cm", "m", "m", "cm"].map(unit));
        assert_eq!((river.number(), river.number_of(unit("cm"))), (2, Some(0)));
    }

    #[test]
    fn there_are_so_many_descriptions_and_no_more() {
        let mut one = Datastream::default();
        for number in 1..DESCRIPTIONS_MAX {
            let said = alloc::format!("u{number}");
            let given = one.describe((at(number as i64), None), at(0), unit(&said));
            assert_eq!(given, Some(number as u8));
        }
        let before = one.clone();
        assert_eq!(one.describe((at(999), None), at(0), unit("x")), None);
        assert_eq!(one, before);
    }
}
