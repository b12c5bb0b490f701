//! `influx`: InfluxDB's line protocol, so that Telegraf and the clients of InfluxDB feed weir.
//!
//! **Of a metric** (`cpu,cpu=cpu0,host=a usage_idle=98.5,usage_user=1i 1795167660250000000`) each
//! field is an observation. Its topic lies below the one that the message was sent to:
//! `cpu/cpu=cpu0/host=a/usage_idle`: measurement, tags as they come, field. The decision worth arguing:
//! tags keep their names, since hosts have different ones and a level that means a host here and a
//! disk there cannot be filtered by. What a topic cannot hold, or what would be read as another level
//! (`/` in a tag or field, `=` in a name, `+`, `#`, `%`, control characters) is percent-encoded: so
//! no two series have the same topic. Slashes of a measurement make levels.
//!
//! **Of an observation of weir** (measurement `observation` with a field `value`, `json` or `null`)
//! tags and fields have the names of JSON's members, so that all that it carries comes back:
//! `observation,sensor=urn:x,topic=a/b,type=t,unit=Cel value=21.5,lat=44.5,lon=20 1795167660250000000`.
//! Times beside the observation's are integers in nanoseconds (`end`, `resultTime`, `validFrom`,
//! `validTo`). A name that cannot be a tag (empty, with control characters, ending in a backslash)
//! is a field.
//!
//! **Times** are nanoseconds by default; the protocol leaves the unit to a parameter that a message
//! cannot carry, so a smaller number is read as the unit that puts it after 1973: below 10^11 seconds,
//! below 10^14 milliseconds, below 10^17 microseconds. A time before 10^17 ns is written as the field
//! `time`, in nanoseconds, since as a timestamp it could not be told from a coarser one.
//!
//! **Escapes** are those of the protocol: a backslash before a comma, an equals sign or a space in
//! names and tags, before a quote or a backslash in strings, where `\n`, `\r`, `\t` and `\f` are read
//! as Telegraf writes them; elsewhere a backslash is itself. A string may span lines.
//! What it deliberately does not do: NaN and infinities, which the protocol refuses too.
#![cfg(feature = "influx")]

mod parts;
mod read;
mod scan;
mod write;

use crate::format::{Confidence, Format};
use crate::lines::LineReader;
use crate::rows::without_mark;
use alloc::boxed::Box;
use read::Influx;

pub(crate) const FORMAT: Format = Format {
    sniff: Some(sniff),
    text: true,
    line_by_line: true,
    part: Some(parts::part),
    reader: Some(|limits| Box::new(LineReader::new(Influx::default(), limits))),
    ..Format::new(
        "influx",
        "text/plain;profile=influx",
        write::encode,
        read::decode,
    )
};

/// Telegraf names its lines no better than plain text, but each has a timestamp.
fn sniff(payload: &[u8]) -> Confidence {
    Confidence::Likely.if_so(scan::has_timestamps(without_mark(payload).0))
}

/// The measurement of weir's own observations.
const OBSERVATION: &str = "observation";
/// The first magnitude of a timestamp that is one of nanoseconds.
const NANOSECONDS_MIN: u64 = 100_000_000_000_000_000;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;
    use alloc::{format, vec};
    use weir_model::batch::Naming;
    use weir_model::{Batch, BatchBuilder, Limits, Time, Value};

    fn batch(text: &str) -> Batch {
        let mut builder = BatchBuilder::new();
        let read = (FORMAT.decode)(text.as_bytes(), &mut builder, &Limits::default());
        read.unwrap_or_else(|error| panic!("{error}: {text}"));
        builder.finish()
    }

    fn rows(text: &str) -> Vec<String> {
        let batch = batch(text);
        let shown = batch.rows().map(|row| {
            assert_eq!(row.naming, Naming::Below);
            format!("{} {:?}", row.topic, row.value)
        });
        shown.collect()
    }

    fn error(text: &str) -> String {
        let mut builder = BatchBuilder::new();
        let read = (FORMAT.decode)(text.as_bytes(), &mut builder, &Limits::default());
        read.unwrap_err().to_string()
    }

    #[test]
    fn each_field_of_a_metric_is_an_observation() {
        let text =
            "cpu,cpu=cpu0,host=a usage_idle=98.5,n=3i,u=7u,up=t,name=\"x\" 1795167660250000000";
        assert_eq!(
            rows(text),
            [
                "cpu/cpu=cpu0/host=a/usage_idle Number(98.5)",
                "cpu/cpu=cpu0/host=a/n Number(3.0)",
                "cpu/cpu=cpu0/host=a/u Number(7.0)",
                "cpu/cpu=cpu0/host=a/up Bool(true)",
                "cpu/cpu=cpu0/host=a/name Text(\"x\")",
            ]
        );
        let batch = batch(text);
        let time = Time::from_millis(1_795_167_660_250);
        assert!(batch.rows().all(|row| row.time == Some(time)));
    }

    #[test]
    fn names_are_unescaped_and_topics_escaped() {
        assert_eq!(
            rows(r"disk\ use,path=/var/a\ b,k\=1=50%\,#+ free\ mb=1e3"),
            ["disk use/path=%2Fvar%2Fa b/k%3D1=50%25,%23%2B/free mb Number(1000.0)"]
        );
        assert_eq!(
            rows(r#"heating/north,disk=C:\,a="q" v=1"#),
            ["heating/north/disk=C:,a=\"q\"/v Number(1.0)"]
        );
    }

    #[test]
    fn strings_hold_quotes_backslashes_and_lines() {
        let text = "a s=\"q\\\" \\\\ \\n \\d, x=1\nnext\",b=F\n\n# comment, a=\"\r\n c v=2 \r\n";
        assert_eq!(
            rows(text),
            [
                "a/s Text(\"q\\\" \\\\ \\n \\\\d, x=1\\nnext\")",
                "a/b Bool(false)",
                "c/v Number(2.0)"
            ]
        );
    }

    #[test]
    fn a_timestamp_says_its_unit_by_its_magnitude() {
        let time = Time::from_millis(1_795_167_660_000);
        for text in [
            "a v=1 1795167660",
            "a v=1 1795167660000",
            "a v=1 1795167660000000",
            "a v=1 1795167660000000000",
        ] {
            assert_eq!(batch(text).time(0), Some(time), "{text}");
        }
        assert_eq!(batch("a v=1").time(0), None);
        let before = batch("a v=1 -1795167660000").time(0);
        assert_eq!(before, Some(Time::from_millis(-1_795_167_660_000)));
    }

    #[test]
    fn an_observation_is_written_with_sorted_tags() {
        let sample = crate::sample::message(1, 0).select(|row| row == 0);
        let mut out = Vec::new();
        (FORMAT.encode)(&sample, &mut out);
        let expected = "observation,sensor=urn:dev:mac:0024befffe800010,\
            topic=heating/substation-1/supply/temperature,type=water-temperature,unit=Cel \
            value=75.88,lat=44.813503,lon=20.462207 1795167660250000000\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        assert_eq!(batch(expected), sample);
    }

    #[test]
    fn a_measurement_that_happens_to_have_our_name_is_a_metric() {
        assert_eq!(
            rows("observation,site=a temp=3"),
            ["observation/site=a/temp Number(3.0)"]
        );
    }

    #[test]
    fn an_error_says_which_byte_and_which_rule() {
        for (text, expected) in [
            (",a=b v=1", "expected a measurement at byte 0"),
            ("a,=b v=1", "expected a name at byte 2"),
            (
                "a,b v=1",
                "expected an equals sign after the name at byte 3",
            ),
            ("a,b= v=1", "expected the value of a tag at byte 4"),
            ("a", "the message ends too early at byte 1"),
            ("a v", "the message ends too early at byte 3"),
            (
                "a v=",
                "expected a number, a boolean or a string in quotes at byte 4",
            ),
            (
                "a v=1x",
                "expected a number, a boolean or a string in quotes at byte 4",
            ),
            ("a v=\"x", "the message ends too early at byte 6"),
            (
                "a v=\"x\"y",
                "expected a comma, a space or the end of the line at byte 7",
            ),
            (
                "a v=Nan",
                "expected a number, a boolean or a string in quotes at byte 4",
            ),
            (
                "a v=9223372036854775808i",
                "expected an integer of 64 bits at byte 4",
            ),
            ("a v=1 noon", "expected a timestamp, an integer at byte 6"),
            ("a v=1 12 x", "expected the end of the line at byte 9"),
            (
                "observation value=1,end=2",
                "expected an integer, nanoseconds since 1970 at byte 24",
            ),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_in_pieces_are_decoded_as_soon_as_they_are_whole() {
        let text = "a,t=\"x v=\"1\n2\" 5\nb w=\"\\\"\n\"\n# \"\nc v=1";
        for size in 1..text.len() {
            let mut builder = BatchBuilder::new();
            let mut reader = FORMAT.reader(&Limits::default());
            let mut seen = vec![];
            for piece in text.as_bytes().chunks(size) {
                reader.push(piece, &mut builder).unwrap();
                seen.push(builder.len());
            }
            reader.finish(&mut builder).unwrap();
            assert_eq!(builder.len(), 3, "{size}");
            assert_eq!(builder.batch().value(0), Value::Text("1\n2"));
            assert_eq!(seen[seen.len() - 1], 2, "{size}");
        }
    }
}
