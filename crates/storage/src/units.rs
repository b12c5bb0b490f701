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
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}`: observations in `{}` cannot be given in `{}`",
            self.topic, self.unit, self.asked
        )
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
    Conversion::between(unit, asked).ok_or_else(|| Incomparable {
        topic: topic.into(),
        unit: unit.into(),
        asked: asked.into(),
    })
}

/// Rows with their numbers in the unit that is wanted.
pub struct Converted {
    /// As many rows, in their order.
    pub batch: Batch,
    /// Of each datastream of what was converted, why its rows are as they were.
    refused: Vec<Option<Incomparable>>,
}

impl Converted {
    /// Why the numbers of this datastream could not be converted.
    pub fn refusal(&self, stream: usize) -> Option<&Incomparable> {
        self.refused[stream].as_ref()
    }

    /// Whether all could be converted.
    pub fn is_whole(&self) -> bool {
        self.refused.iter().all(Option::is_none)
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
    let mut builder = BatchBuilder::new();
    for row in batch.rows().enumerate() {
        let (index, mut row) = row;
        let of = &found[batch.stream_of(index)];
        let number = row.value.number().filter(|_| row.value.is_numeric());
        if let (Some(Ok((conversion, unit))), Some(number)) = (of, number) {
            (row.value, row.unit) = (Value::Number(conversion.apply(number)), Some(*unit));
        }
        // A row of a batch was checked when it was made; a number that becomes too large is left out.
        if builder.push(&row).is_err() {
            row.value = Value::Null;
            let _checked_before = builder.push(&row);
        }
    }
    let refused = found.into_iter().map(|it| it.and_then(Result::err));
    Some(Converted {
        batch: builder.finish(),
        refused: refused.collect(),
    })
}

/// A row's result as conditions look at it, in the unit that its datastream has now; `None` where it cannot be
/// converted to that.
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
    Some(Value::Number(found.apply(number)))
}

/// The same rows with their numbers in the unit that is wanted.
pub fn in_unit(batch: Batch, unit: &InUnit) -> Result<Batch, Incomparable> {
    match converted(&batch, unit) {
        _ if matches!(unit, InUnit::Compared(_)) => Ok(batch),
        None => Ok(batch),
        Some(converted) => {
            let first = converted.refused.into_iter().flatten().next();
            match first.filter(|_| matches!(unit, InUnit::Named(_))) {
                Some(refused) => Err(refused),
                None => Ok(converted.batch),
            }
        }
    }
}

/// The units of the datastreams whose numbers are converted before they are counted.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// Of each datastream concerned, by its index in [`crate::Range::topics`], the conversion of each description.
    of: BTreeMap<usize, Vec<Result<Conversion, Incomparable>>>,
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
                let each = units.iter().map(|unit| conversion(topic, *unit, asked));
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
            Some(Ok(conversion)) => Ok(conversion.apply(number)),
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
    fn each_spelling_is_of_a_unit_and_not_one_of_ucums_own() {
        for (spelling, code) in SPELLINGS {
            assert!(Unit::read(code).is_some(), "{spelling}: {code}");
            assert!(analyse(spelling).is_err(), "{spelling} is UCUM's own");
        }
    }
}
