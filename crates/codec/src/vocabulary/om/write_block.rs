//! O&M 1.0: one `om:Observation` for each datastream, its results in one block of values.
//!
//! Observations of one datastream keep their order; how those of several were interleaved is lost,
//! which is the price of the block. Where and of what is said once, where it is the same for all.

use super::{GML31, HREF, OM10, SAMPLING10, SWE101, UNKNOWN, XLINK, urn};
use crate::infoset::xml_text::{Prefix, XmlText};
use crate::infoset::{Atom, Emit, Name};
use crate::vocabulary::swe::block_write::{Fields, write_record};
use crate::vocabulary::swe::{Kind, Role, is_symbol};
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::batch::{Naming, StreamView};
use weir_model::{Batch, Observation, Place, Time};

/// The namespaces of such a document.
pub(crate) const PREFIXES: &[Prefix] = &[
    ("om", OM10),
    ("gml", GML31),
    ("swe", SWE101),
    ("sa", SAMPLING10),
    ("xlink", XLINK),
];

pub(super) const fn om(local: &'static str) -> Name<'static> {
    Name { uri: OM10, local }
}

pub(super) const fn gml(local: &'static str) -> Name<'static> {
    Name { uri: GML31, local }
}

pub(super) const fn swe(local: &'static str) -> Name<'static> {
    Name { uri: SWE101, local }
}

const fn sa(local: &'static str) -> Name<'static> {
    Name {
        uri: SAMPLING10,
        local,
    }
}

/// Writes a whole message.
pub(crate) fn write(batch: &Batch, emit: &mut impl Emit) {
    emit.start(om("ObservationCollection"));
    if batch.is_empty() {
        emit.start(om("member"));
        emit.end(om("member"));
    }
    let mut order = Order::of(batch);
    for rows in order.by_stream(batch) {
        emit.start(om("member"));
        let rows = Rows {
            batch,
            rows,
            first: 0,
            feature: None,
        };
        write_observation(&rows, emit);
        emit.end(om("member"));
    }
    emit.end(om("ObservationCollection"));
}

/// Writes observations into a service's answer, one for each datastream.
pub(crate) fn write_within(batch: &Batch, placement: &super::Placement<'_>, out: &mut Vec<u8>) {
    let mut order = Order::of(batch);
    for rows in order.by_stream(batch) {
        let stream = batch.stream_of(rows[0] as usize);
        let rows = Rows {
            batch,
            rows,
            first: placement.first,
            feature: placement.features.get(stream).map(String::as_str),
        };
        out.extend_from_slice(placement.before.as_bytes());
        write_observation(&rows, &mut XmlText::within(PREFIXES, out));
        out.extend_from_slice(placement.after.as_bytes());
    }
}

/// Rows sorted by datastream without the heap, where they are few.
const ROWS_ON_STACK: usize = 64;

struct Order {
    few: [u32; ROWS_ON_STACK],
    many: Vec<u32>,
    count: usize,
}

impl Order {
    fn of(batch: &Batch) -> Self {
        let count = batch.len();
        let mut order = Self {
            few: core::array::from_fn(|index| index as u32),
            many: Vec::new(),
            count,
        };
        if count > ROWS_ON_STACK {
            order.many.extend(0..count as u32);
        }
        order
    }

    /// The rows of each datastream, in their order.
    fn by_stream(&mut self, batch: &Batch) -> impl Iterator<Item = &[u32]> {
        let rows = if self.many.is_empty() {
            &mut self.few[..self.count]
        } else {
            &mut self.many[..]
        };
        let stream = |row: &u32| batch.stream_of(*row as usize);
        rows.sort_unstable_by_key(|row| (stream(row), *row));
        rows.chunk_by(move |one, other| stream(one) == stream(other))
    }
}

/// Rows of one datastream, at least one.
struct Rows<'a> {
    batch: &'a Batch,
    rows: &'a [u32],
    /// Number of the batch's first row.
    first: usize,
    /// What those are of that name no feature.
    feature: Option<&'a str>,
}

impl<'a> Rows<'a> {
    fn iter(&self) -> impl Iterator<Item = Observation<'a>> + use<'a> {
        let batch = self.batch;
        let rows = self.rows.iter();
        rows.map(move |row| batch.row(*row as usize))
    }

    /// What all rows have in common, if they have.
    fn shared<T: PartialEq>(&self, of: impl Fn(&Observation<'a>) -> Option<T>) -> Option<T> {
        let mut rows = self.iter();
        let first = of(&rows.next()?)?;
        let same = rows.all(|row| of(&row).as_ref() == Some(&first));
        same.then_some(first)
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        self.iter().for_each(|row| fields.add(&row));
        fields
    }

    /// From the first to the last instant.
    fn period(&self) -> Option<(Time, Time)> {
        let times = self.iter().flat_map(|row| [row.time, row.extra.end]);
        times.flatten().fold(None, |period, time| {
            let (from, to) = period.unwrap_or((time, time));
            Some((from.min(time), to.max(time)))
        })
    }
}

fn write_observation(rows: &Rows<'_>, emit: &mut impl Emit) {
    let stream = rows
        .batch
        .stream(rows.batch.stream_of(rows.rows[0] as usize));
    let place = rows.shared(|row| row.place);
    let feature = rows.shared(|row| row.extra.feature);
    let mut fields = rows.fields();
    if place.is_some() {
        fields.without(Role::Lat);
        fields.without(Role::Lon);
    }
    if feature.is_some() {
        fields.without(Role::Feature);
    }
    emit.start(om("Observation"));
    write_sampling_time(rows.period(), emit);
    write_link(om("procedure"), stream.sensor, emit);
    write_link(om("observedProperty"), stream.property, emit);
    let told = feature.or(rows.feature.filter(|_| !fields.has(Role::Feature)));
    let number = rows.first + rows.rows[0] as usize;
    write_feature(told, place, number, emit);
    let topic = (stream.naming != Naming::Sent).then_some(stream.topic);
    write_parameter(urn::TOPIC, topic, emit);
    let unit_apart = stream.unit.filter(|_| fields.kind() != Kind::Number);
    write_parameter(urn::UNIT, unit_apart, emit);
    emit.start(om("result"));
    write_array(rows, &stream, &fields, emit);
    emit.end(om("result"));
    emit.end(om("Observation"));
}

pub(super) fn write_link(name: Name<'static>, href: Option<&str>, emit: &mut impl Emit) {
    emit.start(name);
    emit.attribute(HREF, Atom::Text(href.unwrap_or(UNKNOWN)));
    emit.end(name);
}

pub(super) fn write_leaf(name: Name<'static>, value: Atom<'_>, emit: &mut impl Emit) {
    emit.start(name);
    emit.content(value);
    emit.end(name);
}

fn write_sampling_time(period: Option<(Time, Time)>, emit: &mut impl Emit) {
    let Some((from, to)) = period else {
        return write_link(om("samplingTime"), None, emit);
    };
    emit.start(om("samplingTime"));
    emit.start(gml("TimePeriod"));
    write_leaf(gml("beginPosition"), Atom::Time(from), emit);
    write_leaf(gml("endPosition"), Atom::Time(to), emit);
    emit.end(gml("TimePeriod"));
    emit.end(om("samplingTime"));
}

/// A place makes the feature a sampling point, as servers of the Sensor Observation Service have it.
pub(super) fn write_feature(
    feature: Option<&str>,
    place: Option<Place>,
    number: usize,
    emit: &mut impl Emit,
) {
    let Some(place) = place else {
        return write_link(om("featureOfInterest"), feature, emit);
    };
    emit.start(om("featureOfInterest"));
    emit.start(sa("SamplingPoint"));
    emit.attribute(gml("id"), Atom::Id("f", number));
    write_link(sa("sampledFeature"), feature, emit);
    emit.start(sa("position"));
    emit.start(gml("Point"));
    let wgs84 = "urn:ogc:def:crs:EPSG::4326";
    emit.attribute(Name::local("srsName"), Atom::Text(wgs84));
    let pos = Atom::Pair(place.latitude, place.longitude);
    write_leaf(gml("pos"), pos, emit);
    emit.end(gml("Point"));
    emit.end(sa("position"));
    emit.end(sa("SamplingPoint"));
    emit.end(om("featureOfInterest"));
}

pub(super) fn write_parameter(name: &str, text: Option<&str>, emit: &mut impl Emit) {
    let Some(text) = text else { return };
    emit.start(om("parameter"));
    emit.start(swe("Text"));
    emit.attribute(Name::local("definition"), Atom::Text(name));
    write_leaf(swe("value"), Atom::Text(text), emit);
    emit.end(swe("Text"));
    emit.end(om("parameter"));
}

fn write_array(rows: &Rows<'_>, stream: &StreamView<'_>, fields: &Fields, emit: &mut impl Emit) {
    emit.start(swe("DataArray"));
    emit.start(swe("elementCount"));
    emit.start(swe("Count"));
    write_leaf(swe("value"), Atom::Number(rows.rows.len() as f64), emit);
    emit.end(swe("Count"));
    emit.end(swe("elementCount"));
    emit.start(swe("elementType"));
    emit.attribute(Name::local("name"), Atom::Text("record"));
    emit.start(swe("DataRecord"));
    for role in fields.roles() {
        write_field(role, stream, emit);
    }
    emit.end(swe("DataRecord"));
    emit.end(swe("elementType"));
    write_encoding(emit);
    write_values(rows, fields, emit);
    emit.end(swe("DataArray"));
}

fn write_field(role: Role, stream: &StreamView<'_>, emit: &mut impl Emit) {
    emit.start(swe("field"));
    emit.attribute(Name::local("name"), Atom::Text(role.name()));
    let definition = Name::local("definition");
    let component = match role {
        Role::Value(Kind::Number) => swe("Quantity"),
        Role::Value(Kind::Bool) => swe("Boolean"),
        Role::Lat | Role::Lon => swe("Quantity"),
        Role::Time | Role::End | Role::ResultTime | Role::ValidFrom | Role::ValidTo => swe("Time"),
        _ => swe("Text"),
    };
    emit.start(component);
    match role {
        Role::Time => emit.attribute(definition, Atom::Text("urn:ogc:data:time:iso8601")),
        Role::Value(Kind::Number | Kind::Bool) => {
            if let Some(property) = stream.property {
                emit.attribute(definition, Atom::Text(property));
            }
        }
        own => emit.attribute(definition, Atom::Text(own.definition())),
    }
    if let (Role::Value(Kind::Number), Some(unit)) = (role, stream.unit) {
        let code = if is_symbol(unit) {
            Name::local("code")
        } else {
            HREF
        };
        emit.start(swe("uom"));
        emit.attribute(code, Atom::Text(unit));
        emit.end(swe("uom"));
    }
    emit.end(component);
    emit.end(swe("field"));
}

fn write_encoding(emit: &mut impl Emit) {
    emit.start(swe("encoding"));
    emit.start(swe("TextBlock"));
    for (name, mark) in [
        ("decimalSeparator", "."),
        ("tokenSeparator", ","),
        ("blockSeparator", ";"),
    ] {
        emit.attribute(Name::local(name), Atom::Text(mark));
    }
    emit.end(swe("TextBlock"));
    emit.end(swe("encoding"));
}

fn write_values(rows: &Rows<'_>, fields: &Fields, emit: &mut impl Emit) {
    emit.start(swe("values"));
    for row in rows.iter() {
        write_record(&row, fields, emit);
        emit.content(Atom::Text(";"));
    }
    emit.end(swe("values"));
}
