//! The page of the gateway, `docs/results/gateway.md`, and that of a plan, generated from a run and from nothing else.

use super::page;
use super::table::{result_line, verdict};
use weir_bench_model::results::Run;

/// The page of a run; `folder` is where the run lies, for the command that made the page.
pub fn markdown(run: &Run, folder: &str) -> String {
    match run.is_of_a_plan() {
        true => titled(run.title(), "", run, folder),
        false => titled("The gateway", HOW_OF_THE_GATEWAY, run, folder),
    }
}

/// The same of an experiment with a title and further words on how to read it.
pub fn titled(title: &str, how: &str, run: &Run, folder: &str) -> String {
    let mut text = page::begin(title, run, folder, QUICK);
    page::goals(run, "", verdict, &mut text);
    page::ratios(run, &mut text);
    cells(run, &mut text);
    text + HOW + how
}

const QUICK: &str = "
A quick run shows orders of magnitude: steps of less than a second, one round of most cells. Where
the load before is not near zero or the priority is raised, other work shared the machine; do not
quote such figures, run without `--quick` on a machine that rests.
";

const HOW: &str = "\n## How to read it

Server and load share the machine. Rates are offered on an absolute schedule and a latency counts
from when its message was due, so a server that stalls pays for all that waited (no coordinated
omission). Latencies are p50 / p90 / p99 / p99.9 / max in microseconds on one clock.
";

const HOW_OF_THE_GATEWAY: &str = "
Only `window` cells are closed loops. Fan-out is the highest rate at which p99 stays under 50 ms and nothing is
lost, found by a search and confirmed by a longer step. `null` is one thread that writes each message
to each socket; `null_coalescing` sends all that is due in one write and is the ceiling of load and
machine: what comes within 20 % of it is marked `ceiling`. Memory a connection is the growth of the
server's proportional resident memory; kernel figures count both ends of each connection. Mosquitto
stands beside SSE and is measured by MQTT at quality of service 0; neither it, nor nchan, nor the
null servers write to disk. Goals of MQTT stand in [mqtt-broker.md](mqtt-broker.md), those of AMQP and
DDS in [messaging.md](messaging.md), those of the sensor Web in [sensor-web.md](sensor-web.md), those of the device in
[notification.md](notification.md). Which are not reached, by how much, with the profile and what was
tried, is told in [concepts/latency-profile.md](../concepts/latency-profile.md).
";

fn cells(run: &Run, text: &mut String) {
    *text += "\n## Cells\n\n";
    page::head(&["cell", "target", "result"], text);
    for result in &run.results {
        let line = result_line(result).replace('\n', " ");
        page::row([result.cell.clone(), result.target.clone(), line], text);
    }
}
