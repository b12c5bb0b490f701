//! What the bytes of document A's series are: `docs/reference/block.md` has this table, and the sizes of
//! `docs/results/encoding.md` are the lines of it that a run measures.

use weir_codec::block::{carried, encode_series};
use weir_codec::by_name;

use super::codings::numbers::{columns, pack};
use super::data::sources;
use weir_bench_model::effort::Effort;

/// The seed that a run has where none is said.
const SEED: u64 = 1;

fn table(file: &str) -> Result<String, String> {
    let sources = sources(Effort::Full);
    let source = sources.iter().find(|s| (s.data, s.file) == ("a", file));
    let document = source.ok_or("no such document")?.make(SEED)?;
    let batch = document.batch.ok_or("no observations")?;
    let (millis, values) = columns(&batch);
    let nanos: Vec<i64> = millis.iter().map(|millis| millis * 1_000_000).collect();
    let (mut bare, mut whole) = (Vec::new(), Vec::new());
    encode_series(&nanos, &values, &mut bare);
    let block = by_name("block").ok_or("this build has no block")?;
    (block.encode)(&batch, &mut whole);
    let carried = |put: fn(&[u8], &mut Vec<u8>)| {
        let mut out = Vec::new();
        put(&whole, &mut out);
        out.len()
    };
    let packed = |times: &[i64]| Ok::<_, String>(pack(times, &values)?.concat().len());
    let lines = [
        (
            "`columns`: times and numbers alone, heads and checksums of their chunks with them",
            bare.len(),
        ),
        (
            "`block`: the same with the names of the datastreams, a whole message",
            whole.len(),
        ),
        ("that in a CBOR byte string", carried(carried::to_cbor)),
        (
            "that in a message of Protocol Buffers",
            carried(carried::to_protobuf),
        ),
        ("that in base64", carried(carried::to_base64)),
        (
            "pco: times in milliseconds, and numbers, without names",
            packed(&millis)?,
        ),
        (
            "pco: times in nanoseconds, as `columns` has them, and numbers",
            packed(&nanos)?,
        ),
    ];
    let lines = lines.map(|(what, bytes)| format!("| {what} | {bytes} |\n"));
    Ok(format!(
        "| document A, `{file}` | bytes |\n|---|---:|\n{}",
        lines.concat()
    ))
}

#[test]
fn the_published_sizes_of_document_a_are_those_that_are_measured() {
    let published = include_str!("../../../../docs/reference/block.md");
    let tables = ["block", "full-precision"].map(|file| table(file).unwrap_or_else(|e| e));
    for table in &tables {
        assert!(
            published.contains(table),
            "docs/reference/block.md lacks\n{}",
            tables.join("\n")
        );
    }
}
