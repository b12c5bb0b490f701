//! Each image has the memory of its board.
#![allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what it builds by the environment"
)]

fn main() {
    println!("cargo::rerun-if-changed=ld");
    println!("cargo::rerun-if-env-changed=WEIR_CONNECTIONS");
    println!("cargo::rerun-if-env-changed=WEIR_INTERVAL_MS");
    let target = std::env::var("TARGET").unwrap_or_default();
    if !target.starts_with("thumb") {
        return;
    }
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    for board in ["lm3s811", "mps2", "microbit", "client"] {
        println!("cargo::rustc-link-arg-bin={board}=-L{here}/ld");
        println!("cargo::rustc-link-arg-bin={board}=-T{board}.ld");
        println!("cargo::rustc-link-arg-bin={board}=-Map={here}/target/{board}.map");
    }
}
