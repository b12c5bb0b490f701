//! Claims of packets, bytes and memory.

use weir_comet::Server;

use super::{
    CLIENTS, LONG_POLLING, POLLING, PUBLICATIONS, STREAMING, Verdict, everywhere, is_about, least,
    named, number, of_schemes, others,
};
use crate::notification::device::TARGET;
use crate::notification::figures::Grid;
use weir_bench_model::claims::judged;
use weir_bench_model::results::{ClaimResult, Run};

/// The server that the simulation runs: 256 connections, 16 notifications of up to 24 bytes.
type Device = Server<256, 4, 16, 24>;

pub(super) fn saturation(grid: &Grid<'_>) -> Verdict {
    let packets = |scheme| grid.mean(256, "1", scheme, "ntp");
    let (polling, long_polling) = (packets(POLLING[0])?, packets(LONG_POLLING)?);
    let streaming = packets(STREAMING)?;
    let holds = is_about(polling, 50.0) && is_about(long_polling, 50.0) && streaming >= 225.0;
    let words = named(&[
        ("polling every second", polling),
        ("long polling", long_polling),
        ("streaming", streaming),
    ]);
    Some((holds, format!("256 clients, packets a second: {words}")))
}

/// One client, a publication a second: what the line carries for each that it receives.
pub(super) fn of_a_request(grid: &Grid<'_>) -> Verdict {
    let bytes = 1024.0 * grid.mean(1, "1", LONG_POLLING, "ntb")?;
    let received = grid.mean(1, "1", LONG_POLLING, "rpm")? / 100.0;
    let each = bytes / received;
    let words = format!("{} bytes, both ways, IP and TCP included", number(each));
    Some((is_about(each, 600.0), words))
}

pub(super) fn streaming_fewer(grid: &Grid<'_>) -> Verdict {
    everywhere(&CLIENTS, &PUBLICATIONS, |clients, publish| {
        let others = of_schemes(grid, clients, publish, &[LONG_POLLING, POLLING[0]], "ntb")?;
        Some(grid.mean(clients, publish, STREAMING, "ntb")? < least(&others))
    })
}

/// The longest interval of all.
pub(super) fn slow_polling_fewest(grid: &Grid<'_>) -> Verdict {
    let faster: Vec<&str> = others()
        .into_iter()
        .filter(|it| *it != POLLING[4])
        .collect();
    let all = [&faster[..], &[STREAMING]].concat();
    everywhere(&CLIENTS, &PUBLICATIONS, |clients, publish| {
        let fewest = least(&of_schemes(grid, clients, publish, &all, "ntb")?);
        Some(grid.mean(clients, publish, POLLING[4], "ntb")? <= fewest)
    })
}

/// Sizes are the compiler's: those of this machine, whose words are twice as long as the board's. The smallest build
/// is an image, which no run of this experiment makes: without it the claim is not judged, unless the rest fails.
pub(super) fn of_a_connection(run: &Run) -> ClaimResult {
    let id = "duquennoy-30-bytes-a-connection";
    if !run.results.iter().any(|result| result.target == TARGET) {
        return judged(id, None, weir_bench_model::claims::NOT_MEASURED);
    }
    let (each, all) = (Device::CONNECTION_BYTES, size_of::<Device>());
    let words = format!(
        "{each} bytes a connection; the server with 256 takes {} bytes here, stack and board not included; the \
         smallest build was not measured in this run: [what the device takes](device.md) has it, and all images with \
         their stacks",
        number(all as f64)
    );
    let is_more = each > 30 || all > 10_240;
    judged(id, is_more.then_some(false), words)
}
