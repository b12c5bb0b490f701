//! From what came in to parameters, and which binding it was.

mod elements;
mod form;
mod json;
mod kvp;
mod pox;

pub(crate) use form::Form;

use crate::exception::Exception;
use crate::limits::BATCH_MAX;
use crate::params::Params;
use serde_json::Value as Json;
use weir_codec::document::soap::{self, Envelope};
use weir_codec::document::{self, Element};
use weir_service::Call;

/// What a request was, and what is to be answered in.
pub(crate) struct Read {
    pub(crate) form: Form,
    pub(crate) params: Result<Params, Exception>,
}

/// The requests of a batch.
pub(crate) struct Batch {
    pub(crate) requests: Vec<Json>,
    /// Whether the first that is refused is the last.
    pub(crate) stops_at_failure: bool,
}

/// The requests of a batch, where that is what the call is: `{"request":"Batch","requests":[...]}`.
pub(crate) fn batch(call: &Call) -> Option<Result<Batch, Exception>> {
    let media = call.header("content-type").unwrap_or_default();
    if call.method != "POST" || !media.starts_with("application/json") {
        return None;
    }
    let mut object = json::object(&call.body).ok()?;
    if object["request"] != "Batch" {
        return None;
    }
    let stops_at_failure = object["stopAtFailure"] == true;
    Some(match object["requests"].take() {
        Json::Array(requests) if requests.len() <= BATCH_MAX => Ok(Batch {
            requests,
            stops_at_failure,
        }),
        Json::Array(_) => Err(Exception::invalid(
            "requests",
            format!("more than {BATCH_MAX} requests"),
        )),
        _ => Err(Exception::missing("requests")),
    })
}

/// Reads one request of a batch.
pub(crate) fn read_json(call: &Call, object: Json) -> Read {
    Read {
        form: Form::json(call),
        params: json::params(object),
    }
}

/// Reads a call.
pub(crate) fn read(call: &Call) -> Read {
    let media = call.header("content-type").unwrap_or_default();
    let essence = media.split(';').next().unwrap_or_default().trim();
    if call.method == "GET" {
        let pairs = if call.raw_query.is_empty() {
            kvp::decoded_pairs(&call.query)
        } else {
            kvp::pairs(&call.raw_query)
        };
        return kvp_read(call, Ok(pairs));
    }
    match essence {
        "application/x-www-form-urlencoded" => {
            let text = std::str::from_utf8(&call.body);
            let text = text.map_err(|_| Exception::malformed("the form is not UTF-8"));
            kvp_read(call, text.map(kvp::pairs))
        }
        "application/json" => Read {
            form: Form::json(call),
            params: json::object(&call.body).and_then(json::params),
        },
        "application/exi" => match document::exi::read(&call.body) {
            Ok(root) => xml_read(call, root, true),
            Err(fault) => Read {
                form: Form::exi(call),
                params: Err(Exception::malformed(fault.to_string())),
            },
        },
        _ if is_xml(essence, &call.body) => match pox::read_root(&call.body) {
            Ok(root) => xml_read(call, root, false),
            Err(exception) => refused(call, exception),
        },
        other => {
            let sentence = format!(
                "`{other}` is not taken here; application/xml, application/soap+xml, text/xml, \
                 application/exi, application/json and application/x-www-form-urlencoded are"
            );
            let mut exception = Exception::malformed(sentence);
            exception.status = Some(415);
            refused(call, exception)
        }
    }
}

fn is_xml(essence: &str, body: &[u8]) -> bool {
    let named = essence.ends_with("/xml") || essence.ends_with("+xml");
    named || (essence.is_empty() && body.trim_ascii_start().first() == Some(&b'<'))
}

fn kvp_read(call: &Call, pairs: Result<Vec<kvp::Pair>, Exception>) -> Read {
    Read {
        form: Form::plain(call),
        params: pairs.and_then(|pairs| kvp::params(&pairs)),
    }
}

fn refused(call: &Call, exception: Exception) -> Read {
    let soap12 = call
        .header("content-type")
        .is_some_and(|media| media.starts_with("application/soap+xml"));
    let form = if soap12 {
        Form::soap(call, soap::Version::V12, None, false)
    } else {
        Form::plain(call)
    };
    Read {
        form,
        params: Err(exception),
    }
}

/// A request that stands by itself or in an envelope.
// [SOS1-11.1-1]
fn xml_read(call: &Call, root: Element, exi: bool) -> Read {
    if !soap::is_envelope(&root) {
        let form = if exi {
            Form::exi(call)
        } else {
            Form::plain(call)
        };
        let message = (!exi).then(|| call.body.clone());
        return Read {
            form,
            params: pox::params(root, message),
        };
    }
    match soap::open(root) {
        Ok(Envelope {
            version,
            body,
            message_id,
        }) => Read {
            form: Form::soap(call, version, message_id, exi),
            params: body
                .ok_or_else(|| Exception::malformed("the envelope's Body is empty"))
                .and_then(|body| pox::params(body, None)),
        },
        Err((version, fault)) => Read {
            form: Form::soap(call, version, None, exi).with_fault(fault),
            params: Err(Exception::malformed("not an envelope that is understood")),
        },
    }
}
