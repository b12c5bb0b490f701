//! `arrow`: an Arrow IPC stream (Arrow columnar format 1.5, "IPC Streaming Format"), for whoever
//! computes with history: pandas, polars, DuckDB, R.
//!
//! A message is a whole stream: schema, dictionaries, one record batch, end mark. The columns:
//!
//! | column | type | there |
//! |---|---|---|
//! | `topic`, `unit`, `type`, `sensor` | dictionary of utf8, indices int32 | always |
//! | `time` | timestamp\[ns, UTC\] | always |
//! | `value` | float64 | always |
//! | `text`, `json` | utf8 | where a result is a string; an array or object |
//! | `truth` | bool | where a result is a boolean |
//! | `lat`, `lon` | float64, degrees WGS 84 | where an observation has a place |
//! | `end`, `resultTime`, `validFrom`, `validTo` | timestamp\[ns, UTC\] | where there is one |
//! | `quality`, `feature`, `parameters` | utf8; `parameters` is JSON | where there is one |
//!
//! Every column may have nulls; a result is null where `value`, `text`, `truth` and `json` are. Names
//! are in dictionaries, since few name many rows. Columns that no row needs are left out, all but the
//! first six: they would double the size of what most messages are.
//!
//! Read are streams of other writers too: columns in any order, of which one of the four for results
//! must be there; `value` also of integers, booleans or strings; strings with 32 or 64-bit offsets,
//! plain or in dictionaries; timestamps in any unit, without a time zone taken for UTC; other columns
//! of any type but views are passed over. What it deliberately does not do: compressed bodies (HTTP
//! compresses), dictionaries sent in parts (deltas), the file format.
//!
//! The decision worth arguing: written by hand rather than with the arrow crates. The metadata are
//! five tables of FlatBuffers, which takes two small files; the crates are a dozen, and need `std`.
#![cfg(feature = "arrow")]

mod body;
mod columns;
mod dictionary;
mod flat_read;
mod flat_write;
mod names;
mod read;
mod record;
mod schema_read;
mod write;

use crate::format::{Confidence, Format};
use names::CONTINUATION;

pub(crate) const FORMAT: Format = Format {
    sniff: Some(sniff),
    ..Format::new(
        "arrow",
        "application/vnd.apache.arrow.stream",
        write::encode,
        read::decode,
    )
};

fn sniff(payload: &[u8]) -> Confidence {
    Confidence::Certain.if_so(payload.starts_with(&CONTINUATION))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::names::ALIGNMENT;
    use super::*;
    use crate::error::Fault;
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use weir_model::{Batch, BatchBuilder, Limits};

    fn written(batch: &Batch) -> Vec<u8> {
        let mut out = Vec::new();
        (FORMAT.encode)(batch, &mut out);
        out
    }

    fn read(bytes: &[u8]) -> Result<Batch, crate::DecodeError> {
        let mut builder = BatchBuilder::new();
        (FORMAT.decode)(bytes, &mut builder, &Limits::default())?;
        Ok(builder.finish())
    }

    #[test]
    fn every_message_of_a_stream_is_aligned() {
        for nodes in 0..3 {
            let bytes = written(&crate::sample::message(nodes, 0));
            assert_eq!(bytes.len() % ALIGNMENT, 0);
            assert!(bytes.starts_with(&CONTINUATION));
            assert!(bytes.ends_with(&[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]));
        }
    }

    #[test]
    fn many_datastreams_share_dictionaries() {
        let batch = crate::sample::message(200, 0);
        let bytes = written(&batch);
        assert_eq!(read(&bytes).unwrap(), batch);
        let units = bytes.windows(3).filter(|window| window == b"Cel").count();
        assert_eq!(units, 1);
    }

    #[test]
    fn a_stream_may_end_where_a_message_does() {
        let bytes = written(&crate::sample::message(1, 0));
        let cut = &bytes[..bytes.len() - 8];
        assert_eq!(read(cut).unwrap().len(), 7);
        let error = read(&bytes[..bytes.len() - 9]).unwrap_err();
        assert_eq!(error.fault, Fault::Truncated);
    }

    #[test]
    fn an_error_says_which_byte_and_which_rule() {
        let fine = written(&crate::sample::message(1, 0));
        assert_eq!(
            read(b"").unwrap_err().to_string(),
            "the message ends too early at byte 0"
        );
        let error = read(b"PAR1PAR1").unwrap_err().to_string();
        assert!(
            error.starts_with("expected FF FF FF FF and a length"),
            "{error}"
        );
        let error = read(&[&fine[..], b"x"].concat()).unwrap_err();
        assert_eq!(error.at, fine.len());
        let mut unnamed = fine.clone();
        let at = unnamed
            .windows(5)
            .position(|window| window == b"value")
            .unwrap();
        unnamed[at] = b'V';
        let error = read(&unnamed).unwrap_err().to_string();
        assert_eq!(
            error,
            "expected a column `value`, `text`, `truth` or `json` at byte 8"
        );
    }
}
