//! DescribeSensor (OGC 12-006 section 8.2 and OGC 09-001 section 11, OGC 06-009r6 section 8.3).
//!
//! Who registered a sensor gets the description back that was given; of all others, and in the other
//! version of SensorML, one is made of what the catalog knows.

use crate::ask::Ask;
use crate::exception::{Code, Exception};
use crate::inventory::Series;
use crate::names::*;
use crate::params::Version;
use crate::records::Set;
use crate::reply::Reply;
use crate::sensorml;
use weir_codec::document::Xml;

const ACTION: &str = "http://www.opengis.net/swes/2.0/DescribeSensorResponse";

/// Answers the request.
// [SOS2-8.2-1]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let procedure = ask.params.required("procedure")?;
    let format = format(ask)?;
    check_time(ask)?;
    let inventory = ask.inventory()?;
    let own = inventory.of_procedure(procedure);
    let series: Vec<Series> = own.map(|named| inventory.series(named)).collect();
    let record = Set::Sensors.one(ask, procedure)?;
    if series.is_empty() && record.is_none() {
        let sentence = format!("there is no `{procedure}`");
        return Err(Exception::invalid("procedure", sentence));
    }
    let given = record.as_ref().and_then(|record| {
        let same = record["encodingType"].as_str() == Some(format);
        record["metadata"].as_str().filter(|_| same)
    });
    let offerings = inventory.offerings_named_by(procedure);
    let description = match (given, format) {
        (Some(given), _) => given.to_owned(),
        (None, SML20) => sensorml::version_20(procedure, offerings, &series),
        (None, _) => sensorml::version_101(procedure, offerings, &series),
    };
    Ok(Reply::Document(
        match ask.version {
            Version::V1 => description,
            Version::V2 => response(format, &description),
        },
        ACTION,
    ))
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

/// Of a procedure the description that is in force is kept, so none of another time can be given.
// [SOS2-8.2-4]
fn check_time(ask: &Ask) -> Result<(), Exception> {
    let element = ask.params.element.as_ref();
    let in_element = element.is_some_and(|root| root.child("validTime").is_some());
    match in_element || !ask.params.all("validTime").is_empty() {
        true => Err(Exception::new(
            Code::OptionNotSupported,
            "validTime",
            "only the description that is in force is kept",
        )),
        false => Ok(()),
    }
}

fn response(format: &str, description: &str) -> String {
    let mut xml = Xml::new();
    xml.start("swes:DescribeSensorResponse");
    xml.prefixes(&[("swes", SWES20)]);
    xml.leaf("swes:procedureDescriptionFormat", format);
    xml.start("swes:description")
        .start("swes:SensorDescription");
    xml.start("swes:data").raw(description);
    xml.finish()
}
