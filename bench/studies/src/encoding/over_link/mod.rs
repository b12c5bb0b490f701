//! Documents over emulated links, as paper 004 (sections 5.1.2, 5.1.3, 5.2.2 and 5.3.2) had them over
//! Wi-Fi and 3G: downloaded and parsed, or built, sent and acknowledged.
//!
//! A server at the far end hands out files and takes them in; who asks is at the near end. Every exchange
//! has a connection of its own, as a phone that asks now and then: its handshake counts. The decision
//! worth arguing: parsing begins when the last byte is there, in every format alike; what a parser that
//! reads along would win is told apart (`t_first_observation`, of XML).

mod browser;
mod cells;
mod client;
mod native;
mod runs;
pub mod server;

pub(super) use cells::{formats_on_links, names};
pub(super) use client::spent_by_server;
pub(super) use runs::{Class, LINKS};

use self::cells::sources_on_links;
use super::Going;
use super::data::Source;
use weir_bench_lab::link::{Ends, Links};
use weir_bench_lab::order::Order;
use weir_bench_model::journal::Versions;
use weir_bench_model::results::{CellResult, OURS};

/// The documents that are wanted, each with its link.
pub(super) fn documents(order: &Order<'_>) -> Vec<(&'static str, Source)> {
    let sources = sources_on_links(order.effort).into_iter();
    let all = LINKS
        .into_iter()
        .flat_map(|link| sources.clone().map(move |source| (link, source)));
    all.filter(|(link, source)| order.wants_any(&cells::of(source, link, order.effort)))
        .collect()
}

/// Measures all cells on links.
pub(super) fn measure(going: &mut Going<'_>, documents: &[(&'static str, Source)]) {
    let order = going.order;
    let mut links = Links::new(order);
    for (link, source) in documents {
        let key = format!("link {link} {} {}", source.data, source.file);
        going.pieces((&key, 1), |targets, progress| {
            let ends = links.ends(order.settings, link);
            let results = of_document(order, ends, (link, source), targets);
            progress.end_piece(&key);
            results
        });
    }
    going.run.links.extend(links.used());
}

/// All cells of a document on a link.
fn of_document(
    order: &Order<'_>,
    ends: Result<Ends, String>,
    (link, source): (&'static str, &Source),
    targets: &mut Versions,
) -> Vec<CellResult> {
    let refused = |reason: String| {
        let cells = cells::of(source, link, order.effort);
        let cells = cells.into_iter().filter(|cell| order.wants(cell));
        cells
            .map(|cell| CellResult::absent(&cell, OURS, &reason))
            .collect()
    };
    let ends = match ends {
        Ok(ends) => ends,
        Err(reason) => return refused(reason),
    };
    let folder = order.work.join(format!("documents-{link}"));
    let started = server::start(&ends.far, &folder);
    let (server, document) = match started.and_then(|server| Ok((server, source.make(order.seed)?)))
    {
        Ok(both) => both,
        Err(reason) => return refused(reason),
    };
    let place = runs::Place {
        order,
        ends: &ends,
        server: &server,
        folder: &folder,
        link,
    };
    let document = std::rc::Rc::new(document);
    let mut results = native::measure(&place, &document);
    results.extend(browser::measure(&place, &document, targets));
    results
}
