//! Refusals: a status and one sentence.

use weir_codec::{DecodeError, by_name};
use weir_hub::{Fault, LogFault};
use weir_service::Response;

/// A refusal.
pub(crate) fn refuse(status: u16, sentence: impl Into<String>) -> Response {
    Response::text(status, sentence)
}

/// 405 with the methods that are.
pub(crate) fn method_not_allowed(method: &str, allowed: &str) -> Response {
    refuse(405, format!("{method} is not possible here; {allowed} are")).header("allow", allowed)
}

/// What a refusal by the hub is to a client; `body` lets a decode error say line and column.
pub(crate) fn from_hub(fault: &Fault, body: &[u8]) -> Response {
    let status = match fault {
        Fault::Denied { principal, .. } if &**principal == "anonymous" => 401,
        Fault::Revoked(_) => 401,
        Fault::Denied { .. } | Fault::Reserved(_) => 403,
        Fault::Topic(_) | Fault::Message(_) | Fault::History(weir_hub::HistoryFault::BadPage) => {
            400
        }
        Fault::Undecodable { .. } | Fault::Incomparable(_) => 400,
        Fault::OverLimit { .. } | Fault::Log(LogFault::OverLimit { .. }) => 413,
        Fault::Unknown(_) => 404,
        Fault::Contradicted { .. } => 409,
        // draft-ietf-httpapi-idempotency-key-header section 2.7.
        Fault::KeyReused(_) => 422,
        Fault::Log(LogFault::Busy)
        | Fault::Short
        | Fault::Crowded { .. }
        | Fault::TooFast { .. } => 429,
        Fault::Log(LogFault::Full(_)) => 507,
        Fault::Log(_) | Fault::Stopping => 503,
        Fault::History(_) => 500,
    };
    let sentence = match fault {
        Fault::Undecodable { format, error } => undecodable(format, error, body),
        fault => fault.to_string(),
    };
    let response = refuse(status, sentence);
    match status {
        // Not `Basic`: browsers would put their own password box over the dashboard's.
        401 => response.header("www-authenticate", "Bearer"),
        429 | 503 => response.header("retry-after", "1"),
        _ => response,
    }
}

fn undecodable(format: &str, error: &DecodeError, body: &[u8]) -> String {
    let sentence = format!("not a message in {format}: {error}");
    let text = by_name(format).is_some_and(|format| format.text);
    if !text || error.at > body.len() {
        return sentence;
    }
    let (line, column) = error.position(body);
    format!("{sentence} (line {line}, column {column})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_hub::HistoryFault;

    #[test]
    fn each_fault_has_the_status_that_says_what_to_do() {
        let denied = |who: &str| Fault::Denied {
            principal: who.into(),
            verb: "read",
            topic: "a".into(),
        };
        let too_long = Fault::OverLimit {
            what: "message bytes",
            limit: 1,
        };
        for (fault, status) in [
            (denied("anonymous"), 401),
            (denied("ada"), 403),
            (Fault::Reserved("$a".into()), 403),
            (Fault::Message(weir_model::BatchError::Nothing), 400),
            (Fault::Topic(weir_model::TopicError::Empty), 400),
            (too_long, 413),
            (Fault::Unknown("a".into()), 404),
            (Fault::KeyReused(weir_model::Cursor::START), 422),
            (Fault::Log(LogFault::Busy), 429),
            (Fault::Short, 429),
            (Fault::Log(LogFault::Full("no room".into())), 507),
            (Fault::Log(LogFault::Failed("io".into())), 503),
            (Fault::Stopping, 503),
            (Fault::History(HistoryFault::BadPage), 400),
            (Fault::History(HistoryFault::Failed("io".into())), 500),
        ] {
            let response = from_hub(&fault, &[]);
            assert_eq!(response.status, status, "{fault}");
            let retries = response
                .headers
                .iter()
                .any(|(name, _)| *name == "retry-after");
            assert_eq!(retries, matches!(status, 429 | 503), "{fault}");
        }
    }
}
