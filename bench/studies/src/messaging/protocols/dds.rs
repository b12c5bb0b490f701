//! DDS without a broker: weir's participant and Cyclone's, each with its own kind.
//!
//! A message is a sample of `weir/Observation` at its topic, with its JSON as the result. What it deliberately does
//! not do: reach pages, which DDS cannot; that is the gateway's, by its own WebSocket, as a participant of the domain.

mod cyclone;
mod own;

use super::Protocol;
use weir_bench_lab::targets::dds::{CYCLONE, CYCLONE_AND_WEIR, RUSTDDS_ALONE};

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "dds",
    title: "DDS",
    published: Some("DDS"),
    ours: Some("weir_dds"),
    others: &[RUSTDDS_ALONE, CYCLONE, CYCLONE_AND_WEIR],
    apart: &["weir_dds", RUSTDDS_ALONE],
    takes_given: false,
    about: "DDS, reliable and volatile; nothing stands between the native clients, and a message is \
            one sample. `weir_dds` is weir's participant with the gateway in the domain, which \
            keeps all in its log and is what pages reach by its own WebSocket, as plain text; \
            `rustdds` is the same without the gateway; `cyclone` is Cyclone DDS alone, which keeps the \
            schedule and takes the times itself; `cyclone_weir` is the same with the gateway in the domain, \
            so that pages have what Cyclone writes. Of each the native clients are two processes.",
    open: |at, part| match at.broker {
        CYCLONE | CYCLONE_AND_WEIR => Ok(Box::new(cyclone::Peer::open(at, part)?)),
        _ => own::open(at, part),
    },
};
