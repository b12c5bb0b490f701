#![allow(clippy::unwrap_used)]
use super::*;

fn ask(plugtest: &Plugtest, code: Code, path: &str, options: &[(Number, &[u8])]) -> Message {
    let mut message = Message::new(code).with_payload("new");
    for (number, value) in options {
        message.options.push(*number, value);
    }
    plugtest.answer(path, &message)
}

fn code(plugtest: &Plugtest, code: Code, path: &str, options: &[(Number, &[u8])]) -> Code {
    ask(plugtest, code, path, options).code
}

/// TD_COAP_CORE_21: a tag that still holds is valid. [RFC7252-5.10.6.2-1]
#[test]
fn a_tag_holds_until_the_resource_is_changed() {
    let plugtest = Plugtest::default();
    let first = ask(&plugtest, Code::GET, "/validate", &[]);
    let tag = first.options.first(Number::ETAG).unwrap();
    let asked = |tag| code(&plugtest, Code::GET, "/validate", &[(Number::ETAG, tag)]);
    assert_eq!(asked(tag), Code::VALID);
    assert_eq!(code(&plugtest, Code::PUT, "/validate", &[]), Code::CHANGED);
    assert_eq!(asked(tag), Code::CONTENT);
}

/// TD_COAP_CORE_22 and 23. [RFC7252-5.10.8.1-1] [RFC7252-5.10.8.2-1]
#[test]
fn preconditions_hold_or_nothing_is_done() {
    let plugtest = Plugtest::default();
    let put = |path, options: &[(Number, &[u8])]| code(&plugtest, Code::PUT, path, options);
    let tag = ask(&plugtest, Code::GET, "/validate", &[]);
    let tag = tag.options.first(Number::ETAG).unwrap();
    assert_eq!(
        put("/validate", &[(Number::IF_MATCH, b"other")]),
        Code::PRECONDITION_FAILED
    );
    assert_eq!(
        put(
            "/validate",
            &[(Number::IF_MATCH, b"other"), (Number::IF_MATCH, tag)]
        ),
        Code::CHANGED
    );
    assert_eq!(
        put("/validate", &[(Number::IF_MATCH, tag)]),
        Code::PRECONDITION_FAILED
    );
    assert_eq!(put("/validate", &[(Number::IF_MATCH, b"")]), Code::CHANGED);
    assert_eq!(
        put("/create7", &[(Number::IF_MATCH, b"")]),
        Code::PRECONDITION_FAILED
    );
    assert_eq!(
        put("/create1", &[(Number::IF_NONE_MATCH, b"")]),
        Code::CREATED
    );
    assert_eq!(
        put("/create1", &[(Number::IF_NONE_MATCH, b"")]),
        Code::PRECONDITION_FAILED
    );
    assert_eq!(
        code(&plugtest, Code::DELETE, "/create1", &[]),
        Code::DELETED
    );
    assert_eq!(
        put("/create1", &[(Number::IF_NONE_MATCH, b"")]),
        Code::CREATED
    );
}

/// [RFC7252-5.8.2-1]
#[test]
fn what_is_created_says_where_it_is() {
    let plugtest = Plugtest::default();
    let answer = ask(&plugtest, Code::POST, "/large-create", &[]);
    assert_eq!(answer.code, Code::CREATED);
    let place = crate::wire::location(&answer.options).unwrap();
    assert_eq!(ask(&plugtest, Code::GET, &place, &[]).payload, "new");
    let answer = ask(&plugtest, Code::POST, "/test", &[]);
    let place = crate::wire::location(&answer.options).unwrap();
    assert_eq!(place, "/location1/location2/location3");
    let answer = ask(&plugtest, Code::POST, "/location-query", &[]);
    let place = crate::wire::location(&answer.options).unwrap();
    assert_eq!(place, "?first=1&second=2");
}

#[test]
fn a_format_is_given_or_not_acceptable() {
    let plugtest = Plugtest::default();
    let get = |number: &[u8]| {
        ask(
            &plugtest,
            Code::GET,
            "/multi-format",
            &[(Number::ACCEPT, number)],
        )
    };
    assert_eq!(get(&[]).options.uint(Number::CONTENT_FORMAT), Some(0));
    assert_eq!(get(&[41]).options.uint(Number::CONTENT_FORMAT), Some(41));
    assert_eq!(get(&[50]).code, Code::NOT_ACCEPTABLE);
}

/// TD_COAP_OBS_07 and 08.
/// [RFC7641-4.2-5] [RFC7641-4.2-6]
#[test]
fn an_observer_is_told_of_deletion_and_of_another_format() {
    let plugtest = Plugtest::default();
    let request = Message::new(Code::GET);
    assert!(plugtest.version("/obs").is_some() && plugtest.version("/test").is_none());
    code(&plugtest, Code::PUT, "/obs", &[]);
    assert_eq!(plugtest.told("/obs", &request).payload, "new");
    code(
        &plugtest,
        Code::PUT,
        "/obs",
        &[(Number::CONTENT_FORMAT, &[50])],
    );
    assert_eq!(plugtest.told("/obs", &request).code, Code::NOT_ACCEPTABLE);
    code(&plugtest, Code::DELETE, "/obs", &[]);
    assert_eq!(plugtest.told("/obs", &request).code, Code::NOT_FOUND);
}

/// [RFC7252-5.8.3-3]
#[test]
fn only_so_many_resources_can_be_created() {
    let plugtest = Plugtest::default();
    let created = (0..200).filter(|number| {
        let path = format!("/create{number}");
        code(&plugtest, Code::PUT, &path, &[]) == Code::CREATED
    });
    assert_eq!(created.count(), CREATED_MAX);
}
