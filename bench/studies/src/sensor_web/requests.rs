//! The requests that are measured, as data: what is inserted and how, what is read and how an answer is counted.

use super::documents;
use weir_bench_load::load::prepare::Post;
use weir_bench_model::own::Own;

/// One kind of request.
pub(super) struct Request {
    /// `sensorthings` or `sos`.
    pub(super) service: &'static str,
    /// What the service calls it.
    pub(super) name: &'static str,
    /// In which form the observations are.
    pub(super) format: &'static str,
    /// What a fresh gateway is told before, by the observations of a request or an answer.
    pub(super) furnish: fn(usize) -> Vec<Post>,
    /// What is done.
    pub(super) does: Does,
}

/// What is done by a request.
pub(super) enum Does {
    /// Messages of so many observations are posted.
    Insert(fn(usize) -> Insertion),
    /// Answers of so many observations are read.
    Read(Reading),
}

/// A message of observations.
pub(super) struct Insertion {
    /// Where it is posted: a path.
    pub(super) path: &'static str,
    /// What is posted; its times are rewritten in each message.
    pub(super) message: Own,
}

/// An answer of observations.
pub(super) struct Reading {
    /// What is got, by the observations in the answer.
    pub(super) target: fn(usize) -> String,
    /// What stands in it once an observation.
    pub(super) marker: &'static str,
    /// Bytes that one takes in it, about: those of a line of the server that does nothing.
    pub(super) each_bytes: usize,
}

/// Data arrays (OGC 18-088 section 13).
pub(super) static DATA_ARRAY: Request = Request {
    service: "sensorthings",
    name: "create-observations",
    format: "data-array",
    furnish: |_| documents::things(1),
    does: Does::Insert(documents::data_array),
};

/// An Observation a request.
pub(super) static SINGLE: Request = Request {
    service: "sensorthings",
    name: "post",
    format: "json",
    furnish: |_| documents::things(1),
    does: Does::Insert(|_| documents::single()),
};

/// The latest Observation of each Datastream, entities whole.
pub(super) static LATEST: Request = latest("whole", |count| documents::latest(count, "", ""), 1251);

/// The same, with results and times alone.
pub(super) static LATEST_SELECTED: Request = latest(
    "select",
    |count| documents::latest(count, "&$select=id", ";$select=result,phenomenonTime"),
    94,
);

const fn latest(format: &'static str, target: fn(usize) -> String, each_bytes: usize) -> Request {
    Request {
        service: "sensorthings",
        name: "expand",
        format,
        furnish: documents::things,
        does: Does::Read(Reading {
            target,
            marker: "\"result\":",
            each_bytes,
        }),
    }
}

/// O&M 2.0 in (OGC 12-006 section 10.4).
pub(super) static INSERT_OBSERVATION: Request = Request {
    service: "sos",
    name: "insert-observation",
    format: "om2",
    furnish: |_| documents::sensor(),
    does: Does::Insert(documents::insert_observation),
};

/// Rows of text in, by a template that was inserted before (section 10.2): what 52North's user did.
pub(super) static INSERT_RESULT: Request = Request {
    service: "sos",
    name: "insert-result",
    format: "swe-text",
    furnish: |_| documents::sensor(),
    does: Does::Insert(documents::insert_result_of_now),
};

/// O&M 2.0 out (section 8.3).
pub(super) static GET_OM: Request = get(
    "get-observation",
    "om2",
    |count| documents::get("GetObservation", "", count),
    ("<om:result ", 726),
);

/// SWE Common's text out.
pub(super) static GET_TEXT: Request = get(
    "get-observation",
    "swe-text",
    |count| documents::get("GetObservation", TEXT, count),
    (ROW, 45),
);

/// Rows of text without what describes them (section 9.3).
pub(super) static GET_ROWS: Request = get(
    "get-result",
    "rows",
    |count| documents::get("GetResult", "", count),
    (ROW, 29),
);

const TEXT: &str = "&responseFormat=text/plain;profile=swe";
/// How a row begins: behind the one before it, with its time, which is of [`documents::MONTH`].
const ROW: &str = "\n2026-01-";

const fn get(
    name: &'static str,
    format: &'static str,
    target: fn(usize) -> String,
    (marker, each_bytes): (&'static str, usize),
) -> Request {
    Request {
        service: "sos",
        name,
        format,
        furnish: documents::filled,
        does: Does::Read(Reading {
            target,
            marker,
            each_bytes,
        }),
    }
}
