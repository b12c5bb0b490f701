//! Chromium at the near end: XML and JSON with what it has, as slow as the papers' phones.
//!
//! The page is the server's own and empty; a script asks, parses or builds, and sends, on its own clock.

use serde_json::{Value, json};

use super::super::browser::NAME;
use super::super::cells::Place as Where;
use super::super::codings::json_of;
use super::super::data::Document;
use super::super::spent::{BROWSER, Names, Side};
use super::cells::{IN_BROWSER, is_upload, on_link, slowdowns};
use super::runs::{Exchange, Place, repeat};
use weir_bench_lab::devtools::{Browser, Page};
use weir_bench_model::journal::Versions;
use weir_bench_model::results::CellResult;

/// Fetches and parses; keeps what was parsed.
const DOWNLOAD: &str = "async ({url, format}) => {
  const began = performance.now();
  const answer = await fetch(url, {cache: 'no-store'});
  const first = performance.now();
  const bytes = await answer.arrayBuffer();
  const last = performance.now();
  const text = new TextDecoder().decode(bytes);
  if (format === 'json') globalThis.held = JSON.parse(text);
  else globalThis.held = new DOMParser().parseFromString(text, 'text/xml');
  const parsed = performance.now();
  if (format === 'xml' && held.getElementsByTagName('parsererror').length) throw new Error('no XML');
  return {ok: answer.ok, bytes: bytes.byteLength, first: first - began, transmit: last - began,
          processing: parsed - last};
}";

/// Builds what was kept anew and sends it.
const UPLOAD: &str = "async ({url, format}) => {
  const began = performance.now();
  const text = format === 'json' ? JSON.stringify(held) : new XMLSerializer().serializeToString(held);
  const built = performance.now();
  const answer = await fetch(url, {method: 'POST', body: text});
  await answer.arrayBuffer();
  const last = performance.now();
  return {ok: answer.ok, transmit: last - built, processing: built - began};
}";

/// All cells of the browser for a document.
pub(super) fn measure(
    place: &Place<'_>,
    document: &Document,
    targets: &mut Versions,
) -> Vec<CellResult> {
    let label = (document.data, document.file.as_str());
    let cells = |times: &u32| {
        let at = Where::Browser(*times);
        let cell = move |format| (format, on_link(place.link, at, label, format));
        IN_BROWSER.map(cell)
    };
    let wanted: Vec<(u32, &str, String)> = slowdowns(place.link, label, place.order.effort)
        .iter()
        .flat_map(|times| cells(times).map(|(format, cell)| (*times, format, cell)))
        .filter(|(_, _, cell)| place.order.wants(cell))
        .collect();
    if wanted.is_empty() {
        return Vec::new();
    }
    let profile = place.folder.join("profile");
    let origin = format!("http://{}", place.server.address);
    // Without TLS an origin counts as secure on loopback alone, and only a secure one has the finer clock.
    let trusted = format!("--unsafely-treat-insecure-origin-as-secure={origin}");
    let launched = Browser::launch_with(&place.ends.near, &profile, &[trusted]);
    let measured = launched.and_then(|mut browser| {
        targets.insert(NAME.into(), browser.version.clone());
        let client = (BROWSER, Side::Tree(browser.pid()));
        let ready = "document.title === 'documents'";
        let mut page = Page::open(&mut browser, &format!("{origin}/"), ready)?;
        if page.evaluate("crossOriginIsolated")? != true {
            return Err("the browser keeps its coarse clock: the page is not isolated".into());
        }
        wanted
            .iter()
            .map(|cell| one(place, document, &mut page, client, cell))
            .collect::<Result<Vec<_>, String>>()
    });
    measured.unwrap_or_else(|reason| {
        targets.entry(NAME.into()).or_insert_with(|| reason.clone());
        let absent = |(_, _, cell): &(u32, &str, String)| CellResult::absent(cell, NAME, &reason);
        wanted.iter().map(absent).collect()
    })
}

fn one(
    place: &Place<'_>,
    document: &Document,
    page: &mut Page<'_>,
    client: (Names, Side<'_>),
    (times, format, cell): &(u32, &str, String),
) -> Result<CellResult, String> {
    let bytes = match *format {
        "json" => json_of(&document.xml)?,
        _ => document.xml.clone().into_bytes(),
    };
    let name = format!("{}-{}-{format}-page", document.data, document.file);
    let file = place.folder.join(&name);
    std::fs::write(&file, &bytes).map_err(|e| format!("{}: {e}", file.display()))?;
    let slowdown = page.slow_down(*times)?;
    let way = json!({"url": format!("/{name}"), "format": format});
    let mut result = match is_upload(document.data) {
        false => repeat(place, (cell, NAME), client, "parse", || {
            asked(page, DOWNLOAD, &way)
        }),
        true => {
            asked(page, DOWNLOAD, &way)?;
            repeat(place, (cell, NAME), client, "serialize", || {
                asked(page, UPLOAD, &way)
            })
        }
    };
    page.slow_down(1)?;
    slowdown.mark(&mut result);
    Ok(result)
}

fn asked(page: &mut Page<'_>, script: &str, way: &Value) -> Result<Exchange, String> {
    read(&page.evaluate(&format!("({script})({way})"))?)
}

/// Milliseconds of the page as microseconds.
fn read(answer: &Value) -> Result<Exchange, String> {
    let us = |name: &str| answer[name].as_f64().map(|ms| ms * 1e3);
    let both = us("transmit").zip(us("processing"));
    let (transmit, processing) = both.ok_or_else(|| format!("the page answers {answer}"))?;
    if answer["ok"] != true {
        return Err(format!("the server refuses: {answer}"));
    }
    let first_byte = us("first");
    Ok(Exchange {
        processing,
        transmit,
        first_byte,
        first_observation: first_byte.map(|_| transmit + processing),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_of_the_page_is_read_in_microseconds() {
        let answer = json!({"ok": true, "first": 2.0, "transmit": 3.5, "processing": 0.5});
        let exchange = read(&answer);
        assert_eq!(
            exchange,
            Ok(Exchange {
                processing: 500.0,
                transmit: 3500.0,
                first_byte: Some(2000.0),
                first_observation: Some(4000.0),
            })
        );
        assert!(read(&json!({"ok": false, "transmit": 1, "processing": 1})).is_err());
        assert!(read(&json!({})).is_err());
    }
}
