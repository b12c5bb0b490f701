//! `weir serve`.

use crate::arguments::Serve;
use crate::check;
use std::io::Write;
use tokio::signal::unix::{Signal, SignalKind, signal};
use weir_gateway::{Config, Gateway};
use weir_program::{Failure, Standard, StopSignals};

/// Runs a gateway until SIGTERM or SIGINT.
pub(crate) fn run(serve: &Serve) -> Result<(), Failure> {
    let config = check::read_for(serve)?;
    with_gateway(&config, serve.open, |_| {
        std::future::pending::<Result<(), Failure>>()
    })
}

/// Runs a gateway beside some work, until the work ends or a signal comes.
pub(crate) fn with_gateway<W>(
    config: &Config,
    open: bool,
    work: impl FnOnce(&Gateway) -> W,
) -> Result<(), Failure>
where
    W: Future<Output = Result<(), Failure>>,
{
    start_logging(config);
    raise_descriptor_limit();
    let gateway = Gateway::start(config, open).map_err(Failure::no)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let ended = runtime.map_err(Failure::no)?.block_on(async {
        // Who reads that it is ready may send the first signal at once.
        let mut stop = StopSignals::listen().map_err(Failure::no)?;
        let hangup = signal(SignalKind::hangup()).map_err(Failure::no)?;
        announce(&gateway);
        tokio::select! {
            done = work(&gateway) => done,
            () = stop.come() => Ok(()),
            () = reload_at(hangup, &gateway) => Ok(()),
        }
    });
    gateway.stop();
    ended
}

/// One line of JSON on stdout, and nothing more there.
fn announce(gateway: &Gateway) {
    let mut out = Standard::default();
    // A gateway serves on where nobody is told that it is ready.
    let _not_told = writeln!(out, "{}", gateway.ready_line()).and_then(|()| out.flush());
    if let Some(http) = gateway.address("http") {
        tracing::info!("open http://{http}");
    }
}

/// Has the policy and the certificate read again at each SIGHUP.
async fn reload_at(mut hangup: Signal, gateway: &Gateway) {
    while hangup.recv().await.is_some() {
        gateway.reload();
    }
    std::future::pending().await
}

/// Logs go to stderr: lines for people, or JSON with `gateway.log = "json"`; `RUST_LOG` filters.
fn start_logging(config: &Config) {
    let filter = tracing_subscriber::EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        // Where a line cannot be written, as on a full disk, neither can that: it would panic.
        .log_internal_errors(false)
        .with_env_filter(filter);
    match config.text("gateway", "log") {
        Some("json") => logs.json().init(),
        _ => logs.with_target(false).init(),
    }
}

/// As many connections as the system lets this process have.
fn raise_descriptor_limit() {
    if let Err(error) = weir_gateway::raise_descriptor_limit() {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
}
