//! pco on the columns of a document's observations: the reference of `block`.
//!
//! Times as integers and values as doubles, a file each; names and units are left out, which
//! favours the reference by some hundred bytes.

use std::hint::black_box;
use std::rc::Rc;

use pco::ChunkConfig;
use pco::standalone::{simple_compress, simple_decompress};
use weir_model::{Batch, Value};

use super::formats::batch_of;
use super::{Coding, From, Prepared};
use crate::encoding::data::Document;

pub(super) fn codings() -> Vec<Coding> {
    vec![Coding {
        format: "columns",
        target: "pco",
        from: From::Observations,
        prepare: Box::new(prepare),
    }]
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

fn pack(times: &[i64], values: &[f64]) -> Result<[Vec<u8>; 2], String> {
    let level = ChunkConfig::default();
    let times = simple_compress(times, &level).map_err(|e| e.to_string())?;
    let values = simple_compress(values, &level).map_err(|e| e.to_string())?;
    Ok([times, values])
}

/// Milliseconds and values.
fn columns(batch: &Batch) -> (Vec<i64>, Vec<f64>) {
    let time = |row| batch.time(row).map_or(0, |time| time.nanos() / 1_000_000);
    let value = |row| match batch.value(row) {
        Value::Number(number) => number,
        _ => f64::NAN,
    };
    let rows = 0..batch.len();
    (rows.clone().map(time).collect(), rows.map(value).collect())
}
