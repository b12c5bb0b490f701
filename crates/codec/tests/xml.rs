//! The message as elements, as other people's software writes and reads it.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name, sample};
use weir_model::{Batch, BatchBuilder, Limits, Value};

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("xml").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn write(batch: &Batch) -> String {
    let mut out = Vec::new();
    (by_name("xml").unwrap().encode)(batch, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn a_message_with_indentation_and_a_declaration_reads() {
    let text = r#"<?xml version="1.0" encoding="utf-8"?>
<observations>
  <observation>
    <topic>a/b</topic> <value> 21.5 </value> <unit>Cel</unit>
    <time>
      2026-11-20T09:41:00Z
    </time>
    <comment>ignored <b/></comment>
  </observation>
  <observation><value>open</value></observation>
  <observation><value kind="text"> 5 </value></observation>
  <observation><value kind="null"/></observation>
  <observation><value kind="json">[1, "x"]</value></observation>
</observations>
"#;
    let batch = read(text).unwrap();
    let values: Vec<_> = batch.rows().map(|row| row.value).collect();
    let expected = [
        Value::Number(21.5),
        Value::Text("open"),
        Value::Text(" 5 "),
        Value::Null,
        Value::Json(r#"[1,"x"]"#),
    ];
    assert_eq!(values, expected);
    assert_eq!(
        (batch.row(0).topic, batch.row(0).unit),
        ("a/b", Some("Cel"))
    );
}

#[test]
fn the_message_is_written_on_one_line_with_the_names_of_json() {
    let batch = sample::message(1, 0).select(|row| row == 0);
    let expected = concat!(
        "<observations><observation><topic>heating/substation-1/supply/temperature</topic>",
        "<sensor>urn:dev:mac:0024befffe800010</sensor><type>water-temperature</type>",
        "<value>75.88</value><unit>Cel</unit><time>2026-11-20T09:41:00.250Z</time>",
        "<lat>44.813503</lat><lon>20.462207</lon></observation></observations>",
    );
    assert_eq!(write(&batch), expected);
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let fault = |inner: &str| {
        read(&format!("<observation>{inner}</observation>"))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        fault("<unit>m</unit>"),
        "an observation needs a `value` at byte 0"
    );
    assert_eq!(
        fault("<value/>"),
        "an observation needs a `value` at byte 0"
    );
    assert_eq!(
        fault("<value>1</value><lat>x</lat>"),
        "expected a number at byte 34"
    );
    assert_eq!(
        fault("<time>noon</time>"),
        "expected a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits at byte 19"
    );
    assert_eq!(
        fault("<unit><b/></unit>"),
        "expected text and no element at byte 19"
    );
    let kind = r#"<value kind="colour">1</value>"#;
    assert_eq!(
        fault(kind),
        "expected kind to be text, null or json at byte 20"
    );
    let json = r#"<value kind="json">[1,]</value>"#;
    assert_eq!(fault(json), "expected something after the comma at byte 35");
    assert_eq!(
        read("<html/>").unwrap_err().to_string(),
        "expected the element observations at byte 0"
    );
}
