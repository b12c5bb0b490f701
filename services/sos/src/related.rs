//! Features that a sensor's offerings are related to, as who inserts it says (OGC 09-001 clause 12.2.2): the river
//! of which a gauge observes one point.

use crate::exception::Exception;
use crate::insertion_json::each;
use crate::limits::RELATED_FEATURES_MAX;
use crate::params::Params;
use serde_json::{Value as Json, json};
use weir_codec::document::{Element, Xml};

const PARAMETER: &str = "relatedFeature";

/// A feature and what it is to an offering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Related {
    /// The feature's identifier.
    target: String,
    role: Option<String>,
}

/// Those that InsertSensor names.
pub(crate) fn of_request(params: &Params) -> Result<Vec<Related>, Exception> {
    let root = params.element.as_ref();
    let in_xml = root.into_iter().flat_map(|root| root.all(PARAMETER));
    let in_json = params.json.as_ref();
    let in_json = in_json.into_iter().flat_map(|json| each(&json[PARAMETER]));
    let in_json = in_json.filter(|own| !own.is_null());
    let all = in_xml.map(of_element).chain(in_json.map(of_json));
    let all = all.collect::<Option<Vec<_>>>();
    let all = all.ok_or_else(|| Exception::invalid(PARAMETER, "a target was expected"))?;
    if all.len() > RELATED_FEATURES_MAX {
        let sentence = format!("more than {RELATED_FEATURES_MAX} related features");
        Err(Exception::invalid(PARAMETER, sentence))
    } else {
        Ok(all)
    }
}

fn of_element(related: &Element) -> Option<Related> {
    let relationship = related.first()?;
    let target = relationship.child("target")?;
    let inline = || Some(target.first()?.child("identifier")?.text());
    let target = target.attribute("href").map(str::to_owned);
    let role = relationship.child("role").map(Element::text);
    Some(Related {
        target: target.or_else(inline).filter(|target| !target.is_empty())?,
        role: role.filter(|role| !role.is_empty()),
    })
}

fn of_json(related: &Json) -> Option<Related> {
    let target = related["target"].as_str().or(related.as_str())?;
    Some(Related {
        target: Some(target.to_owned()).filter(|target| !target.is_empty())?,
        role: related["role"].as_str().map(str::to_owned),
    })
}

/// Those of a sensor's record.
pub(crate) fn of_record(list: &Json) -> Vec<Related> {
    let all = list.as_array().into_iter().flatten();
    all.filter_map(of_json).collect()
}

impl Related {
    /// As a sensor's record has it.
    pub(crate) fn to_json(&self) -> Json {
        match &self.role {
            Some(role) => json!({"target": self.target, "role": role}),
            None => json!({"target": self.target}),
        }
    }

    /// As an offering has it (OGC 09-001 clause 10.2.2).
    pub(crate) fn write(&self, xml: &mut Xml) {
        xml.start("swes:relatedFeature")
            .start("swes:FeatureRelationship");
        xml.leaves("swes:role", self.role.as_deref());
        xml.empty("swes:target", "xlink:href", &self.target);
        xml.end().end();
    }
}
