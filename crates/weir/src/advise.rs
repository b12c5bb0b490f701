//! `weir advise`: which protocol, delivery and format to take, from what was measured.

use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;
use weir_advise::{Question, advise, to_json, to_text};
use weir_program::Failure;
use weir_program::print;

#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Advise {
    /// Folders of your own runs, or of folders that hold runs; they go before the reference
    #[arg(long, value_name = "DIR", num_args = 1..)]
    results: Vec<PathBuf>,
    /// Without the results that are shipped
    #[arg(long, requires = "results")]
    no_reference: bool,
    /// Link: local, lan, wlan, wifi, 3g, isp, cellular, lowpan, serial
    #[arg(long, default_value = "local")]
    link: String,
    /// Clients that take part
    #[arg(long, value_name = "N")]
    clients: Option<String>,
    /// Messages a second; without, wherever most was measured
    #[arg(long, value_name = "HZ")]
    rate: Option<String>,
    /// What a message carries: 100, 1kB, 3nodes, or a kind such as obs/3
    #[arg(long, value_name = "KIND|BYTES")]
    payload: Option<String>,
    /// What must hold; may be given several times
    #[arg(long = "need", value_name = "NEED")]
    needs: Vec<String>,
    /// Rank by latency, bytes, cpu or memory
    #[arg(long)]
    by: Option<String>,
    /// All ways, and what was measured elsewhere
    #[arg(long)]
    all: bool,
    /// Machine output
    #[arg(long)]
    json: bool,
}

const AFTER_HELP: &str = "\
Needs:
  p99<200ms          mean, p50, p90, p99, p999, max, latency (the mean): a time in ns, us, ms, s
  loss<0.1%          bytes<=1kB   cpu<50us (of the server, a message)   memory<64MiB
  t_decode.p50<1ms   any metric of the results by its name, with a figure behind a dot
  protocol=coap-con  a factor's level; `!=` rules it out; `target` is the system
  browser            a browser takes part        encrypted   nobody on the link reads it

Exit code 1 where nothing was measured at the point, or nothing measured meets every need; the runs that
would measure it are named.

Example:
  weir advise --link local --payload 100 --need 'p99<5ms' --need 'loss<0.1%' --by bytes";

pub(crate) fn run(asked: &Advise) -> Result<ExitCode, Failure> {
    let question = Question::parse(
        &asked.link,
        asked.clients.as_deref(),
        asked.rate.as_deref(),
        asked.payload.as_deref(),
        asked.needs.iter().map(String::as_str),
        asked.by.as_deref(),
    )
    .map_err(Failure::usage)?;
    let library = weir_advise::library(&asked.results, !asked.no_reference);
    let library = library.map_err(Failure::usage)?;
    let answer = advise(&library, &weir_advise::offers(), question);
    let text = match asked.json {
        true => to_json(&answer) + "\n",
        false => to_text(&answer, asked.all),
    };
    print(text)?;
    Ok(ExitCode::from(u8::from(answer.refusal.is_some())))
}
