//! The page is compressed, and each image has the memory of its board.
#![allow(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what it builds by the environment"
)]

fn main() {
    compress("index");
    println!("cargo::rerun-if-changed=ld");
    println!("cargo::rerun-if-env-changed=WEIR_CONNECTIONS");
    println!("cargo::rerun-if-env-changed=WEIR_INTERVAL_MS");
    println!("cargo::rerun-if-env-changed=WEIR_FLASH_BYTES_MAX");
    let target = std::env::var("TARGET").unwrap_or_default();
    if !target.starts_with("thumb") {
        return;
    }
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    for board in ["lm3s811", "mps2", "microbit", "client", "modem"] {
        let most = flash_bytes_max(board);
        println!("cargo::rustc-link-arg-bin={board}=--defsym=FLASH_BYTES_MAX={most}");
        println!("cargo::rustc-link-arg-bin={board}=-L{here}/ld");
        if board == "mps2" {
            let bytes = ram_bytes();
            println!("cargo::rustc-link-arg-bin={board}=--defsym=RAM_BYTES={bytes}");
        }
        let memory = if board == "modem" { "client" } else { board };
        println!("cargo::rustc-link-arg-bin={board}=-T{memory}.ld");
        println!("cargo::rustc-link-arg-bin={board}=-Map={here}/target/{board}.map");
    }
}

/// Bytes of flash that an image may take: what was asked for and reached, with a fortieth more for other compilers, so
/// that it does not grow unnoticed. Other numbers of connections and what serves more have what the board has;
/// `WEIR_FLASH_BYTES_MAX` is another limit.
fn flash_bytes_max(board: &str) -> usize {
    let is_on = |feature: &str| std::env::var(format!("CARGO_FEATURE_{feature}")).is_ok();
    let connections = std::env::var("WEIR_CONNECTIONS").unwrap_or_default();
    let is_smallest = is_on("SMALLEST") && !is_on("USUAL") && connections.is_empty();
    let is_usual = matches!(connections.as_str(), "" | "256");
    let asked = std::env::var("WEIR_FLASH_BYTES_MAX").unwrap_or_default();
    if let Ok(asked) = asked.parse() {
        return asked;
    }
    match board {
        _ if is_on("COAP") => 64 * 1024,
        "microbit" if is_smallest => 9_728,
        _ if is_smallest => 8_704,
        _ if !is_usual || is_on("SMALLEST") => 64 * 1024,
        "microbit" => 13 * 1024,
        _ => 12 * 1024,
    }
}

/// Bytes of RAM that the image of the MPS2 may take: the paper's, and 16 for each connection beyond its 256.
fn ram_bytes() -> usize {
    let connections = std::env::var("WEIR_CONNECTIONS").unwrap_or_default();
    let more = connections
        .parse::<usize>()
        .unwrap_or(0)
        .saturating_sub(256);
    10_000 + 16 * more
}

/// Writes a page as a browser unpacks it: zlib's format (RFC 1950), which HTTP calls `deflate`.
fn compress(page: &str) {
    let file = format!("pages/{page}.html");
    println!("cargo::rerun-if-changed={file}");
    let text = std::fs::read(&file).expect("the page");
    let bytes = miniz_oxide::deflate::compress_to_vec_zlib(text.trim_ascii_end(), 10);
    let out = std::env::var("OUT_DIR").expect("cargo says it");
    std::fs::write(format!("{out}/{page}.deflate"), bytes).expect("cargo's folder");
}
