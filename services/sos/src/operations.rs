//! THE list of operations.

use crate::ask::Ask;
use crate::exception::{Code, Exception};
use crate::params::Version;
use crate::reply::Reply;
use crate::{
    availability, by_id, capabilities, describe, features, features1, insertion, observations,
};
use crate::{results, results1, sensors, types1};

/// One operation of a version.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) version: Version,
    /// Whether it changes something, which a page of any origin could have a browser do by a GET.
    pub(crate) changes: bool,
    pub(crate) run: fn(&Ask) -> Result<Reply, Exception>,
}

const fn line(
    name: &'static str,
    version: Version,
    run: fn(&Ask) -> Result<Reply, Exception>,
) -> Operation {
    Operation {
        name,
        version,
        changes: false,
        run,
    }
}

const fn change(
    name: &'static str,
    version: Version,
    run: fn(&Ask) -> Result<Reply, Exception>,
) -> Operation {
    Operation {
        changes: true,
        ..line(name, version, run)
    }
}

/// Every operation.
pub(crate) const OPERATIONS: &[Operation] = &[
    line("GetCapabilities", Version::V2, capabilities::answer),
    line("DescribeSensor", Version::V2, describe::answer),
    line("GetObservation", Version::V2, observations::answer),
    line("GetObservationById", Version::V2, by_id::answer),
    line("GetFeatureOfInterest", Version::V2, features::answer),
    line("GetDataAvailability", Version::V2, availability::answer),
    line("GetResultTemplate", Version::V2, results::template),
    line("GetResult", Version::V2, results::results),
    change("InsertSensor", Version::V2, sensors::insert),
    change("DeleteSensor", Version::V2, sensors::delete),
    change("UpdateSensorDescription", Version::V2, sensors::update),
    change("InsertObservation", Version::V2, insertion::answer),
    change(
        "InsertResultTemplate",
        Version::V2,
        results::insert_template,
    ),
    change("InsertResult", Version::V2, results::insert_result),
    line("GetCapabilities", Version::V1, capabilities::answer),
    line("DescribeSensor", Version::V1, describe::answer),
    line("GetObservation", Version::V1, observations::answer),
    line("GetObservationById", Version::V1, by_id::answer),
    line("GetFeatureOfInterest", Version::V1, features1::answer),
    line("GetResult", Version::V1, results1::results),
    line(
        "GetFeatureOfInterestTime",
        Version::V1,
        types1::feature_time,
    ),
    line("DescribeFeatureType", Version::V1, types1::feature_type),
    line(
        "DescribeObservationType",
        Version::V1,
        types1::observation_type,
    ),
    line("DescribeResultModel", Version::V1, types1::result_model),
    change("RegisterSensor", Version::V1, sensors::register_1),
    change("InsertObservation", Version::V1, insertion::answer),
];

/// The operation that a request names.
// [SOS2-8.0-4] [SOS1-8.1-1]
pub(crate) fn find(name: &str, version: Version) -> Result<&'static Operation, Exception> {
    let found = OPERATIONS
        .iter()
        .find(|own| own.name == name && own.version == version);
    found.ok_or_else(|| {
        let sentence = format!("there is no {name} in version {}", version.text());
        Exception::new(Code::OperationNotSupported, name, sentence)
    })
}

/// Refuses what changes something where the call is one that changes nothing (RFC 9110 section 9.2.1): browsers
/// send it for a page of any origin, and of such only the other methods are asked for their origin.
pub(crate) fn check_method(operation: &Operation, method: &str) -> Result<(), Exception> {
    if !operation.changes || method == "POST" {
        return Ok(());
    }
    let name = operation.name;
    let sentence =
        format!("{name} changes something, so it is sent by POST: as XML, JSON, EXI or a form");
    Err(Exception {
        status: Some(405),
        ..Exception::new(Code::OperationNotSupported, name, sentence)
    })
}

/// Whether any version has an operation of this name.
pub(crate) fn is_known(name: &str) -> bool {
    OPERATIONS.iter().any(|own| own.name == name)
}

/// What no version has, such as an operation that another server adds.
pub(crate) fn unknown(name: &str) -> Exception {
    let sentence = format!("there is no operation {name}");
    Exception::new(Code::OperationNotSupported, name, sentence)
}
