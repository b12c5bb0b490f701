//! O&M 2.0: one `om:OM_Observation` for each result.

use super::{
    GML32, HREF, MISSING, NIL_REASON, OM20, SAMPLING_GEOMETRY, XLINK, XS, XSI, XSI_TYPE, urn,
};
use crate::infoset::xml_chars::is_text;
use crate::infoset::xml_text::{Prefix, XmlText};
use crate::infoset::{Atom, Emit, Name};
use crate::vocabulary::swe::is_symbol;
use alloc::string::String;
use alloc::vec::Vec;
use weir_model::batch::Naming;
use weir_model::percent;
use weir_model::{Batch, Extra, Observation, Place, Time, Value};

/// The namespaces of such a document.
pub(crate) const PREFIXES: &[Prefix] = &[
    ("om", OM20),
    ("gml", GML32),
    ("xlink", XLINK),
    ("xsi", XSI),
    ("xs", XS),
];

const fn om(local: &'static str) -> Name<'static> {
    Name { uri: OM20, local }
}

const fn gml(local: &'static str) -> Name<'static> {
    Name { uri: GML32, local }
}

const fn xs(local: &'static str) -> Name<'static> {
    Name { uri: XS, local }
}

/// A class of OGC's register.
macro_rules! class {
    ($name:literal) => {
        concat!(
            "http://www.opengis.net/def/observationType/OGC-OM/2.0/",
            $name
        )
    };
}

/// Writes a whole message.
pub(crate) fn write(batch: &Batch, emit: &mut impl Emit) {
    emit.start(gml("FeatureCollection"));
    emit.attribute(gml("id"), Atom::Text("c"));
    for (index, row) in batch.rows().enumerate() {
        emit.start(gml("featureMember"));
        write_observation(index, &row, emit);
        emit.end(gml("featureMember"));
    }
    emit.end(gml("FeatureCollection"));
}

/// Begins what an observation is called by, before its topic (in percent-encoding), its time, and behind `;` how many
/// of that time came before it, where any did.
pub(crate) const IDENTIFIER: &str = "urn:weir:observation:";

/// Writes observations into a service's answer: identified, and without weir's name for the datastream.
pub(crate) fn write_within(batch: &Batch, placement: &super::Placement<'_>, out: &mut Vec<u8>) {
    let names: Vec<String> = (0..batch.stream_count())
        .map(|index| percent::encode(batch.stream(index).topic, b""))
        .collect();
    // One writer for all: it remembers the day that it wrote last.
    let mut emit = XmlText::within(PREFIXES, out);
    for index in placement.rows.clone() {
        let mut row = batch.row(index);
        let stream = batch.stream_of(index);
        let identifier = Identifier {
            name: &names[stream],
            time: row.time,
            ordinal: placement.ordinal(index),
        };
        row.naming = Naming::Sent;
        let feature = placement.features.get(stream).map(String::as_str);
        row.extra.feature = row.extra.feature.or(feature);
        emit.raw(placement.before);
        write_identified(placement.first + index, Some(&identifier), &row, &mut emit);
        emit.raw(placement.after);
    }
}

/// What an observation is called by.
struct Identifier<'a> {
    /// Its topic in percent-encoding.
    name: &'a str,
    time: Option<Time>,
    ordinal: u32,
}

impl Identifier<'_> {
    fn write(&self, emit: &mut impl Emit) {
        emit.start(gml("identifier"));
        emit.attribute(Name::local("codeSpace"), Atom::Text("urn:weir"));
        emit.content(Atom::Text(IDENTIFIER));
        emit.content(Atom::Text(self.name));
        if let Some(time) = self.time {
            emit.content(Atom::Text(":"));
            emit.content(Atom::Time(time));
        }
        if self.ordinal > 0 {
            emit.content(Atom::Id(";", self.ordinal as usize));
        }
        emit.end(gml("identifier"));
    }
}

fn write_observation(index: usize, row: &Observation<'_>, emit: &mut impl Emit) {
    write_identified(index, None, row, emit);
}

fn write_identified(
    index: usize,
    identifier: Option<&Identifier<'_>>,
    row: &Observation<'_>,
    emit: &mut impl Emit,
) {
    let result = ResultForm::of(row);
    emit.start(om("OM_Observation"));
    emit.attribute(gml("id"), Atom::Id("o", index));
    if let Some(identifier) = identifier {
        identifier.write(emit);
    }
    write_link(om("type"), Some(result.class()), emit);
    write_times(index, row, emit);
    write_link(om("procedure"), row.sensor, emit);
    write_parameters(index, row, &result, emit);
    write_link(om("observedProperty"), row.property, emit);
    write_link(om("featureOfInterest"), row.extra.feature, emit);
    result.write(emit);
    emit.end(om("OM_Observation"));
}

/// Writes a property that is a reference, or that it is not known.
fn write_link(name: Name<'static>, href: Option<&str>, emit: &mut impl Emit) {
    emit.start(name);
    match href {
        Some(href) => emit.attribute(HREF, Atom::Text(href)),
        None => emit.attribute(NIL_REASON, Atom::Text("unknown")),
    }
    emit.end(name);
}

fn write_leaf(name: Name<'static>, value: Atom<'_>, emit: &mut impl Emit) {
    emit.start(name);
    emit.content(value);
    emit.end(name);
}

fn write_times(index: usize, row: &Observation<'_>, emit: &mut impl Emit) {
    let Extra {
        end,
        result_time,
        valid,
        ..
    } = row.extra;
    emit.start(om("phenomenonTime"));
    match (row.time, end) {
        (None, None) => emit.attribute(NIL_REASON, Atom::Text("unknown")),
        (Some(time), None) => write_instant(Atom::Id("t", index), time, emit),
        (begin, end) => write_period(Atom::Id("t", index), [begin, end], emit),
    }
    emit.end(om("phenomenonTime"));
    emit.start(om("resultTime"));
    match result_time {
        None => emit.attribute(NIL_REASON, Atom::Text("unknown")),
        Some(time) => write_instant(Atom::Id("r", index), time, emit),
    }
    emit.end(om("resultTime"));
    if let Some((from, to)) = valid {
        emit.start(om("validTime"));
        write_period(Atom::Id("v", index), [Some(from), Some(to)], emit);
        emit.end(om("validTime"));
    }
}

fn write_instant(id: Atom<'_>, time: Time, emit: &mut impl Emit) {
    emit.start(gml("TimeInstant"));
    emit.attribute(gml("id"), id);
    write_leaf(gml("timePosition"), Atom::Time(time), emit);
    emit.end(gml("TimeInstant"));
}

fn write_period(id: Atom<'_>, ends: [Option<Time>; 2], emit: &mut impl Emit) {
    emit.start(gml("TimePeriod"));
    emit.attribute(gml("id"), id);
    for (name, end) in [gml("beginPosition"), gml("endPosition")]
        .into_iter()
        .zip(ends)
    {
        emit.start(name);
        match end {
            Some(time) => emit.content(Atom::Time(time)),
            None => emit.attribute(Name::local("indeterminatePosition"), Atom::Text("unknown")),
        }
        emit.end(name);
    }
    emit.end(gml("TimePeriod"));
}

fn write_parameters(
    index: usize,
    row: &Observation<'_>,
    result: &ResultForm<'_>,
    emit: &mut impl Emit,
) {
    let topic = (row.naming != Naming::Sent).then_some(row.topic);
    let unit = row.unit.filter(|_| {
        !matches!(
            result,
            ResultForm::Measure(..) | ResultForm::Digits(_, Some(_))
        )
    });
    let kind = matches!(result, ResultForm::Json(_)).then_some("json");
    for (name, text) in [
        (urn::TOPIC, topic),
        (urn::UNIT, unit),
        (urn::KIND, kind),
        (urn::QUALITY, row.extra.quality),
    ] {
        if let Some(text) = text {
            write_parameter(name, Atom::Text(text), emit);
        }
    }
    if let Some(json) = row.extra.parameters {
        write_parameter(urn::PARAMETERS, Atom::Json(json), emit);
    }
    if let Some(place) = row.place {
        write_place(index, place, emit);
    }
}

fn write_parameter(name: &str, text: Atom<'_>, emit: &mut impl Emit) {
    start_parameter(name, emit);
    emit.start(om("value"));
    emit.attribute(XSI_TYPE, Atom::Name(xs("string")));
    emit.content(text);
    emit.end(om("value"));
    end_parameter(emit);
}

fn start_parameter(name: &str, emit: &mut impl Emit) {
    emit.start(om("parameter"));
    emit.start(om("NamedValue"));
    write_link(om("name"), Some(name), emit);
}

fn end_parameter(emit: &mut impl Emit) {
    emit.end(om("NamedValue"));
    emit.end(om("parameter"));
}

/// WGS 84 by EPSG's rule: latitude first.
fn write_place(index: usize, place: Place, emit: &mut impl Emit) {
    start_parameter(SAMPLING_GEOMETRY, emit);
    emit.start(om("value"));
    emit.attribute(XSI_TYPE, Atom::Name(gml("GeometryPropertyType")));
    emit.start(gml("Point"));
    emit.attribute(gml("id"), Atom::Id("p", index));
    let wgs84 = crate::crs::USUAL;
    emit.attribute(Name::local("srsName"), Atom::Text(wgs84));
    let pos = Atom::Pair(place.latitude, place.longitude);
    write_leaf(gml("pos"), pos, emit);
    emit.end(gml("Point"));
    emit.end(om("value"));
    end_parameter(emit);
}

/// Why there is no result: the quality, where that is a URI or one of GML's own words for it.
fn nil_reason(quality: Option<&str>) -> &str {
    let is_word = |text: &str| matches!(text, "inapplicable" | "template" | "unknown" | "withheld");
    let is_uri = |text: &str| {
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_name = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
        !scheme.is_empty() && is_name && !text.contains(|it: char| it.is_whitespace())
    };
    quality
        .filter(|text| is_word(text) || is_uri(text))
        .unwrap_or(MISSING)
}

/// What a result looks like.
enum ResultForm<'a> {
    /// `gml:MeasureType`, which needs a unit that is a symbol.
    Measure(f64, &'a str),
    /// `xs:double`.
    Number(f64),
    /// `xs:integer`, whose digits are more than a double's; or the same with a unit.
    Digits(&'a str, Option<&'a str>),
    Bool(bool),
    Text(&'a str),
    /// Nothing observed, and why.
    Nil(&'a str),
    /// A string that holds JSON, which a parameter says.
    Json(Atom<'a>),
}

impl<'a> ResultForm<'a> {
    fn of(row: &Observation<'a>) -> Self {
        match (row.value, row.unit.filter(|unit| is_symbol(unit))) {
            (Value::Number(number), Some(unit)) => ResultForm::Measure(number, unit),
            (Value::Number(number), None) => ResultForm::Number(number),
            (Value::Bool(truth), _) => ResultForm::Bool(truth),
            (Value::Null, _) => ResultForm::Nil(nil_reason(row.extra.quality)),
            (Value::Text(text), _) if is_text(text) => ResultForm::Text(text),
            (Value::Text(text), _) => ResultForm::Json(Atom::JsonString(text)),
            (Value::Json(digits), unit) if row.value.digits().is_some() => {
                ResultForm::Digits(digits, unit)
            }
            (Value::Json(json), _) => ResultForm::Json(Atom::Json(json)),
        }
    }

    /// The class of observation, by OGC's register; `OM_TextObservation` is what servers use beside it.
    fn class(&self) -> &'static str {
        match self {
            ResultForm::Measure(..) | ResultForm::Digits(_, Some(_)) => class!("OM_Measurement"),
            ResultForm::Bool(_) => class!("OM_TruthObservation"),
            ResultForm::Text(_) => class!("OM_TextObservation"),
            ResultForm::Number(_)
            | ResultForm::Digits(_, None)
            | ResultForm::Nil(_)
            | ResultForm::Json(_) => class!("OM_Observation"),
        }
    }

    fn write(self, emit: &mut impl Emit) {
        emit.start(om("result"));
        match self {
            ResultForm::Measure(number, unit) => write_measure(unit, Atom::Number(number), emit),
            ResultForm::Digits(digits, Some(unit)) => {
                write_measure(unit, Atom::Text(digits), emit);
            }
            ResultForm::Digits(digits, None) => write_typed("integer", Atom::Text(digits), emit),
            ResultForm::Number(number) => write_typed("double", Atom::Number(number), emit),
            ResultForm::Bool(truth) => write_typed("boolean", Atom::Bool(truth), emit),
            ResultForm::Text("") => emit.attribute(XSI_TYPE, Atom::Name(xs("string"))),
            ResultForm::Text(text) => write_typed("string", Atom::Text(text), emit),
            ResultForm::Json(json) => write_typed("string", json, emit),
            ResultForm::Nil(reason) => emit.attribute(NIL_REASON, Atom::Text(reason)),
        }
        emit.end(om("result"));
    }
}

fn write_measure(unit: &str, value: Atom<'_>, emit: &mut impl Emit) {
    emit.attribute(XSI_TYPE, Atom::Name(gml("MeasureType")));
    emit.attribute(Name::local("uom"), Atom::Text(unit));
    emit.content(value);
}

fn write_typed(local: &'static str, value: Atom<'_>, emit: &mut impl Emit) {
    emit.attribute(XSI_TYPE, Atom::Name(xs(local)));
    emit.content(value);
}
