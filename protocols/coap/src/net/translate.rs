//! Requests as services understand them, and answers as CoAP has them (RFC 8075, the other way round).

use crate::wire::{Code, Message, Number, path_of, query_of, set_path, set_query};
use bytes::Bytes;
use std::sync::Arc;
use weir_binding::{AsItIs, Call, Gateway, Response};
use weir_hub::Principal;
use weir_model::Cursor;

/// The gap before what a `since` asks for, as JSON: an option of ours, elective and safe to forward,
/// from the range for experiments (RFC 7252 section 12.2).
pub(super) const WEIR_GAP: Number = Number(65_000);
/// `text/plain; charset=utf-8` (RFC 7252 section 12.3).
const TEXT: u16 = 0;
/// `application/link-format` (RFC 6690 section 7.3).
pub(super) const LINK_FORMAT: u16 = 40;

/// `application/soap+xml`, which has no number: ours, from the range for experiments (RFC 7252 section 12.3).
pub(super) const SOAP: u16 = 65_001;
const SOAP_MEDIA: &str = "application/soap+xml";

/// The media type of a Content-Format.
pub(super) fn media_of(number: u32) -> Option<&'static str> {
    let number = u16::try_from(number).ok()?;
    match number {
        LINK_FORMAT => Some("application/link-format"),
        42 => Some("application/octet-stream"),
        SOAP => Some(SOAP_MEDIA),
        _ => weir_codec::by_content_format(number).map(|format| format.media),
    }
}

/// The Content-Format of a media type.
pub(super) fn content_format_of(media: &str) -> Option<u16> {
    match media {
        "application/link-format" => Some(LINK_FORMAT),
        "application/octet-stream" => Some(42),
        _ if media.starts_with(SOAP_MEDIA) => Some(SOAP),
        _ => weir_codec::by_media(media)?.content_format,
    }
}

/// A request as a call on a service.
pub(super) fn call_of(
    message: &Message,
    principal: Principal,
    context: &dyn Gateway,
) -> Result<Call, Message> {
    let path = path_of(&message.options);
    let mut headers = headers_of(message)?;
    let mut query = query_of(&message.options);
    take_header(&mut query, "idempotency-key", &mut headers);
    name_format(message.code, &mut query, &mut headers);
    Ok(Call {
        principal,
        peer: None,
        scheme: None,
        now: context.now(),
        method: method_of(message.code, &path, &message.payload)?.to_owned(),
        path,
        query,
        raw_query: String::new(),
        headers,
        body: message.payload.clone(),
        wrapper: Arc::new(AsItIs),
        workers: context.workers(),
        websocket: None,
        incoming: Default::default(),
    })
}

/// What is sent and what is wanted, as media types.
// [RFC7252-5.10.3-1] [RFC7252-5.10.4-1]
fn headers_of(message: &Message) -> Result<Vec<(String, String)>, Message> {
    let mut headers = Vec::new();
    if let Some(number) = message.options.uint(Number::CONTENT_FORMAT) {
        let media = media_of(number).ok_or_else(|| {
            let reason = format!("Content-Format {number} is not taken here");
            Message::diagnostic(Code::UNSUPPORTED_CONTENT_FORMAT, &reason)
        })?;
        headers.push(("content-type".to_owned(), media.to_owned()));
    }
    if let Some(number) = message.options.uint(Number::ACCEPT) {
        let media = media_of(number).ok_or_else(|| not_acceptable(number))?;
        headers.push(("accept".to_owned(), media.to_owned()));
    }
    Ok(headers)
}

/// What has no option of its own goes by the query; as a field's, its name is in either case.
fn take_header(query: &mut Vec<(String, String)>, name: &str, headers: &mut Vec<(String, String)>) {
    let place = query
        .iter()
        .position(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some(place) = place {
        let (_, value) = query.remove(place);
        headers.push((name.to_owned(), value));
    }
}

/// A format without a number is named when it is published in, too; one that has a number may be named besides.
fn name_format(code: Code, query: &mut Vec<(String, String)>, headers: &mut Vec<(String, String)>) {
    let named = query.iter().position(|(name, _)| name == "as");
    let (Code::POST | Code::PUT, Some(place)) = (code, named) else {
        return;
    };
    let Some(format) = weir_codec::by_name(&query[place].1) else {
        return;
    };
    let said = headers.iter().find(|(name, _)| name == "content-type");
    let said = said.map(|(_, media)| media.clone());
    // Where both are said and differ, the key stays, and is refused.
    if said.is_none() {
        headers.push(("content-type".to_owned(), format.media.to_owned()));
    }
    if said.is_none_or(|media| media == format.media) {
        query.remove(place);
    }
}

/// The method that a service knows: devices PUT their values where HTTP's clients POST them, and
/// FETCH sends a list of filters as POST to `/live` does.
// [RFC7252-5.1-1] [RFC8132-2-1] [RFC8132-3-1]
fn method_of(code: Code, path: &str, body: &Bytes) -> Result<&'static str, Message> {
    let live = path == "/live" || path.starts_with("/live/");
    let method = code.method().unwrap_or_default();
    match code {
        Code::PUT if live => Ok("POST"),
        Code::FETCH if body.is_empty() => Ok("GET"),
        Code::FETCH if path.trim_end_matches('/') == "/live" => Ok("POST"),
        Code::DELETE if live => {
            let reason = "DELETE is not possible here; GET, POST and PUT are";
            Err(Message::diagnostic(Code::METHOD_NOT_ALLOWED, reason))
        }
        Code::FETCH | Code::PATCH | Code::IPATCH => {
            let reason = format!("{method} is not possible here");
            Err(Message::diagnostic(Code::METHOD_NOT_ALLOWED, &reason))
        }
        _ => Ok(method),
    }
}

fn not_acceptable(number: u32) -> Message {
    let reason = format!("nothing is given in Content-Format {number} here");
    Message::diagnostic(Code::NOT_ACCEPTABLE, &reason)
}

/// A service's answer as a response to this request.
// [RFC7252-5.10.4-2] [RFC7252-5.10.6.2-1] [RFC7252-5.9.1.3-1]
pub(super) fn message_of(request: &Message, response: Response) -> Message {
    let code = code_of(request.code, response.status);
    if !code.is_success() {
        return refusal(code, &response);
    }
    let mut message = Message::new(code);
    let mut media = None;
    for (name, value) in &response.headers {
        match *name {
            "content-type" => media = Some(content_format_of(value)),
            "etag" => push_cursor(&mut message, value),
            "weir-cursor" if code != Code::CONTENT => push_cursor(&mut message, value),
            "weir-gap" => message.options.set(WEIR_GAP, value.as_bytes()),
            "cache-control" if is_uncached(value) && !observes(request) => {
                message.options.set_uint(Number::MAX_AGE, 0);
            }
            "location" => add_location(&mut message, value),
            _ => {}
        }
    }
    let accept = request.options.uint(Number::ACCEPT);
    let found = media.flatten().filter(|_| !response.body.is_empty());
    if let (Some(wanted), false) = (accept, response.body.is_empty())
        && found.map(u32::from) != Some(wanted)
    {
        return not_acceptable(wanted);
    }
    if is_known(request, &message) {
        message.code = Code::VALID;
        message.options.remove(Number::CONTENT_FORMAT);
        return message;
    }
    if let Some(number) = found {
        message
            .options
            .set_uint(Number::CONTENT_FORMAT, u32::from(number));
    }
    message.with_payload(response.body)
}

// [RFC7252-5.6.1-1]
fn is_uncached(value: &str) -> bool {
    value.contains("no-cache") || value.contains("no-store")
}

fn observes(request: &Message) -> bool {
    request.options.uint(Number::OBSERVE) == Some(0)
}

/// Says whether the client has this already. Of several datastreams one may have been forgotten, which
/// the tag does not tell, so that holds for single topics only.
// [RFC7252-5.10.6-1]
fn is_known(request: &Message, response: &Message) -> bool {
    let several = request.options.all(Number::URI_PATH);
    let several = several
        .into_iter()
        .any(|segment| matches!(segment, b"+" | b"#"));
    let tag = response.options.first(Number::ETAG);
    let get = matches!(request.code, Code::GET | Code::FETCH);
    get && !several
        && tag.is_some_and(|tag| request.options.all(Number::ETAG).any(|known| known == tag))
}

/// A cursor is eight bytes, as an entity tag may have.
// [RFC7252-5.10.6.1-1]
fn push_cursor(message: &mut Message, text: &str) {
    let bare = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
    let bare = bare.split('.').next().unwrap_or(bare);
    if let Ok(cursor) = bare.parse::<Cursor>() {
        let bits = cursor.bits().to_be_bytes();
        message.options.set(Number::ETAG, &bits);
    }
}

fn add_location(message: &mut Message, uri: &str) {
    let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
    let path = set_path(&mut message.options, Number::LOCATION_PATH, path);
    let query = set_query(&mut message.options, Number::LOCATION_QUERY, query);
    let _what_options_cannot_carry_is_left_out = path.and(query);
}

/// An error: with the service's sentence as diagnostic payload (RFC 7252 section 5.5.2), or with what it says in
/// a format, such as a fault of SOAP (section 5.5.1).
fn refusal(code: Code, response: &Response) -> Message {
    let mut headers = response.headers.iter();
    let media = headers.find(|(name, _)| *name == "content-type");
    let format = media.and_then(|(_, media)| content_format_of(media));
    let mut message = match format.filter(|format| *format != TEXT) {
        Some(format) => {
            let mut message = Message::new(code);
            message
                .options
                .set_uint(Number::CONTENT_FORMAT, u32::from(format));
            message.with_payload(response.body.clone())
        }
        None => {
            let sentence = response.body.trim_ascii_end();
            Message::new(code).with_payload(response.body.slice_ref(sentence))
        }
    };
    // [RFC7252-5.9.3.4-1]
    if code == Code::SERVICE_UNAVAILABLE {
        let mut headers = response.headers.iter();
        let after = headers.find(|(name, _)| *name == "retry-after");
        let seconds = after.and_then(|(_, text)| text.parse().ok()).unwrap_or(1);
        message.options.set_uint(Number::MAX_AGE, seconds);
    }
    message
}

/// The code of a status (RFC 8075 section 7, table 2, the other way round).
// [RFC7252-5.8.1-1] [RFC7252-5.8.2-2]
pub(super) fn code_of(method: Code, status: u16) -> Code {
    let reads = matches!(method, Code::GET | Code::FETCH);
    match status {
        201 => Code::CREATED,
        304 => Code::VALID,
        200..=299 if reads => Code::CONTENT,
        200..=299 if method == Code::DELETE => Code::DELETED,
        200..=299 => Code::CHANGED,
        401 => Code::UNAUTHORIZED,
        403 => Code::FORBIDDEN,
        404 | 410 => Code::NOT_FOUND,
        405 => Code::METHOD_NOT_ALLOWED,
        406 => Code::NOT_ACCEPTABLE,
        409 => Code::CONFLICT,
        412 => Code::PRECONDITION_FAILED,
        413 => Code::REQUEST_ENTITY_TOO_LARGE,
        415 => Code::UNSUPPORTED_CONTENT_FORMAT,
        422 => Code::UNPROCESSABLE_ENTITY,
        // Overload is the server's, not the client's: it tries again after Max-Age.
        429 | 503 => Code::SERVICE_UNAVAILABLE,
        501 => Code::NOT_IMPLEMENTED,
        502 => Code::BAD_GATEWAY,
        504 => Code::GATEWAY_TIMEOUT,
        400..=499 => Code::BAD_REQUEST,
        _ => Code::INTERNAL_SERVER_ERROR,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn get(path: &str) -> Message {
        let mut message = Message::new(Code::GET);
        set_path(&mut message.options, Number::URI_PATH, path).unwrap();
        message
    }

    fn values() -> Response {
        Response::with_body(200, "application/json", "{}")
            .header("etag", "W/\"1-2f.1\"")
            .header("cache-control", "no-cache")
    }

    /// [RFC7252-5.10.6.2-1] [RFC7252-5.6.1-1] [RFC7252-5.9.1.3-1] [RFC7252-5.10.6-1]
    /// [RFC7252-5.10.6.1-1]
    #[test]
    fn the_tag_is_the_cursor_and_who_has_it_gets_no_body() {
        let answer = message_of(&get("/live/a"), values());
        let tag = Cursor::new(1, 0x2f).bits().to_be_bytes();
        assert_eq!(answer.options.first(Number::ETAG), Some(&tag[..]));
        assert_eq!(answer.options.uint(Number::CONTENT_FORMAT), Some(50));
        assert_eq!(answer.options.uint(Number::MAX_AGE), Some(0));
        let mut again = get("/live/a");
        again.options.push(Number::ETAG, &tag);
        let valid = message_of(&again, values());
        assert_eq!((valid.code, valid.payload.len()), (Code::VALID, 0));
        assert_eq!(valid.options.uint(Number::CONTENT_FORMAT), None);
        let mut several = get("/live/%23");
        several.options.push(Number::ETAG, &tag);
        assert_eq!(message_of(&several, values()).code, Code::CONTENT);
    }

    /// [RFC7252-5.10.3-1] [RFC7252-5.10.4-1]
    #[test]
    fn a_content_format_is_a_media_type_or_refused() {
        let headers = |number, value| {
            let mut message = get("/live/a");
            message.options.push_uint(number, value);
            headers_of(&message).map_err(|refused| refused.code)
        };
        let json = "application/json".to_owned();
        let sent = headers(Number::CONTENT_FORMAT, 50);
        assert_eq!(sent, Ok(vec![("content-type".to_owned(), json.clone())]));
        let wanted = headers(Number::ACCEPT, 50);
        assert_eq!(wanted, Ok(vec![("accept".to_owned(), json)]));
        let unknown = headers(Number::CONTENT_FORMAT, 9999);
        assert_eq!(unknown, Err(Code::UNSUPPORTED_CONTENT_FORMAT));
        assert_eq!(headers(Number::ACCEPT, 9999), Err(Code::NOT_ACCEPTABLE));
    }

    /// [RFC7252-5.10.4-2]
    #[test]
    fn what_is_not_in_the_format_asked_for_is_not_acceptable() {
        let mut wants_xml = get("/catalog");
        wants_xml.options.push_uint(Number::ACCEPT, 41);
        assert_eq!(message_of(&wants_xml, values()).code, Code::NOT_ACCEPTABLE);
        let mut wants_json = get("/catalog");
        wants_json.options.push_uint(Number::ACCEPT, 50);
        assert_eq!(message_of(&wants_json, values()).code, Code::CONTENT);
    }

    /// [RFC7252-5.9.3.4-1] [RFC7252-5.5.2-1] [RFC7252-5.5.2-2]
    #[test]
    fn overload_says_when_to_try_again_and_why() {
        let busy = Response::text(429, "the disk is behind").header("retry-after", "3");
        let answer = message_of(&get("/live/a"), busy);
        assert_eq!(answer.code, Code::SERVICE_UNAVAILABLE);
        assert_eq!(answer.options.uint(Number::MAX_AGE), Some(3));
        assert_eq!(&answer.payload[..], b"the disk is behind");
        assert_eq!(answer.options.uint(Number::CONTENT_FORMAT), None);
    }

    #[test]
    fn an_error_in_a_format_keeps_its_bytes_and_says_which() {
        for (media, number) in [
            ("application/soap+xml; charset=utf-8", 65_001),
            ("text/xml; charset=utf-8", 41),
            ("application/exi", 47),
        ] {
            let fault = Response::with_body(400, media, "fault\n");
            let answer = message_of(&get("/soap/observations"), fault);
            assert_eq!(answer.code, Code::BAD_REQUEST);
            assert_eq!(answer.options.uint(Number::CONTENT_FORMAT), Some(number));
            assert_eq!(&answer.payload[..], b"fault\n");
        }
    }

    /// [RFC7252-5.8.1-1] [RFC7252-5.8.2-2]
    #[test]
    fn a_status_has_its_code_by_method() {
        for (method, status, code) in [
            (Code::POST, 204, "2.04"),
            (Code::PUT, 201, "2.01"),
            (Code::DELETE, 204, "2.02"),
            (Code::GET, 204, "2.05"),
            (Code::GET, 406, "4.06"),
            (Code::POST, 415, "4.15"),
            (Code::POST, 426, "4.00"),
            (Code::POST, 507, "5.00"),
        ] {
            assert_eq!(code_of(method, status).to_string(), code);
        }
    }

    #[test]
    fn every_format_with_a_number_is_found_by_it() {
        for format in weir_codec::FORMATS {
            if let Some(number) = format.content_format {
                let media = media_of(u32::from(number)).unwrap();
                assert_eq!(content_format_of(media), Some(number), "{}", format.name);
            }
        }
        assert_eq!(content_format_of("text/plain; charset=utf-8"), Some(0));
        assert_eq!(media_of(65_999), None);
    }

    /// [RFC8132-2-1] [RFC8132-3-1]
    #[test]
    fn a_device_may_put_its_values() {
        let body = Bytes::new();
        assert_eq!(method_of(Code::PUT, "/live/a", &body).unwrap(), "POST");
        assert_eq!(method_of(Code::PUT, "/catalog/a", &body).unwrap(), "PUT");
        assert_eq!(method_of(Code::FETCH, "/live/a", &body).unwrap(), "GET");
        let list = Bytes::from_static(b"[]");
        assert_eq!(method_of(Code::FETCH, "/live", &list).unwrap(), "POST");
        let refused = method_of(Code::FETCH, "/catalog", &list).unwrap_err();
        assert_eq!(refused.code, Code::METHOD_NOT_ALLOWED);
        let refused = method_of(Code::DELETE, "/live/a", &body).unwrap_err();
        assert!(refused.payload.ends_with(b"GET, POST and PUT are"));
    }

    #[test]
    fn a_query_for_a_field_is_spelt_as_the_field_or_small() {
        for spelt in ["Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY"] {
            let (mut query, mut headers) = (vec![(spelt.to_owned(), "k1".to_owned())], Vec::new());
            take_header(&mut query, "idempotency-key", &mut headers);
            assert_eq!(headers, [("idempotency-key".into(), "k1".into())]);
            assert!(query.is_empty());
        }
    }
}
