//! Publishes the demo's observations to a gateway: `cargo run --example publish -- URL [FILE]`.
#![allow(
    clippy::disallowed_methods,
    reason = "an example reads its command line"
)]

use weir_demo::{DemoFault, Options, read_table, run};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), DemoFault> {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .unwrap_or_else(|| "http://127.0.0.1:8080".into());
    let replay = arguments.next().map(|file| read_table(file.as_ref()));
    let replay = replay.transpose()?;
    run(
        &url,
        Options {
            replay,
            ..Options::default()
        },
    )
    .await
}
