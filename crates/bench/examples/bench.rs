//! The bench on its own, as long as no gateway is wanted: `cargo run --example bench -- list`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    ExitCode::from(u8::try_from(weir_bench::main(&args, &mut std::io::stdout())).unwrap_or(1))
}
