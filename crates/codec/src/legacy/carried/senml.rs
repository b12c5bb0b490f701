//! A SenML pack of one record whose data value is the block (RFC 8428 sections 4.3, 5.1 and 6).
//!
//! What it deliberately does not do: it looks at no other member of the record. A label that ends with
//! `_` must be understood (section 4.4), and none is.

#[cfg(feature = "senml-cbor")]
use super::binary::to_cbor;
use crate::error::DecodeError;
use crate::syntax::{Key, Pull};
use alloc::vec::Vec;
use weir_model::Limits;

/// The name that a record must have.
const NAME: &str = "block";

/// Appends a pack in JSON.
#[cfg(feature = "senml-json")]
pub fn to_senml_json(block: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(br#"[{"n":""#);
    out.extend_from_slice(NAME.as_bytes());
    out.extend_from_slice(br#"","vd":""#);
    out.extend_from_slice(crate::base64::url(block).as_bytes());
    out.extend_from_slice(br#""}]"#);
}

/// Appends what the pack in JSON holds; says where in the pack its base64url begins.
#[cfg(feature = "senml-json")]
pub fn from_senml_json(
    pack: &[u8],
    limits: &Limits,
    out: &mut Vec<u8>,
) -> Result<usize, DecodeError> {
    let text = crate::rows::utf8(pack, limits)?;
    let limits = long_texts(limits);
    let mut pull = crate::syntax::json::Json::new(text, &limits);
    record(&mut pull, Key::Text("vd"), |pull| {
        // The quote stands before the text.
        let at = pull.at() + 1;
        let read = crate::base64::from_url(pull.text()?.as_bytes(), out);
        read.map_err(|error| DecodeError {
            at: at + error.at,
            ..error
        })?;
        Ok(at)
    })
}

/// Appends a pack in CBOR: an array of a map from 0 to the name and from 8 to the byte string.
#[cfg(feature = "senml-cbor")]
pub fn to_senml_cbor(block: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&[0x81, 0xA2, 0x00, 0x60 | NAME.len() as u8]);
    out.extend_from_slice(NAME.as_bytes());
    out.push(0x08);
    to_cbor(block, out);
}

/// Appends what the pack in CBOR holds; says where in the pack its bytes begin.
#[cfg(feature = "senml-cbor")]
pub fn from_senml_cbor(
    pack: &[u8],
    limits: &Limits,
    out: &mut Vec<u8>,
) -> Result<usize, DecodeError> {
    crate::rows::check_length(pack, limits)?;
    let limits = long_texts(limits);
    let mut pull = crate::syntax::cbor::Cbor::new(pack, &limits);
    record(&mut pull, Key::Number(8), |pull| {
        let bytes = pull.bytes()?;
        let len = bytes.len();
        out.extend_from_slice(bytes);
        Ok(pull.at().saturating_sub(len))
    })
}

/// A data value may be as long as the message.
fn long_texts(limits: &Limits) -> Limits {
    Limits {
        text_bytes: limits.message_bytes,
        ..*limits
    }
}

/// What a member of the record is.
enum Member {
    Data,
    MustBeUnderstood,
    Other,
}

fn record<P: Pull>(
    pull: &mut P,
    label: Key<'_>,
    mut take: impl FnMut(&mut P) -> Result<usize, DecodeError>,
) -> Result<usize, DecodeError> {
    let mut pack = pull.array()?;
    let start = pull.at();
    let expected = |what| Err(DecodeError::expected(start, what));
    if !pull.item(&mut pack)? {
        return expected("a record");
    }
    let mut map = pull.map()?;
    let mut found = None;
    loop {
        let at = pull.at();
        let member = match pull.key(&mut map)? {
            None => break,
            Some(key) if key == label => Member::Data,
            Some(Key::Text(text)) if text.ends_with('_') => Member::MustBeUnderstood,
            Some(_) => Member::Other,
        };
        match member {
            Member::Data if found.is_some() => {
                return Err(DecodeError::expected(at, "one data value"));
            }
            Member::Data => found = Some(take(pull)?),
            Member::MustBeUnderstood => {
                return Err(DecodeError::expected(
                    at,
                    "no label that must be understood",
                ));
            }
            Member::Other => pull.skip()?,
        }
    }
    let Some(found) = found else {
        return expected("a record with a data value");
    };
    let at = pull.at();
    if pull.item(&mut pack)? {
        return Err(DecodeError::expected(at, "one record"));
    }
    pull.finish()?;
    Ok(found)
}

#[cfg(all(test, feature = "senml-json", feature = "senml-cbor"))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::ToString;

    const BLOCK: &[u8] = &[0xFB, 0xFF, 1, 2];

    #[test]
    fn a_pack_is_one_record_of_which_the_block_is_the_data() {
        let (mut json, mut cbor) = (Vec::new(), Vec::new());
        to_senml_json(BLOCK, &mut json);
        to_senml_cbor(BLOCK, &mut cbor);
        assert_eq!(json, br#"[{"n":"block","vd":"-_8BAg"}]"#);
        assert_eq!(cbor, b"\x81\xa2\x00\x65block\x08\x44\xfb\xff\x01\x02");
        let (mut from_json, mut from_cbor) = (Vec::new(), Vec::new());
        from_senml_json(&json, &Limits::default(), &mut from_json).unwrap();
        from_senml_cbor(&cbor, &Limits::default(), &mut from_cbor).unwrap();
        assert_eq!((&from_json[..], &from_cbor[..]), (BLOCK, BLOCK));
        for len in 0..cbor.len() {
            let read = from_senml_cbor(&cbor[..len], &Limits::default(), &mut from_cbor);
            assert!(read.is_err(), "{len}");
        }
    }

    #[test]
    fn a_pack_of_something_else_is_refused_with_its_place() {
        let fault = |text: &str| {
            let read = from_senml_json(text.as_bytes(), &Limits::default(), &mut Vec::new());
            read.unwrap_err().to_string()
        };
        assert_eq!(fault("[]"), "expected a record at byte 1");
        assert_eq!(
            fault(r#"[{"n":"a","v":1}]"#),
            "expected a record with a data value at byte 1"
        );
        let twice = fault(r#"[{"vd":"","vd":""}]"#);
        assert!(
            twice.starts_with("expected one data value at byte "),
            "{twice}"
        );
        let two = fault(r#"[{"vd":""},{"vd":""}]"#);
        assert!(two.starts_with("expected one record at byte "), "{two}");
        let strange = fault(r#"[{"x_":1,"vd":""}]"#);
        assert!(strange.contains("must be understood"), "{strange}");
        assert_eq!(fault(r#"[{"vd":"Zm*v"}]"#), "expected base64url at byte 10");
    }
}
