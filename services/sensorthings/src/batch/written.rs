//! The answers of a batch, in the order of their requests.

use super::step::{Asked, Done, Step};
use serde_json::{Map, Value as Json, json};
use weir_service::{Response, boundary};

/// As JSON (OData JSON format 4.01 section 19.4): bodies of JSON as such, others as text.
pub(super) fn json(done: &[Done]) -> Response {
    let each = done
        .iter()
        .flat_map(|done| done.step.asked().iter().zip(&done.responses));
    let responses: Vec<Json> = each.map(|(asked, response)| one(asked, response)).collect();
    let body = json!({ "responses": responses });
    Response::with_body(200, "application/json", body.to_string())
}

fn one(asked: &Asked, response: &Response) -> Json {
    let fields = response.headers.iter();
    let fields = fields.map(|(name, value)| ((*name).to_owned(), Json::from(value.as_str())));
    let mut said = json!({"id": asked.id, "status": response.status});
    if let Some(group) = &asked.group {
        said["atomicityGroup"] = group.as_str().into();
    }
    let headers: Map<String, Json> = fields.collect();
    // Where FROST's clients look for it.
    if let Some(location) = headers.get("location") {
        said["location"] = location.clone();
    }
    if !headers.is_empty() {
        said["headers"] = headers.into();
    }
    if !response.body.is_empty() {
        let text = || String::from_utf8_lossy(&response.body).into_owned().into();
        said["body"] = serde_json::from_slice(&response.body).unwrap_or_else(|_| text());
    }
    said
}

/// As `multipart/mixed`: a set that went well is such a part of its own, one that failed is one answer.
pub(super) fn multipart(done: &[Done]) -> Response {
    let (batch, set) = (boundary("batch"), boundary("changeset"));
    let mut out = Vec::new();
    for done in done {
        open(&batch, &mut out);
        match (&done.step, done.cause()) {
            (_, Some((asked, response))) => part(asked, response, &mut out),
            (Step::One(asked), None) => {
                let responses = done.responses.iter();
                responses.for_each(|response| part(asked, response, &mut out));
            }
            (Step::Set(all), None) => {
                field(
                    "Content-Type",
                    &format!("multipart/mixed; boundary={set}"),
                    &mut out,
                );
                out.extend_from_slice(b"\r\n");
                for (asked, response) in all.iter().zip(&done.responses) {
                    open(&set, &mut out);
                    part(asked, response, &mut out);
                }
                close(&set, &mut out);
                out.extend_from_slice(b"\r\n");
            }
        }
    }
    close(&batch, &mut out);
    Response::with_body(200, &format!("multipart/mixed; boundary={batch}"), out)
}

impl Done {
    /// The request that failed for its own fault, and not for that of another.
    fn cause(&self) -> Option<(&Asked, &Response)> {
        let each = || self.step.asked().iter().zip(&self.responses);
        let failed = |own: bool| {
            let is_it = move |status: u16| status >= 400 && (status != 424 || !own);
            each().find(|(_, response)| is_it(response.status))
        };
        failed(true).or_else(|| failed(false))
    }
}

fn open(boundary: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("--{boundary}\r\n").as_bytes());
}

fn close(boundary: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
}

fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
}

fn part(asked: &Asked, response: &Response, out: &mut Vec<u8>) {
    field("Content-Type", "application/http", out);
    field("Content-Transfer-Encoding", "binary", out);
    let id = asked.id.iter();
    id.for_each(|id| field("Content-ID", id, out));
    let (status, reason) = (response.status, reason(response.status));
    out.extend_from_slice(format!("\r\nHTTP/1.1 {status} {reason}\r\n").as_bytes());
    for (name, value) in &response.headers {
        field(name, value, out);
    }
    field("content-length", &response.body.len().to_string(), out);
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(&response.body);
    out.extend_from_slice(b"\r\n");
}

/// RFC 9110 section 15, as far as this service says it.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        424 => "Failed Dependency",
        429 => "Too Many Requests",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        status if status < 300 => "OK",
        status if status < 500 => "Bad Request",
        _ => "Internal Server Error",
    }
}
