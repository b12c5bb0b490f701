//! Requests on a condition: If-Match and If-None-Match (RFC 7252 section 5.10.8).
//!
//! What it deliberately does not do: hold anything still. What a service has is read just before, and what
//! others do between is theirs.

use crate::wire::{Code, Message, Number, Options};

/// Says whether a request is made on a condition.
pub(super) fn is_made(options: &Options) -> bool {
    let mut numbers = options.iter().map(|option| option.number);
    numbers.any(|number| matches!(number, Number::IF_MATCH | Number::IF_NONE_MATCH))
}

/// The request that reads what a condition is about.
pub(super) fn reading(request: &Message) -> Message {
    let mut get = Message::new(Code::GET);
    get.options = request
        .options
        .filtered(|number| number == Number::URI_PATH);
    get
}

/// Holds a request's conditions against the tag of what is there, if anything is: 4.12 where one fails.
// [RFC7252-5.10.8-1] [RFC7252-5.10.8.1-1] [RFC7252-5.10.8.1-2] [RFC7252-5.10.8.2-1]
pub(super) fn check(options: &Options, found: Option<&[u8]>) -> Result<(), Message> {
    let failed = |reason: &str| Err(Message::diagnostic(Code::PRECONDITION_FAILED, reason));
    let mut wanted = options.all(Number::IF_MATCH).peekable();
    if wanted.peek().is_some() {
        let fits = |tag: &[u8]| wanted.any(|value| value.is_empty() || value == tag);
        if !found.is_some_and(fits) {
            return failed("none of the tags is that of what is there");
        }
    }
    if options.first(Number::IF_NONE_MATCH).is_some() && found.is_some() {
        return failed("it is there already");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(pairs: &[(Number, &[u8])], found: Option<&[u8]>) -> bool {
        let mut options = Options::new();
        pairs
            .iter()
            .for_each(|(number, value)| options.push(*number, value));
        assert!(is_made(&options));
        check(&options, found).is_ok()
    }

    /// [RFC7252-5.10.8-1] [RFC7252-5.10.8.1-1] [RFC7252-5.10.8.1-2] [RFC7252-5.10.8.2-1]
    #[test]
    fn any_tag_that_fits_is_enough_and_an_empty_one_always_fits() {
        let (one, two) = ((Number::IF_MATCH, &b"1"[..]), (Number::IF_MATCH, &b"2"[..]));
        assert!(holds(&[one, two], Some(b"2")));
        assert!(!holds(&[one, two], Some(b"3")));
        assert!(!holds(&[one], None));
        assert!(holds(&[(Number::IF_MATCH, b"")], Some(b"3")));
        assert!(!holds(&[(Number::IF_MATCH, b"")], None));
        assert!(holds(&[(Number::IF_NONE_MATCH, b"")], None));
        assert!(!holds(&[(Number::IF_NONE_MATCH, b"")], Some(b"3")));
        assert!(!is_made(&Options::new()));
    }
}
