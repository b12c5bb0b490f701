//! `weir-bench`: what `weir bench`, `weir link`, `weir sim` and `weir board` run.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    weir_bench::main()
}
