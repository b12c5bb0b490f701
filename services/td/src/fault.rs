//! Refusals: a status and one sentence.

use weir_hub::Fault;
use weir_service::Response;

pub(crate) fn refuse(status: u16, sentence: impl Into<String>) -> Response {
    Response::text(status, sentence)
}

/// What a refusal by the hub is to a client.
pub(crate) fn from_hub(fault: &Fault) -> Response {
    let status = match fault {
        Fault::Denied { principal, .. } if &**principal == "anonymous" => 401,
        Fault::Revoked(_) => 401,
        Fault::Denied { .. } => 403,
        Fault::Topic(_) => 400,
        Fault::Unknown(_) => 404,
        Fault::OverLimit { .. } => 413,
        Fault::TooFast { .. } => 429,
        Fault::Stopping => 503,
        _ => 500,
    };
    let response = refuse(status, fault.to_string());
    match status {
        401 => response.header("www-authenticate", "Bearer"),
        _ => response,
    }
}
