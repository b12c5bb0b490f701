//! Times and values of a document's observations as bare columns: `block`'s series, and pco as the
//! reference. From slices of numbers to bytes and back to slices; names and units are left out.

use std::hint::black_box;
use std::rc::Rc;

use pco::ChunkConfig;
use pco::standalone::{simple_compress, simple_decompress};
use weir_codec::block::{decode_series, encode_series};
use weir_model::{Batch, Value};

use super::formats::{LIMITS, batch_of};
use super::{Coding, From, Prepared};
use crate::encoding::data::Document;
use weir_bench_model::results::OURS;

pub(super) fn codings() -> Vec<Coding> {
    let coding = |target, prepare: fn(&Rc<Document>) -> Result<Prepared, String>| Coding {
        format: "columns",
        target,
        from: From::Observations,
        prepare: Box::new(prepare),
    };
    vec![coding(OURS, ours), coding("pco", prepare)]
}

fn ours(document: &Rc<Document>) -> Result<Prepared, String> {
    let (mut times, values) = columns(batch_of(document)?);
    times.iter_mut().for_each(|time| *time *= 1_000_000);
    let mut bytes = Vec::new();
    encode_series(&times, &values, &mut bytes);
    let packed = bytes.clone();
    let (mut times_read, mut values_read) = (Vec::new(), Vec::new());
    let mut out = Vec::with_capacity(bytes.len());
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || {
            times_read.clear();
            values_read.clear();
            decode_series(&packed, &LIMITS, &mut times_read, &mut values_read)
                .map_err(|e| e.to_string())?;
            black_box((&times_read, &values_read));
            Ok(())
        })),
        serialize: Some(Box::new(move || {
            out.clear();
            encode_series(&times, &values, &mut out);
            black_box(&out);
            Ok(())
        })),
        from_xml: None,
    })
}

fn prepare(document: &Rc<Document>) -> Result<Prepared, String> {
    let (times, values) = columns(batch_of(document)?);
    let packed = pack(&times, &values)?;
    let bytes = packed.concat();
    Ok(Prepared {
        bytes,
        parse: Some(Box::new(move || {
            black_box(simple_decompress::<i64>(&packed[0]).map_err(|e| e.to_string())?);
            black_box(simple_decompress::<f64>(&packed[1]).map_err(|e| e.to_string())?);
            Ok(())
        })),
        serialize: Some(Box::new(move || {
            black_box(pack(&times, &values)?);
            Ok(())
        })),
        from_xml: None,
    })
}

pub(crate) fn pack(times: &[i64], values: &[f64]) -> Result<[Vec<u8>; 2], String> {
    let level = ChunkConfig::default();
    let times = simple_compress(times, &level).map_err(|e| e.to_string())?;
    let values = simple_compress(values, &level).map_err(|e| e.to_string())?;
    Ok([times, values])
}

/// Milliseconds and values.
pub(crate) fn columns(batch: &Batch) -> (Vec<i64>, Vec<f64>) {
    let time = |row| batch.time(row).map_or(0, |time| time.nanos() / 1_000_000);
    let value = |row| match batch.value(row) {
        Value::Number(number) => number,
        _ => f64::NAN,
    };
    let rows = 0..batch.len();
    (rows.clone().map(time).collect(), rows.map(value).collect())
}
