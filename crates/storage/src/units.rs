//! Units of measurement by UCUM (2.2), and the common spellings of those who do not use it.
//!
//! What it deliberately does not do: no unit of an observation is changed; a code is read where numbers of two units
//! meet. Only linear conversions are made: between a level (dB, pH) and what it is the level of there is none.

use octofhir_ucum::{Dimension, Number, SpecialKind, analyse};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use weir_model::{Batch, BatchBuilder, Datastream, Value, percent};

/// Of the units that are not UCUM's codes, those that SenML's registry (RFC 8428, RFC 8798) and people have.
const SPELLINGS: &[(&str, &str)] = &[
    ("/", "1"),
    ("%RH", "%{RH}"),
    ("%EL", "%{EL}"),
    ("lat", "deg{lat}"),
    ("lon", "deg{lon}"),
    ("count", "{count}"),
    ("ppm", "[ppm]"),
    ("ppb", "[ppb]"),
    ("beat/min", "{beat}/min"),
    ("beats", "{beat}"),
    ("dBW", "dB[W]"),
    ("Ah", "A.h"),
    ("mAh", "mA.h"),
    ("Wh", "W.h"),
    ("kWh", "kW.h"),
    ("MWh", "MW.h"),
    ("GWh", "GW.h"),
    ("TWh", "TW.h"),
    ("VA", "V.A"),
    ("kVA", "kV.A"),
    ("VAh", "V.A.h"),
    ("kVAh", "kV.A.h"),
    ("var", "V.A"),
    ("kvar", "kV.A"),
    ("varh", "V.A.h"),
    ("kvarh", "kV.A.h"),
    ("Nm", "N.m"),
    ("BTU", "[Btu]"),
    ("mmHg", "mm[Hg]"),
    ("inHg", "[in_i'Hg]"),
    ("kn", "[kn_i]"),
    ("knots", "[kn_i]"),
    ("mi", "[mi_i]"),
    ("in", "[in_i]"),
    ("lb", "[lb_av]"),
    ("oz", "[oz_av]"),
    ("lux", "lx"),
    ("bpm", "{beat}/min"),
    ("B/s", "By/s"),
    ("MB/s", "MBy/s"),
    ("°", "deg"),
    ("degrees", "deg"),
    ("Kelvin", "K"),
    ("°C", "Cel"),
    ("° C", "Cel"),
    // The sign of the ordinal and the ring above, which keyboards have where the degree should be.
    ("ºC", "Cel"),
    ("˚C", "Cel"),
    ("deg C", "Cel"),
    ("℃", "Cel"),
    ("degC", "Cel"),
    ("DEG_C", "Cel"),
    ("celsius", "Cel"),
    ("Celsius", "Cel"),
    ("degree Celsius", "Cel"),
    ("degrees Celsius", "Cel"),
    ("°F", "[degF]"),
    ("° F", "[degF]"),
    ("ºF", "[degF]"),
    ("˚F", "[degF]"),
    ("deg F", "[degF]"),
    ("℉", "[degF]"),
    ("degF", "[degF]"),
    ("DEG_F", "[degF]"),
    ("psi", "[psi]"),
    ("rpm", "{revolution}/min"),
    ("RPM", "{revolution}/min"),
];

/// Letters that UCUM writes otherwise.
const LETTERS: &[(char, &str)] = &[
    ('µ', "u"),
    ('μ', "u"),
    ('Ω', "Ohm"),
    ('²', "2"),
    ('³', "3"),
    ('⁻', "-"),
    ('¹', "1"),
    ('·', "."),
    ('⋅', "."),
];

/// Before a code in the URIs of OGC's register, of UCUM, of QUDT and of the WMO; of the last two the names above are
/// known.
const REGISTERS: &[&str] = &[
    "/def/uom/UCUM/0/",
    "/def/uom/UCUM/",
    "urn:ogc:def:uom:UCUM::",
    "unitsofmeasure.org/",
    "qudt.org/vocab/unit/",
    "wmoUnit:",
];

/// Digits that a converted number keeps: a double has 15 that hold whatever was computed.
const DIGITS: i32 = 15;

/// A conversion from one unit to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    scale: f64,
    shift: f64,
}

impl Conversion {
    /// From one unit to another, by their codes; `None` where they are not of one dimension, or one is not known.
    /// Units of one spelling need not be known.
    pub fn between(from: &str, to: &str) -> Option<Self> {
        if from == to {
            return Some(Self::NONE);
        }
        let (from, to) = (Unit::read(from)?, Unit::read(to)?);
        if !from.is_comparable(&to) {
            return None;
        }
        let scale = from.scale.checked_div(to.scale)?.to_f64();
        let shift = from.offset.checked_sub(to.offset)?;
        let shift = shift.checked_div(to.scale)?.to_f64();
        let is_finite = scale.is_finite() && scale != 0.0 && shift.is_finite();
        is_finite.then_some(Self { scale, shift })
    }

    /// That of a unit to itself.
    pub const NONE: Self = Self {
        scale: 1.0,
        shift: 0.0,
    };

    /// A number of the one unit in the other, rounded to what a double holds for certain.
    pub fn apply(&self, number: f64) -> f64 {
        if *self == Self::NONE {
            return number;
        }
        let (product, sum) = (number * self.scale, number * self.scale + self.shift);
        let most = product.abs().max(self.shift.abs());
        if most == 0.0 || !sum.is_finite() {
            return sum;
        }
        // 300 K are 26.85 Cel, and not 26.850000000000023.
        let places = DIGITS - 1 - most.log10().floor() as i32;
        if !(0..=300).contains(&places) {
            return sum;
        }
        let power = 10_f64.powi(places);
        let rounded = (sum * power).round() / power;
        if rounded.is_finite() { rounded } else { sum }
    }

    /// The same, unless no double is as large.
    fn within(&self, number: f64) -> Option<f64> {
        Some(self.apply(number)).filter(|number| number.is_finite())
    }
}

/// What a unit is, in base units.
struct Unit {
    dimension: Dimension,
    arbitrary: Vec<(&'static str, i32)>,
    /// Units that a function makes can be compared with those of the same function.
    function: Option<SpecialKind>,
    scale: Number,
    offset: Number,
}

impl Unit {
    fn read(text: &str) -> Option<Self> {
        let found = analyse(&code(text)).ok()?;
        let is_affine = matches!(
            found.special,
            Some(SpecialKind::Celsius | SpecialKind::Fahrenheit | SpecialKind::Reaumur)
        );
        Some(Self {
            dimension: found.dimension,
            arbitrary: found.arbitrary,
            function: found.special.filter(|_| !is_affine),
            scale: found.factor.checked_mul(found.scale)?,
            offset: found.offset,
        })
    }

    fn is_comparable(&self, other: &Self) -> bool {
        self.dimension == other.dimension
            && self.arbitrary == other.arbitrary
            && self.function == other.function
    }
}

/// UCUM's code of what somebody calls a unit.
fn code(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let in_register = REGISTERS
        .iter()
        .find_map(|register| Some(text.split_once(register)?.1));
    let decoded = in_register.and_then(|code| percent::decode(code).ok());
    let text = decoded.map_or(Cow::Borrowed(text), Cow::Owned);
    if let Some(code) = spelled(&text) {
        return Cow::Borrowed(code);
    }
    let of = |letter: char| LETTERS.iter().find(|(other, _)| *other == letter);
    let each = text.chars().map(|letter| match of(letter) {
        Some((_, code)) => Cow::Borrowed(*code),
        None => Cow::Owned(letter.to_string()),
    });
    let plain: String = each.collect();
    // Of kWh/m2 the first factor has a spelling of its own.
    let factors = plain.split_inclusive(['/', '.']).map(|factor| {
        let name = factor.trim_end_matches(['/', '.']);
        match spelled(name).filter(|_| !name.is_empty()) {
            Some(code) => format!("{code}{}", &factor[name.len()..]),
            None => factor.to_owned(),
        }
    });
    Cow::Owned(factors.collect())
}

fn spelled(text: &str) -> Option<&'static str> {
    let found = SPELLINGS.iter().find(|(spelling, _)| *spelling == text);
    found.map(|(_, code)| *code)
}

/// In which unit numbers are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum InUnit {
    /// Each in that which it was observed in.
    #[default]
    AsMade,
    /// In that which its datastream has now, where it can be converted.
    Own,
    /// In this one; what cannot be converted is refused.
    Named(Arc<str>),
    /// Each in that which it was observed in, while conditions look at this one.
    Compared(Arc<str>),
}

/// Numbers that cannot be given in the unit that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incomparable {
    /// Of which datastream they are.
    pub topic: Box<str>,
    /// The unit that they were observed in.
    pub unit: Box<str>,
    /// The unit that was asked for.
    pub asked: Box<str>,
    /// The one that is too large in that unit; `None` where none can be converted.
    pub number: Option<Box<str>>,
}

impl Incomparable {
    fn new(topic: &str, unit: &str, asked: &str) -> Self {
        Self {
            topic: topic.into(),
            unit: unit.into(),
            asked: asked.into(),
            number: None,
        }
    }

    /// Of a number for which there is no double in the unit that was asked for.
    fn too_large(topic: &str, unit: Option<&str>, asked: &str, number: f64) -> Self {
        Self {
            number: Some(format!("{number:e}").into()),
            ..Self::new(topic, unit.unwrap_or_default(), asked)
        }
    }
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            topic, unit, asked, ..
        } = self;
        match &self.number {
            None => write!(
                f,
                "`{topic}`: observations in `{unit}` cannot be given in `{asked}`"
            ),
            Some(number) => write!(
                f,
                "`{topic}`: {number} `{unit}` is too large a number in `{asked}`: ask for another unit"
            ),
        }
    }
}

impl std::error::Error for Incomparable {}

/// Observations that were left out since they could not be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncompared {
    /// How many.
    pub count: u64,
    /// Why the last of them.
    pub last: Option<Incomparable>,
}

/// The conversion of a datastream's numbers. A number without a unit is taken to be in the one that is asked for: it
/// contradicts none.
pub fn conversion(
    topic: &str,
    unit: Option<&str>,
    asked: &str,
) -> Result<Conversion, Incomparable> {
    let Some(unit) = unit else {
        return Ok(Conversion::NONE);
    };
    Conversion::between(unit, asked).ok_or_else(|| Incomparable::new(topic, unit, asked))
}

/// Rows with their numbers in the unit that is wanted.
pub struct Converted {
    /// As many rows, in their order.
    pub batch: Batch,
    /// Of each datastream of what was converted, why its rows are as they were.
    refused: Vec<Option<Incomparable>>,
    /// The rows whose numbers are too large in that unit, in order: these are as they were, too, or null with the
    /// reason as quality where each datastream's own unit is wanted.
    too_large: Vec<(usize, Incomparable)>,
}

impl Converted {
    /// Why this row, which is of this datastream of what was converted, is as it was.
    pub fn refusal(&self, row: usize, stream: usize) -> Option<&Incomparable> {
        let large = || {
            let found = self.too_large.binary_search_by_key(&row, |(row, _)| *row);
            found.ok().map(|at| &self.too_large[at].1)
        };
        self.refused[stream].as_ref().or_else(large)
    }

    /// Whether all could be converted.
    pub fn is_whole(&self) -> bool {
        self.too_large.is_empty() && self.refused.iter().all(Option::is_none)
    }

    /// Why the first could not be.
    fn into_refusal(self) -> Option<Incomparable> {
        let large = self.too_large.into_iter().map(|(_, why)| why);
        self.refused.into_iter().flatten().chain(large).next()
    }
}

/// Converts what must be; `None` where nothing must.
pub fn converted(batch: &Batch, unit: &InUnit) -> Option<Converted> {
    let streams = 0..batch.stream_count();
    let wanted = |stream: usize| match unit {
        InUnit::AsMade => None,
        InUnit::Own => batch.own_unit(stream),
        InUnit::Named(unit) | InUnit::Compared(unit) => {
            Some(&**unit).filter(|unit| Some(*unit) != batch.stream(stream).unit)
        }
    };
    if streams.clone().all(|stream| wanted(stream).is_none()) {
        return None;
    }
    let found = streams.map(|stream| {
        let (view, wanted) = (batch.stream(stream), wanted(stream)?);
        Some(conversion(view.topic, view.unit, wanted).map(|it| (it, wanted)))
    });
    let found: Vec<_> = found.collect();
    let (mut builder, mut too_large) = (BatchBuilder::new(), Vec::new());
    // Where each datastream has one unit, nobody is told that of a row.
    let is_own = *unit == InUnit::Own;
    for row in batch.rows().enumerate() {
        let (index, mut row) = row;
        let of = &found[batch.stream_of(index)];
        let number = row.value.number().filter(|_| row.value.is_numeric());
        if let (Some(Ok((conversion, unit))), Some(number)) = (of, number) {
            match conversion.within(number) {
                Some(it) => (row.value, row.unit) = (Value::Number(it), Some(*unit)),
                None => {
                    let why = Incomparable::too_large(row.topic, row.unit, unit, number);
                    too_large.push((index, why));
                }
            }
        }
        let told = too_large.last().filter(|(at, _)| *at == index);
        let reason = told.filter(|_| is_own).map(|(_, why)| why.to_string());
        if let Some(reason) = &reason {
            (row.value, row.unit) = (Value::Null, wanted(batch.stream_of(index)));
            row.extra.quality = row.extra.quality.or(Some(reason.as_str()));
        }
        // A row of a batch was checked when it was made.
        let _checked_before = builder.push(&row);
    }
    let refused = found.into_iter().map(|it| it.and_then(Result::err));
    Some(Converted {
        batch: builder.finish(),
        refused: refused.collect(),
        too_large,
    })
}

/// A row's result as conditions look at it, in the unit that its datastream has now; `None` where it cannot be
/// given in that.
pub fn comparable(batch: &Batch, row: usize) -> Option<Value<'_>> {
    comparable_in(batch, row, batch.own_unit(batch.stream_of(row)))
}

/// The same in another unit, where one is said.
pub fn comparable_in<'b>(batch: &'b Batch, row: usize, unit: Option<&str>) -> Option<Value<'b>> {
    let value = batch.value(row);
    let number = value.number().filter(|_| value.is_numeric());
    let (Some(unit), Some(number)) = (unit, number) else {
        return Some(value);
    };
    let view = batch.stream(batch.stream_of(row));
    let found = conversion(view.topic, view.unit, unit).ok()?;
    found.within(number).map(Value::Number)
}

/// The same rows with their numbers in the unit that is wanted.
pub fn in_unit(batch: Batch, unit: &InUnit) -> Result<Batch, Incomparable> {
    match converted(&batch, unit) {
        _ if matches!(unit, InUnit::Compared(_)) => Ok(batch),
        None => Ok(batch),
        Some(converted) if converted.is_whole() || !matches!(unit, InUnit::Named(_)) => {
            Ok(converted.batch)
        }
        Some(converted) => converted.into_refusal().map_or(Ok(batch), Err),
    }
}

/// The units of the datastreams whose numbers are converted before they are counted.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// Of each datastream concerned, by its index in [`crate::Range::topics`], the conversion of each description.
    of: BTreeMap<usize, Vec<Result<Step, Incomparable>>>,
}

/// A conversion, and what is said of a number that is too large for it.
#[derive(Clone, Debug)]
struct Step {
    conversion: Conversion,
    /// The datastream, the unit of its numbers, and the one that is asked for.
    names: [Arc<str>; 3],
}

impl Units {
    /// Those of an asked unit, or of each datastream's own.
    pub fn of<'a>(
        datastreams: impl Iterator<Item = (&'a str, &'a Datastream)>,
        asked: Option<&str>,
    ) -> Self {
        let mut of = BTreeMap::new();
        for (index, (topic, datastream)) in datastreams.enumerate() {
            let had = 0..datastream.descriptions.len().max(1);
            let units = had.map(|number| datastream.described(number as u8).unit);
            let units: Vec<_> = units.collect();
            let Some(asked) = asked.or(datastream.last_unit()) else {
                continue;
            };
            if units.iter().any(|unit| unit.is_some_and(|it| it != asked)) {
                let each = units.iter().map(|unit| {
                    let names = [topic, unit.unwrap_or_default(), asked].map(Arc::from);
                    conversion(topic, *unit, asked).map(|conversion| Step { conversion, names })
                });
                of.insert(index, each.collect());
            }
        }
        Self { of }
    }

    /// Whether nothing is converted.
    pub fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// A number of a datastream that was made under one of its descriptions.
    pub fn convert(&self, topic: usize, description: u8, number: f64) -> Result<f64, Incomparable> {
        let of = self.of.get(&topic);
        match of.and_then(|of| of.get(usize::from(description))) {
            None => Ok(number),
            Some(Ok(step)) => {
                let [topic, unit, asked] = &step.names;
                let large = || Incomparable::too_large(topic, Some(unit), asked, number);
                step.conversion.within(number).ok_or_else(large)
            }
            Some(Err(refused)) => Err(refused.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn numbers_of_one_dimension_are_converted_and_no_others() {
        for (number, from, to, right) in [
            (1.42, "m", "cm", 142.0),
            (50.0, "cm", "m", 0.5),
            (300.0, "K", "Cel", 26.85),
            (21.5, "Cel", "K", 294.65),
            (70.0, "[degF]", "Cel", 21.1111111111111),
            (0.0, "°C", "°F", 32.0),
            (-40.0, "degF", "℃", -40.0),
            (1.0, "kWh", "J", 3_600_000.0),
            (1013.25, "hPa", "bar", 1.01325),
            (7.0, "µg/m³", "ug/m3", 7.0),
            (1.0, "kWh/m²", "J/m2", 3_600_000.0),
            (20.0, "ºC", "˚C", 20.0),
            (760.0, "mmHg", "Pa", 101_324.72),
            (1.0, "Wh/km", "kW.h/km", 0.001),
            (1.0, "in", "cm", 2.54),
            (20.0, "urn:ogc:def:uom:UCUM::Cel", "K", 293.15),
            (
                3.6,
                "http://www.opengis.net/def/uom/UCUM/0/km%2Fh",
                "m/s",
                1.0,
            ),
            (20.0, "http://qudt.org/vocab/unit/DEG_C", "Cel", 20.0),
            (1.0, "m3/s", "L/s", 1000.0),
            (43.0, "%RH", "1", 0.43),
            (1e-30, "m", "cm", 1e-28),
            (3.0, "http://www.opengis.net/def/uom/UCUM/0/dam", "m", 30.0),
            (5.0, "furlongs", "furlongs", 5.0),
        ] {
            let conversion = Conversion::between(from, to);
            let found = conversion.unwrap_or_else(|| panic!("{from} {to}"));
            assert_eq!(found.apply(number), right, "{number} {from} in {to}");
        }
        for (from, to) in [
            ("m", "s"),
            ("Cel", "%"),
            ("furlongs", "m"),
            ("[iU]", "1"),
            ("dB", "1"),
            ("[pH]", "mol/L"),
            ("", "m"),
            ("m//s", "m/s"),
        ] {
            assert_eq!(Conversion::between(from, to), None, "{from} {to}");
        }
    }

    #[test]
    fn what_is_too_large_in_a_unit_is_refused_and_said() {
        let mut builder = BatchBuilder::new();
        for (number, unit) in [(2.0, "km"), (1e308, "km"), (5.0, "m")] {
            builder.begin();
            builder.topic(weir_model::batch::Naming::Topic, "far/away");
            builder.unit(unit);
            builder.value(Value::Number(number));
            builder.end().unwrap();
        }
        let batch = builder.finish();
        let refused = in_unit(batch.clone(), &InUnit::Named("m".into())).unwrap_err();
        let told = refused.to_string();
        for word in ["far/away", "1e308", "`km`", "`m`"] {
            assert!(told.contains(word), "{told}");
        }
        let found = converted(&batch, &InUnit::Named("m".into())).unwrap();
        let refused = (0..3).map(|row| found.refusal(row, batch.stream_of(row)).is_some());
        assert_eq!(refused.collect::<Vec<_>>(), [false, true, false]);
        assert!(!found.is_whole());
        let as_it_was = (found.batch.value(1), found.batch.row(1).unit);
        assert_eq!(as_it_was, (Value::Number(1e308), Some("km")));
        assert_eq!(comparable_in(&batch, 1, Some("m")), None);
        let mut builder = BatchBuilder::new();
        builder.push(&batch.row(1)).unwrap();
        builder.own_unit("m");
        let own = in_unit(builder.finish(), &InUnit::Own).unwrap();
        let row = own.row(0);
        assert_eq!((row.value, row.unit), (Value::Null, Some("m")));
        assert!(row.extra.quality.unwrap().contains("1e308"));
        let known = Datastream {
            unit: Some("km".into()),
            ..Datastream::default()
        };
        let units = Units::of([("far/away", &known)].into_iter(), Some("m"));
        assert_eq!(units.convert(0, 0, 2.0), Ok(2000.0));
        assert!(units.convert(0, 0, 1e308).is_err());
    }

    #[test]
    fn each_spelling_is_of_a_unit_and_not_one_of_ucums_own() {
        for (spelling, code) in SPELLINGS {
            assert!(Unit::read(code).is_some(), "{spelling}: {code}");
            assert!(analyse(spelling).is_err(), "{spelling} is UCUM's own");
        }
    }
}
