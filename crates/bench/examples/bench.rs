//! The bench on its own, as long as no gateway is wanted: `cargo run --example bench -- list`.

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    std::process::exit(weir_bench::main(&args));
}
