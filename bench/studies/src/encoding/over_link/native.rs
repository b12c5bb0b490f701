//! A native client at the near end: every format by the implementation that stands for it.

use std::rc::Rc;

use super::super::cells::Place as Where;
use super::super::codings::{Coding, From, Prepared, codings};
use super::super::data::Document;
use super::super::spent::{CLIENT, Side};
use super::cells::{formats, is_upload, on_link};
use super::client;
use super::runs::{Exchange, Place, repeat};
use weir_bench_model::clock::now_ns;
use weir_bench_model::results::{CellResult, OURS, single};

/// Who stands for formats that are not ours to read.
const REFERENCES: [&str; 3] = [OURS, "serde_json", "flate2"];

/// All native cells of a document.
pub(super) fn measure(place: &Place<'_>, document: &Rc<Document>) -> Vec<CellResult> {
    let formats = formats(place.order.effort).iter();
    let of_format = |format: &&'static str| {
        let label = (document.data, document.file.as_str());
        let cell = on_link(place.link, Where::Native, label, format);
        place.order.wants(&cell).then(|| {
            let measured = prepared(document, format)
                .and_then(|(target, prepared)| one(place, document, (&cell, target), prepared));
            measured.unwrap_or_else(|reason| CellResult::absent(&cell, OURS, &reason))
        })
    };
    formats.filter_map(of_format).collect()
}

fn stands_for(format: &str, target: &str) -> impl Fn(&Coding) -> bool {
    move |coding| {
        let named = (coding.from, coding.format, coding.target);
        named == (From::Document, format, target)
    }
}

fn prepared(
    document: &Rc<Document>,
    format: &'static str,
) -> Result<(&'static str, Prepared), String> {
    let all = codings();
    let found = REFERENCES.into_iter().find_map(|target| {
        let coding = all
            .iter()
            .find(|coding| stands_for(format, target)(coding))?;
        Some((target, coding))
    });
    let (target, coding) = found.ok_or_else(|| format!("nothing here reads {format}"))?;
    Ok((target, (coding.prepare)(document)?))
}

fn one(
    place: &Place<'_>,
    document: &Document,
    (cell, target): (&str, &str),
    prepared: Prepared,
) -> Result<CellResult, String> {
    let size = prepared.bytes.len() as f64;
    let mut result = match is_upload(document.data) {
        true => uploads(place, (cell, target), prepared)?,
        false => downloads(place, document, (cell, target), prepared)?,
    };
    if !result.metrics.is_empty() {
        result.metrics.push(single("size", "bytes", size));
    }
    Ok(result)
}

fn timed(work: &mut dyn FnMut() -> Result<(), String>) -> Result<f64, String> {
    let began = now_ns();
    work()?;
    Ok((now_ns() - began) as f64 / 1e3)
}

fn downloads(
    place: &Place<'_>,
    document: &Document,
    (cell, target): (&str, &str),
    prepared: Prepared,
) -> Result<CellResult, String> {
    let mut parse = prepared.parse.ok_or("nothing here parses it")?;
    let format = cell.rsplit('=').next().unwrap_or_default();
    let name = format!("{}-{}-{format}", document.data, document.file);
    let file = place.folder.join(&name);
    std::fs::write(&file, &prepared.bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    let (end, address) = (&place.ends.near.end, place.server.address);
    let exchange = || {
        let download = client::download(end, address, &name)?;
        if download.body != prepared.bytes {
            return Err("what came is not what was sent".into());
        }
        let processing = timed(&mut parse)?;
        let first = match format {
            "xml" => client::first_of_xml(end, address, &name)?,
            _ => download.transmit_us + processing,
        };
        Ok(Exchange {
            processing,
            transmit: download.transmit_us,
            first_byte: Some(download.first_byte_us),
            first_observation: Some(first),
        })
    };
    let client = (CLIENT, Side::This);
    Ok(repeat(place, (cell, target), client, "parse", exchange))
}

fn uploads(
    place: &Place<'_>,
    (cell, target): (&str, &str),
    prepared: Prepared,
) -> Result<CellResult, String> {
    let build = prepared.serialize.or(prepared.from_xml);
    let mut build = build.ok_or("nothing here writes it")?;
    let (end, address) = (&place.ends.near.end, place.server.address);
    let exchange = || {
        Ok(Exchange {
            processing: timed(&mut build)?,
            transmit: client::upload(end, address, &prepared.bytes)?,
            first_byte: None,
            first_observation: None,
        })
    };
    let client = (CLIENT, Side::This);
    Ok(repeat(place, (cell, target), client, "serialize", exchange))
}
