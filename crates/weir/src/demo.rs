//! `weir demo`.

use crate::arguments::Demo;
use crate::check;
use crate::serve::with_gateway;
use std::path::PathBuf;
use weir_gateway::{Gateway, GaveWay};
use weir_program::Failure;

/// Runs a gateway with things that publish to it over HTTP, as any device does.
pub(crate) fn run(demo: &Demo) -> Result<(), Failure> {
    let mut config = check::read_for(&demo.serve)?;
    let replay = demo.replay.as_deref().map(weir_demo::read_table);
    let replay = replay.transpose().map_err(Failure::no)?;
    if config.text("data", "dir").is_none() {
        let data = demo_folder();
        config
            .set(&format!("data.dir={}", data.display()))
            .map_err(Failure::usage)?;
    }
    let left_out = replay.as_ref().map(|it| it.table.left_out.clone());
    let options = weir_demo::Options {
        rate_hz: demo.rate,
        seed: demo.seed,
        replay,
        token: std::env::var("WEIR_TOKEN").ok(),
        certificate: config.text("tls", "certificate").map(PathBuf::from),
        ..weir_demo::Options::default()
    };
    let moved = weir_gateway::give_way(&mut config).map_err(Failure::usage)?;
    with_gateway(&config, demo.serve.open, |gateway| {
        tell(&moved);
        for part in left_out.into_iter().flatten() {
            tracing::warn!("left out of the replay: {part}");
        }
        play(base_url(gateway), options)
    })
}

/// Whoever tries weir beside another broker should know where to find it.
fn tell(moved: &[GaveWay]) {
    for GaveWay { key, taken } in moved {
        tracing::warn!(
            "{taken} is in use by another program: `{key}` took a free port, see the first line"
        );
    }
}

async fn play(url: String, options: weir_demo::Options) -> Result<(), Failure> {
    weir_demo::run(&url, options).await.map_err(Failure::no)
}

/// Over TLS where the gateway speaks it.
fn base_url(gateway: &Gateway) -> String {
    let mut listeners = ["https", "http"].into_iter();
    let found = listeners.find_map(|name| Some((name, gateway.address(name)?)));
    found.map_or_else(String::new, |(name, address)| format!("{name}://{address}"))
}

/// A demo's data outlives it, so that a second start shows yesterday's curves.
fn demo_folder() -> PathBuf {
    PathBuf::from("weir-data").join("demo")
}
