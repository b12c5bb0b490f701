//! DescribeSensor (OGC 12-006 section 8.2 and OGC 09-001 section 11, OGC 06-009r6 section 8.3).
//!
//! Who registered a sensor gets the description back that was given; of all others, in the other version of SensorML,
//! and of before it was described anew, one is made of what the catalog knows. That of another time is of what the
//! procedure observed then.

use crate::ask::Ask;
use crate::exception::{Code, Exception};
use crate::inventory::Series;
use crate::names::*;
use crate::params::Version;
use crate::records::{Set, since_of};
use crate::relation::Period;
use crate::reply::Reply;
use crate::sensorml::{self, Valid};
use serde_json::Value as Json;
use weir_codec::document::Xml;
use weir_model::Time;

const ACTION: &str = "http://www.opengis.net/swes/2.0/DescribeSensorResponse";

/// What a procedure was from one time on up to another.
#[derive(Debug)]
struct State {
    /// From the beginning where the one is open, until now where the other is.
    from: Option<Time>,
    until: Option<Time>,
    series: Vec<Series>,
}

/// Answers the request.
// [SOS2-8.2-1]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let procedure = ask.params.required("procedure")?;
    let format = format(ask)?;
    let wanted = valid_time(ask)?;
    let inventory = ask.inventory()?;
    let own = inventory.of_procedure(procedure);
    let series: Vec<Series> = own.map(|named| inventory.series(named)).collect();
    let record = ask.record(Set::Sensors, procedure)?;
    if series.is_empty() && record.is_none() {
        let sentence = format!("there is no `{procedure}`");
        return Err(Exception::invalid("procedure", sentence));
    }
    let mut told = told(&series, record.as_ref(), format);
    match wanted {
        Some(wanted) => told.retain(|(state, _)| state.is_in(wanted)),
        None => drop(told.drain(..told.len().saturating_sub(1))),
    }
    if told.is_empty() {
        let sentence = format!("`{procedure}` was not observing then");
        return Err(Exception::invalid("validTime", sentence));
    }
    let offerings = inventory.offerings_named_by(procedure);
    let each = told.iter().enumerate().map(|(number, (state, given))| {
        let valid = Valid::of(number, state.from, state.until);
        let text = match (given, format) {
            (Some(given), _) => (*given).to_owned(),
            (None, SML20) => sensorml::version_20(procedure, offerings, &state.series, valid),
            (None, _) => sensorml::version_101(procedure, offerings, &state.series, valid),
        };
        (text, valid)
    });
    let mut each = each.collect::<Vec<_>>();
    Ok(Reply::Document(
        match ask.version {
            Version::V1 => each.pop().map(|(text, _)| text).unwrap_or_default(),
            Version::V2 => response(format, &each),
        },
        ACTION,
    ))
}

/// What a procedure was, one after another, each with the description that was given of it in a format.
fn told<'r>(
    series: &[Series],
    record: Option<&'r Json>,
    format: &str,
) -> Vec<(State, Option<&'r str>)> {
    let given = record.and_then(|record| {
        let same = record["encodingType"].as_str() == Some(format);
        record["metadata"].as_str().filter(|_| same)
    });
    let since = record.and_then(since_of);
    let mut told: Vec<(State, Option<&str>)> = Vec::new();
    for state in states(series, since) {
        let is_given = since.is_none_or(|since| state.from.is_some_and(|from| since <= from));
        let given = given.filter(|_| is_given);
        match told.last_mut() {
            // What was given is one description, whatever was observed meanwhile.
            Some((last, Some(_))) if given.is_some() => last.until = state.until,
            _ => told.push((state, given)),
        }
    }
    // It may have been described when it did not observe any more.
    if given.is_some() && told.iter().all(|(_, given)| given.is_none()) {
        let state = State {
            from: since,
            until: None,
            series: Vec::new(),
        };
        told.push((state, given));
    }
    told
}

impl State {
    fn is_in(&self, (from, to): Period) -> bool {
        let begins = self.from.is_none_or(|begin| begin <= to);
        begins && self.until.is_none_or(|end| from < end)
    }
}

/// What a procedure was, one after another; cut, too, where it was described anew.
fn states(series: &[Series], since: Option<Time>) -> Vec<State> {
    let held: Vec<_> = series.iter().map(|own| own.held()).collect();
    let ends = held
        .iter()
        .flatten()
        .flat_map(|held| [held.from, held.until]);
    let mut cuts: Vec<Option<Time>> = ends.chain([since]).filter(Option::is_some).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let froms = std::iter::once(None).chain(cuts.iter().copied());
    let untils = cuts.iter().copied().chain([None]);
    let states = froms.zip(untils).map(|(from, until)| {
        let each = series.iter().zip(&held).filter_map(|(own, held)| {
            let then = held.iter().find(|held| held.is_in((from, until)))?;
            Some(own.in_unit(then.unit.clone()))
        });
        State {
            from,
            until,
            series: each.collect(),
        }
    });
    let mut states: Vec<State> = states.collect();
    if !states.iter().all(|state| state.series.is_empty()) {
        states.retain(|state| !state.series.is_empty());
    }
    states
}

/// Which SensorML is asked for, by its namespace.
// [SOS2-8.2-2] [SOS2-8.2-3] [SOS1-8.3-2]
fn format(ask: &Ask) -> Result<&'static str, Exception> {
    let name = match ask.version {
        Version::V1 => "outputFormat",
        Version::V2 => "procedureDescriptionFormat",
    };
    let text = ask.params.required(name)?;
    let bare: String = text.chars().filter(|c| !" \"'".contains(*c)).collect();
    match (bare.as_str(), ask.version) {
        (SML20, Version::V2) => Ok(SML20),
        (SML101, _) | ("text/xml;subtype=sensorML/1.0.1", _) => Ok(SML101),
        _ => {
            let sentence = format!("`{text}` is not given: SensorML 2.0 and 1.0.1 are");
            Err(Exception::invalid(name, sentence))
        }
    }
}

/// When what is wanted was valid; what is in force, or was at last, where nothing is said.
// [SOS2-8.2-4]
fn valid_time(ask: &Ask) -> Result<Option<Period>, Exception> {
    match ask.version {
        Version::V1 if ask.params.valid.is_some() => Err(Exception::new(
            Code::OptionNotSupported,
            "validTime",
            "version 1.0.0 has no such parameter: 2.0.0 has",
        )),
        _ => Ok(ask.params.valid),
    }
}

fn response(format: &str, each: &[(String, Valid)]) -> String {
    let mut xml = Xml::new();
    xml.start("swes:DescribeSensorResponse");
    xml.prefixes(&[("swes", SWES20), ("gml", GML32)]);
    xml.leaf("swes:procedureDescriptionFormat", format);
    for (description, valid) in each {
        xml.start("swes:description")
            .start("swes:SensorDescription");
        valid.write("swes:validTime", "valid", &mut xml);
        xml.start("swes:data").raw(description).end();
        xml.end().end();
    }
    xml.finish()
}
