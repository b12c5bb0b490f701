//! Envelopes as other people's services write them.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name};
use weir_model::{Batch, BatchBuilder, Limits, Value};

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("soap").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

const SOAP12: &str = "http://www.w3.org/2003/05/soap-envelope";
const SOAP11: &str = "http://schemas.xmlsoap.org/soap/envelope/";

fn envelope(uri: &str, inner: &str) -> String {
    format!("<s:Envelope xmlns:s='{uri}'>{inner}</s:Envelope>")
}

#[test]
fn both_versions_read_with_and_without_a_wrapper() {
    let message = "<observations><observation><value>5</value></observation></observations>";
    let wrapped = format!("<w:publish xmlns:w='urn:w'>{message}</w:publish>");
    for uri in [SOAP12, SOAP11] {
        for content in [message, &wrapped] {
            let header = "<s:Header><a xmlns='urn:a' s:mustUnderstand='0'>1</a></s:Header>";
            let text = envelope(uri, &format!("\n {header} <s:Body> {content} </s:Body>"));
            let batch = read(&text).unwrap();
            assert_eq!((batch.len(), batch.value(0)), (1, Value::Number(5.0)));
        }
    }
}

#[test]
fn a_message_is_written_in_an_envelope_of_1_2() {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.value(Value::Bool(true));
    builder.end().unwrap();
    let mut out = Vec::new();
    (by_name("soap").unwrap().encode)(&builder.finish(), &mut out);
    let expected = format!(
        "<env:Envelope xmlns:env=\"{SOAP12}\"><env:Body><observations><observation>\
         <value>true</value></observation></observations></env:Body></env:Envelope>"
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn a_fault_is_an_error_that_says_what_the_peer_says() {
    let fault12 = "<s:Body><s:Fault><s:Code><s:Value>s:Sender</s:Value></s:Code>\
        <s:Reason><s:Text xml:lang='en'>no such offering</s:Text></s:Reason></s:Fault></s:Body>";
    let fault11 = "<s:Body><s:Fault><faultcode>s:Client</faultcode>\
        <faultstring>no such offering</faultstring></s:Fault></s:Body>";
    for (uri, body, code) in [(SOAP12, fault12, "s:Sender"), (SOAP11, fault11, "s:Client")] {
        let text = envelope(uri, body);
        let at = text.find("<s:Fault>").unwrap();
        let expected =
            format!("the peer answers with a fault, {code}: no such offering at byte {at}");
        assert_eq!(read(&text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn what_is_no_envelope_that_can_be_read_is_refused() {
    let fault = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        fault("<a/>"),
        "expected the element Envelope of SOAP at byte 0"
    );
    let other = envelope("urn:other", "<s:Body/>");
    assert_eq!(fault(&other), "expected SOAP 1.2 or 1.1 at byte 0");
    assert!(fault(&envelope(SOAP12, "")).starts_with("expected a Body"));
    let must = "<s:Header><a s:mustUnderstand='true'/></s:Header><s:Body/>";
    assert!(fault(&envelope(SOAP12, must)).starts_with("expected no header that must be"));
    let next = format!("s:role='{SOAP12}/role/next'");
    let must = must.replace("s:must", &format!("{next} s:must"));
    assert!(fault(&envelope(SOAP12, &must)).starts_with("expected no header that must be"));
    let of_another = must
        .replace("role/next", "role/none")
        .replace("<s:Body/>", "");
    assert!(fault(&envelope(SOAP12, &of_another)).starts_with("expected a Body"));
    let nested = "<s:Body><a><b/></a></s:Body>";
    assert!(fault(&envelope(SOAP12, nested)).starts_with("expected the element observations"));
}
