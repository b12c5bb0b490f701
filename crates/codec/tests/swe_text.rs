//! Blocks of values with and without lines that describe them.
#![allow(clippy::unwrap_used)]

use weir_codec::{DecodeError, by_name};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Value};

fn read(text: &str) -> Result<Batch, DecodeError> {
    let mut builder = BatchBuilder::new();
    (by_name("swe-text").unwrap().decode)(text.as_bytes(), &mut builder, &Limits::default())?;
    Ok(builder.finish())
}

fn values(text: &str) -> Vec<String> {
    let batch = read(text).unwrap();
    batch.rows().map(|row| format!("{:?}", row.value)).collect()
}

#[test]
fn a_block_without_descriptions_is_times_and_results_or_results() {
    let batch = read("2026-11-20T09:41:00Z,21.5\r\n\n2026-11-20T09:42:00Z,\n").unwrap();
    assert_eq!(
        (batch.value(0), batch.value(1)),
        (Value::Number(21.5), Value::Null)
    );
    assert_eq!(batch.time(1).unwrap().to_string(), "2026-11-20T09:42:00Z");
    assert_eq!(
        values("21.5\nopen\ntrue"),
        ["Number(21.5)", "Text(\"open\")", "Bool(true)"]
    );
    assert_eq!(values(""), [""; 0]);
}

#[test]
fn a_description_names_fields_and_separators() {
    let text = concat!(
        r##"#{"topic":"a/b","unit":"Cel","fields":["time","depth","value"],"##,
        r#""tokenSeparator":"@@","blockSeparator":";","decimalSeparator":",","else":[1]}"#,
        "\n2026-11-20@@7@@21,5; 2026-11-21@@8@@\"x;y\";",
    );
    // A separator stands in no token: quotes do not help.
    assert!(read(text).is_err());
    let text = text.replace("x;y", "x\\u003by");
    let batch = read(&text).unwrap();
    assert_eq!(
        (batch.value(0), batch.value(1)),
        (Value::Number(21.5), Value::Text("x;y"))
    );
    assert_eq!(
        (batch.row(1).topic, batch.row(1).unit),
        ("a/b", Some("Cel"))
    );
}

#[test]
fn records_of_several_datastreams_begin_with_their_number() {
    let mut builder = BatchBuilder::new();
    for (topic, value) in [
        ("a", Value::Number(1.0)),
        ("b", Value::Text("5, \"6\"")),
        ("a", Value::Json("[1,2]")),
        ("b", Value::Null),
    ] {
        builder.begin();
        builder.topic(Naming::Topic, topic);
        builder.value(value);
        builder.end().unwrap();
    }
    let mut out = Vec::new();
    (by_name("swe-text").unwrap().encode)(&builder.finish(), &mut out);
    let expected = [
        r##"#{"topic":"a","elementCount":4,"fields":["stream","time","value"]}"##,
        r##"#{"topic":"b","fields":["stream","time","value"]}"##,
        "0,,1",
        r#"1,,"5\u002c \u00226\u0022""#,
        r#"0,,="[1\u002c2]""#,
        "1,,",
        "",
    ];
    assert_eq!(String::from_utf8(out).unwrap(), expected.join("\n"));
}

#[test]
fn a_block_that_ends_before_its_promised_count_is_a_cut_one() {
    let block = "#{\"elementCount\":2,\"fields\":[\"value\"]}\n21.5\n22.5\n";
    assert_eq!(values(block).len(), 2);
    // Whoever sends events or lines drops the last line end.
    assert_eq!(values(block.trim_end()).len(), 2);
    let cut = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        cut(&block[..block.len() - 5]),
        "the message ends too early at byte 44"
    );
    assert_eq!(
        cut(&(block.to_owned() + "23.5\n")),
        "expected the end, after as many records as elementCount says at byte 54"
    );
    // Blocks that stand behind each other, as pages of the past do.
    assert_eq!(values(&block.repeat(2)).len(), 4);
    let negative = block.replace('2', "-2");
    assert_eq!(cut(&negative), "expected a number of records at byte 17");
}

#[test]
fn an_error_says_which_byte_and_which_rule() {
    let fault = |text: &str| read(text).unwrap_err().to_string();
    assert_eq!(
        fault("2026-11-20T09:41:00Z,1\nnoon,1"),
        "expected a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits at byte 23"
    );
    let count = "expected as many tokens as the record has fields";
    assert_eq!(
        fault("2026-11-20T09:41:00Z,1,2"),
        format!("{count} at byte 23")
    );
    assert_eq!(
        fault("2026-11-20T09:41:00Z,1\n5"),
        "expected a time such as 2026-11-20T09:41:00Z, beginning with a year of four digits at byte 23"
    );
    assert_eq!(
        fault("#{\"fields\":[\"time\"]}\n"),
        "expected fields with one `value` at byte 11"
    );
    assert_eq!(fault("#{\"fields\":}\n"), "expected an array at byte 11");
    let number = "#{\"fields\":[\"stream\",\"value\"]}\n1,5";
    assert_eq!(
        fault(number),
        "expected the number of a line that begins with # at byte 31"
    );
    assert_eq!(
        fault("#{\"tokenSeparator\":\"\"}\n"),
        "expected a separator of 1 to 16 bytes at byte 19"
    );
    assert_eq!(
        fault("2026-11-20,=[1"),
        "the message ends too early at byte 11"
    );
}
