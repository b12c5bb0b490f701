//! Results without what describes them: InsertResultTemplate and InsertResult (OGC 12-006 section 10.2),
//! GetResultTemplate and GetResult (section 9.3).
//!
//! A result that is inserted is put into an observation of its template and read as O&M, so that there is
//! one reader of SWE Common's blocks.

use crate::ask::Ask;
use crate::exception::{Code, Exception};
use crate::identifiers::fingerprint;
use crate::insertion::{check_offerings, decode, insert};
use crate::inventory::Series;
use crate::names::*;
use crate::observed::Observed;
use crate::pages::{Pages, Wanted};
use crate::records::{Set, kept};
use crate::reply::Reply;
use crate::selection::selected;
use crate::sensorml::component;
use serde_json::{Value as Json, json};
use weir_codec::document::{Element, Xml, read_xml};
use weir_hub::Verb;
use weir_model::BatchBuilder;

macro_rules! action {
    ($class:literal, $name:literal) => {
        concat!(
            "http://www.opengis.net/def/serviceOperation/sos/",
            $class,
            "/2.0/",
            $name
        )
    };
}

/// Stands between records and between tokens of results that are given.
const BLOCK: &str = "\n";
const TOKEN: &str = ",";

/// Answers InsertResultTemplate.
// [SOS2-11.1-1]
pub(crate) fn insert_template(ask: &Ask) -> Result<Reply, Exception> {
    let proposed = ask.params.required_element("proposedTemplate")?;
    let template = proposed
        .first()
        .ok_or_else(|| Exception::missing("proposedTemplate"))?;
    let part = |name: &'static str| {
        let inner = template.child(name).and_then(Element::first);
        inner.ok_or_else(|| Exception::missing(name))
    };
    let offering = template.child("offering").map(Element::text);
    let offering = offering.ok_or_else(|| Exception::missing("offering"))?;
    let inventory = ask.inventory()?;
    if inventory.of_offering(&offering).next().is_none() {
        return Err(Exception::invalid(
            "offering",
            format!("there is no `{offering}`"),
        ));
    }
    let (structure, encoding) = (part("resultStructure")?, part("resultEncoding")?);
    if encoding.local != "TextEncoding" {
        let sentence = format!("{} is not read: TextEncoding is", encoding.local);
        return Err(Exception::invalid("resultEncoding", sentence));
    }
    let observation = part("observationTemplate")?;
    let procedure = href(observation, "procedure")?;
    check_offerings(&inventory, &procedure, std::slice::from_ref(&offering))?;
    let body = json!({
        "offering": offering,
        "observedProperty": href(observation, "observedProperty")?,
        "observation": observation.to_xml(),
        "structure": structure.to_xml(),
        "encoding": encoding.to_xml(),
    });
    check_structure(ask, &body)?;
    let given = template.child("identifier").map(Element::text);
    let id = given
        .filter(|id| !id.is_empty())
        .unwrap_or_else(|| format!("urn:weir:template:{:016x}", fingerprint(&body.to_string())));
    if ask
        .record(Set::Templates, &id)?
        .is_some_and(|known| known != body)
    {
        let sentence = format!("`{id}` is another template, whose results would no longer be read");
        return Err(Exception::invalid("identifier", sentence));
    }
    let put = vec![kept(Set::Templates, &id, &body)];
    let ticket = ask.caller()?.put(put)?;
    let mut xml = Xml::new();
    xml.start("sos:InsertResultTemplateResponse");
    xml.prefixes(&[("sos", SOS20)]);
    xml.leaf("sos:acceptedTemplate", &id);
    let action = action!("resultInsertion", "InsertResultTemplateResponse");
    Ok(Reply::Accepted(vec![ticket], xml.finish(), action))
}

/// Refuses a template of which no result could be read: it is tried with none.
fn check_structure(ask: &Ask, template: &Json) -> Result<(), Exception> {
    let document = observation(template, "")?.unwrap_or_default();
    let mut none = BatchBuilder::new();
    decode(ask, "resultStructure", document.as_bytes(), &mut none)
}

/// The templates of what a procedure observes, by identifier: those that the caller may read or change. For who may
/// neither, there is none.
pub(crate) fn templates_of(ask: &Ask, procedure: &str) -> Vec<String> {
    let kept = Set::Templates.kept(&ask.hub).into_iter();
    let is_own = |template: &Json| {
        let known = template["observation"].as_str().map(str::as_bytes);
        let known = known.and_then(|text| read_xml(text).ok());
        known.is_some_and(|known| href(&known, "procedure").is_ok_and(|own| own == procedure))
    };
    let grants = &ask.principal.grants;
    let is_theirs = |id: &str| {
        let key = Set::Templates.key(id);
        grants.allow(Verb::Change, &key) || grants.allow(Verb::Read, &key)
    };
    kept.filter(|(id, template)| is_theirs(id) && is_own(template))
        .map(|(id, _)| id)
        .collect()
}

fn href(observation: &Element, name: &str) -> Result<String, Exception> {
    let found = observation
        .child(name)
        .and_then(|own| own.attribute("href"));
    found
        .map(str::to_owned)
        .ok_or_else(|| Exception::missing(name))
}

/// Answers InsertResult.
// [SOS2-11.1-2]
pub(crate) fn insert_result(ask: &Ask) -> Result<Reply, Exception> {
    let id = ask.params.required("template")?;
    let unknown = || Exception::invalid("template", format!("there is no `{id}`"));
    let template = ask.record(Set::Templates, id)?.ok_or_else(unknown)?;
    let values = ask.params.required_element("resultValues")?.text();
    let document = observation(&template, &values)?.ok_or_else(unknown)?;
    let mut builder = BatchBuilder::new();
    decode(ask, "resultValues", document.as_bytes(), &mut builder)?;
    let batch = builder.finish();
    if batch.is_empty() {
        return Err(Exception::missing("resultValues"));
    }
    let tickets = insert(ask, &ask.inventory()?, &batch)?;
    let mut xml = Xml::new();
    xml.start("sos:InsertResultResponse")
        .prefixes(&[("sos", SOS20)]);
    let action = action!("resultInsertion", "InsertResultResponse");
    Ok(Reply::Accepted(tickets, xml.finish(), action))
}

/// An observation of the template, with the values as its result.
fn observation(template: &Json, values: &str) -> Result<Option<String>, Exception> {
    let read = |name: &str| read_xml(template[name].as_str()?.as_bytes()).ok();
    let parts = ["observation", "structure", "encoding"].map(read);
    let [Some(known), Some(structure), Some(encoding)] = parts else {
        return Ok(None);
    };
    let mut xml = Xml::new();
    xml.start("om:OM_Observation")
        .prefixes(&[("om", OM20), ("swe", SWE20)]);
    for name in [
        "procedure",
        "parameter",
        "observedProperty",
        "featureOfInterest",
    ] {
        for part in known.all(name) {
            xml.raw(&part.to_xml());
        }
    }
    xml.start("om:result").start("swe:DataArray");
    xml.start("swe:elementType").attribute("name", "record");
    xml.raw(&structure.to_xml()).end();
    xml.start("swe:encoding").raw(&encoding.to_xml()).end();
    let block = encoding.attribute("blockSeparator").unwrap_or(BLOCK);
    let token = encoding.attribute("tokenSeparator").unwrap_or(TOKEN);
    xml.leaf("swe:values", without_count(values, block, token)?);
    Ok(Some(xml.finish()))
}

/// The number of records may stand first, since the array has no other (OGC 08-094r1 section 8.5.3); so many there
/// must be.
fn without_count<'v>(values: &'v str, block: &str, token: &str) -> Result<&'v str, Exception> {
    let Some((first, rest)) = values.split_once(block) else {
        return Ok(values);
    };
    match first.trim().parse::<usize>() {
        Ok(said) if !first.contains(token) => {
            let records = rest.split(block).filter(|record| !record.trim().is_empty());
            let found = records.count();
            let differ = || format!("{said} records are said to be there, and {found} are");
            if said == found {
                Ok(rest)
            } else {
                Err(Exception::invalid("resultValues", differ()))
            }
        }
        _ => Ok(values),
    }
}

/// The datastreams that offering and property pick; both must be said.
// [SOS2-11.2-1] [SOS2-11.2-4] [SOS2-11.2-5]
fn picked(ask: &Ask) -> Result<Vec<Series>, Exception> {
    ask.params.required("offering")?;
    ask.params.required("observedProperty")?;
    let picked = selected(ask, &ask.inventory()?)?;
    let Some(first) = picked.first() else {
        return Err(Exception {
            locator: None,
            ..Exception::new(
                Code::InvalidPropertyOfferingCombination,
                "",
                "the offering does not observe the property",
            )
        });
    };
    if let Some((own, other)) = picked.iter().find_map(|own| Some((own, own.other_unit()?))) {
        let other = own.in_unit(Some(other.to_owned()));
        return Err(Exception::invalid("observedProperty", unlike(own, &other)));
    }
    match picked.iter().find(|other| !are_alike(first, other)) {
        None => Ok(picked),
        Some(other) => Err(Exception::invalid("observedProperty", unlike(first, other))),
    }
}

/// Whether the results of two series mean the same as one record has them.
fn are_alike(a: &Series, b: &Series) -> bool {
    let is_empty = a.last.is_none() || b.last.is_none();
    a.unit == b.unit && (is_empty || a.class == b.class)
}

fn unlike(a: &Series, b: &Series) -> String {
    let of = |series: &Series| {
        let kind = series.class.rsplit('/').next().unwrap_or_default();
        let unit = series.unit.as_deref().unwrap_or("no unit");
        format!("{} ({kind}, {unit})", series.topic)
    };
    format!(
        "one record cannot have both {} and {}: GetObservation tells them apart",
        of(a),
        of(b)
    )
}

/// Answers GetResultTemplate: always a record of time and result.
// [SOS2-11.2-5] [SOS2-13.4-1]
pub(crate) fn template(ask: &Ask) -> Result<Reply, Exception> {
    let picked = picked(ask)?;
    let mut xml = Xml::new();
    xml.start("sos:GetResultTemplateResponse");
    xml.prefixes(&[("sos", SOS20), ("swe", SWE20), ("xlink", XLINK)]);
    xml.start("sos:resultStructure").start("swe:DataRecord");
    xml.start("swe:field").attribute("name", "phenomenonTime");
    xml.start("swe:Time");
    let time = "http://www.opengis.net/def/property/OGC/0/PhenomenonTime";
    xml.attribute("definition", time);
    let calendar = "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian";
    xml.empty("swe:uom", "xlink:href", calendar);
    xml.end().end();
    xml.start("swe:field").attribute("name", "result");
    component(&picked[0], &mut xml);
    xml.end().end().end();
    xml.start("sos:resultEncoding").start("swe:TextEncoding");
    xml.attribute("tokenSeparator", TOKEN);
    xml.attribute("blockSeparator", BLOCK);
    let action = action!("resultRetrieval", "GetResultTemplateResponse");
    Ok(Reply::Document(xml.finish(), action))
}

/// Answers GetResult: the number of records, then the records. They are counted first, page by page, since
/// the number stands before them.
// [SOS2-11.2-2]
pub(crate) fn results(ask: &Ask) -> Result<Reply, Exception> {
    let picked = picked(ask)?;
    let wanted = Wanted {
        unit: picked[0].unit.as_deref().map(Into::into),
        ..Wanted::of(ask)
    };
    let counting = Pages::new(ask, picked.clone(), wanted.clone());
    let pages = Pages::new(ask, picked, wanted);
    let observed = Observed::counted(counting, pages);
    Ok(Reply::Observed(Box::new(observed)))
}
