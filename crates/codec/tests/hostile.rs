//! Messages made to cost much or to be misread: every format refuses them in its memory, and says where.
#![allow(clippy::unwrap_used)]

mod counting;

use counting::bytes_at_most;
use weir_codec::{DecodeError, FORMATS, Fault, Format, by_name, sample};
use weir_model::batch::Naming;
use weir_model::{Batch, BatchBuilder, Limits, Value};

const LIMITS: Limits = Limits {
    message_bytes: 1 << 16,
    observations: 500,
    depth: 16,
    text_bytes: 4096,
};

/// Bytes that a message may take while it is read, for each that it may have.
const HELD_PER_BYTE_MAX: usize = 32;

/// Reads a message and looks after its memory.
fn read(format: &Format, bytes: &[u8]) -> Result<usize, DecodeError> {
    let mut builder = BatchBuilder::new();
    let decode = || (format.decode)(bytes, &mut builder, &LIMITS);
    let (read, held) = bytes_at_most(decode);
    let limit = HELD_PER_BYTE_MAX * LIMITS.message_bytes;
    assert!(
        held <= limit,
        "{} holds {held} bytes: {read:?}",
        format.name
    );
    read.map(|()| builder.len())
}

fn encoded(format: &Format, batch: &Batch) -> Vec<u8> {
    let mut out = Vec::new();
    (format.encode)(batch, &mut out);
    out
}

/// Messages of which later ones begin as earlier ones do, but for what says how long they are.
fn first_rows(batch: &Batch, count: usize) -> Batch {
    batch.select(|row| row < count)
}

/// Where the observations of a message begin, as far as bytes in front do not depend on what follows:
/// one with more observations begins as one with fewer does.
fn begins(format: &Format, batch: &Batch) -> Vec<usize> {
    let prefix = |count| encoded(format, &first_rows(batch, count));
    let mut begins = vec![0];
    for count in 1..batch.len() {
        let (few, more) = (prefix(count), prefix(count + 1));
        let same = few
            .iter()
            .zip(&more)
            .take_while(|(one, other)| one == other);
        begins.push(same.count());
    }
    begins
}

/// The begin of the observation that the byte at an offset belongs to, or of the one before where it
/// lies near: a bit or half a code point may be shared.
fn begin_of(begins: &[usize], at: usize) -> usize {
    let before = begins.iter().copied().filter(|&begin| begin + 4 <= at);
    before.max().unwrap_or(0)
}

/// Formats that look at the whole of a message before they can say what is wrong with a part of it.
fn sees_all_at_once(format: &Format) -> bool {
    matches!(
        format.name,
        "jsonld" | "turtle" | "ntriples" | "arrow" | "block" | "gwt"
    )
}

#[test]
fn an_error_in_a_cut_message_lies_where_it_was_cut() {
    for format in FORMATS {
        let batch = sample::message(1, 0);
        let (bytes, begins) = (encoded(format, &batch), begins(format, &batch));
        for end in 0..bytes.len() {
            let Err(error) = read(format, &bytes[..end]) else {
                continue;
            };
            let said = format!("{} cut at {end} of {}: {error}", format.name, bytes.len());
            assert!(error.at <= end, "{said}");
            // EXI has no bytes to count in: the place is that of the first bit that could not be used.
            if error.fault == Fault::Truncated && !format.name.starts_with("exi") {
                assert_eq!(error.at, end, "{said}");
            }
            if !sees_all_at_once(format) {
                assert!(error.at >= begin_of(&begins, end), "{said} of {begins:?}");
            }
        }
    }
}

#[test]
fn an_error_does_not_lie_before_the_observation_with_it() {
    for format in FORMATS.iter().filter(|format| !sees_all_at_once(format)) {
        let batch = sample::message(1, 0);
        let (mut bytes, begins) = (encoded(format, &batch), begins(format, &batch));
        for bit in (0..bytes.len() * 8).step_by(3) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            if let Err(error) = read(format, &bytes) {
                let said = format!("{} with bit {bit} turned: {error}", format.name);
                assert!(error.at <= bytes.len(), "{said}");
                assert!(
                    error.at >= begin_of(&begins, bit / 8),
                    "{said} of {begins:?}"
                );
            }
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn a_length_that_promises_too_much_takes_no_memory() {
    for format in FORMATS {
        let bytes = encoded(format, &sample::message(1, 0));
        for huge in [
            &[0xFF; 4][..],
            &[0x7F, 0xFF, 0xFF, 0xFF],
            &[0xFF, 0xFF, 0xFF, 0x7F],
            &[0x7F; 8],
        ] {
            for at in (0..bytes.len().saturating_sub(huge.len())).step_by(1 + bytes.len() / 1500) {
                let mut changed = bytes.clone();
                changed[at..at + huge.len()].copy_from_slice(huge);
                if let Err(error) = read(format, &changed) {
                    assert!(
                        error.at <= changed.len(),
                        "{} at {at}: {error}",
                        format.name
                    );
                }
            }
        }
    }
}

fn one_row(value: Value<'_>, parameters: Option<&str>) -> Batch {
    let mut builder = BatchBuilder::new();
    builder.begin();
    builder.topic(Naming::Topic, "a");
    builder.value(value);
    builder.extra(weir_model::Extra {
        parameters,
        ..Default::default()
    });
    builder.end().unwrap();
    builder.finish()
}

#[test]
fn a_result_that_is_nested_too_deep_is_refused_with_its_place() {
    let deep = "[".repeat(60) + &"]".repeat(60);
    for format in FORMATS.iter().filter(|format| format.carries.json) {
        let bytes = encoded(format, &one_row(Value::Json(&deep), None));
        let Err(error) = read(format, &bytes) else {
            // What is no JSON is text in the first two; a block hands on its texts unread.
            let unread = ["plain", "csv", "block"];
            assert!(unread.contains(&format.name), "{}", format.name);
            continue;
        };
        let over = matches!(
            error.fault,
            Fault::OverLimit {
                what: "nesting",
                ..
            }
        );
        assert!(over, "{}: {error}", format.name);
        // A compressed block is read before its values are.
        assert!(error.at <= bytes.len(), "{}: {error}", format.name);
    }
}

/// Documents that are nested in the syntax of a format, a piece before and one behind each level.
const NESTED: [(&str, &str, &str, &str); 12] = [
    ("json", "[", "", "]"),
    ("json", "{\"a\":", "1", "}"),
    ("senml-json", "[{\"x\":", "1", "}]"),
    ("xml", "<observations><a>", "", "</a></observations>"),
    ("om", "<a>", "", "</a>"),
    ("om1", "<a>", "", "</a>"),
    ("soap", "<a>", "", "</a>"),
    ("jsonld", "{\"@graph\":[", "", "]}"),
    ("turtle", "[<urn:p> ", "1", "]"),
    ("turtle", "<urn:a> <urn:p> (", "", ")"),
    ("swe-text", "#{\"x\":[", "1", "]}"),
    ("gwt", "//OK[[", "1", "]]"),
];

#[test]
fn documents_nested_in_any_syntax_are_refused_in_little_memory() {
    for (name, open, within, close) in NESTED {
        let format = by_name(name).unwrap();
        let times = LIMITS.message_bytes / (open.len() + close.len()) - 10;
        let bytes = open.repeat(times) + within + &close.repeat(times);
        let error = read(format, bytes.as_bytes()).unwrap_err();
        assert!(error.at <= bytes.len() / 2 + 100, "{name}: {error}");
    }
}

#[test]
fn a_document_type_defines_nothing_that_could_be_expanded() {
    let mut bomb = String::from("<!DOCTYPE observations [<!ENTITY a \"ha\">");
    for (one, other) in [('b', 'a'), ('c', 'b'), ('d', 'c')] {
        let again = format!("&{other};").repeat(100);
        bomb += &format!("<!ENTITY {one} \"{again}\">");
    }
    bomb += "]><observations><observation><value>&d;</value></observation></observations>";
    for name in ["xml", "om", "om1", "soap"] {
        let error = read(by_name(name).unwrap(), bomb.as_bytes()).unwrap_err();
        assert_eq!(error.at, 0, "{name}: {error}");
    }
}

/// Many observations that all say the same long things, which tables of strings make short.
fn repeated() -> Batch {
    let long = "x".repeat(3000);
    let mut builder = BatchBuilder::new();
    for _ in 0..400 {
        builder.begin();
        builder.topic(Naming::Topic, "a");
        builder.sensor(&long);
        builder.value(Value::Text(&long));
        builder.end().unwrap();
    }
    builder.finish()
}

#[test]
fn what_repeats_itself_is_short_in_memory_too() {
    for format in FORMATS {
        let bytes = encoded(format, &repeated());
        // Those that write it all are over the limit of a message before they are read.
        let error = read(format, &bytes).unwrap_err();
        let over = matches!(error.fault, Fault::OverLimit { .. });
        assert!(over, "{} of {} bytes: {error}", format.name, bytes.len());
        assert!(error.at <= bytes.len(), "{}: {error}", format.name);
    }
}

#[test]
fn exi_that_inflates_a_thousand_times_is_refused_at_its_byte() {
    let spaces = " ".repeat(LIMITS.text_bytes - 1);
    let mut builder = BatchBuilder::new();
    for number in 0..400 {
        builder.begin();
        builder.topic(Naming::Topic, "a");
        // No two are the same, so that each stands there in full.
        builder.value(Value::Text(&format!("{number}{}", &spaces[4..])));
        builder.end().unwrap();
    }
    let batch = builder.finish();
    for name in ["exi-c", "exi-sc", "exi-om-c"] {
        let format = by_name(name).unwrap();
        let bytes = encoded(format, &batch);
        assert!(
            bytes.len() < LIMITS.message_bytes,
            "{name}: {}",
            bytes.len()
        );
        let error = read(format, &bytes).unwrap_err();
        assert!(
            matches!(error.fault, Fault::OverLimit { .. }),
            "{name}: {error}"
        );
        assert!(error.at < bytes.len(), "{name}: {error}");
    }
}
