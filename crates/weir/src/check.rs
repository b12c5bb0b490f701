//! `weir check`, and reading the configuration for all who need it.

use crate::arguments::{Serve, Source};
use std::path::Path;
use weir_gateway::Config;
use weir_program::Failure;
use weir_program::print;

const DEFAULT_FILE: &str = "weir.toml";

/// Says what is wrong, one line each.
pub(crate) fn run(source: &Source) -> Result<(), Failure> {
    let config = read(source)?;
    let problems = weir_gateway::check(&config);
    for problem in &problems {
        eprintln!("{problem}");
    }
    match problems.len() {
        0 => print("the configuration is right\n"),
        1 => Err(Failure::no("1 problem")),
        count => Err(Failure::no(format!("{count} problems"))),
    }
}

/// The configuration: file, then environment, then command line.
pub(crate) fn read(source: &Source) -> Result<Config, Failure> {
    let file = source.config.as_deref();
    let file = file.or(Some(Path::new(DEFAULT_FILE)).filter(|file| file.exists()));
    let config = file.map_or(Ok(Config::default()), Config::from_file);
    let mut config = config.map_err(Failure::no)?;
    config.take_environment(std::env::vars());
    for assignment in &source.set {
        config.set(assignment).map_err(Failure::usage)?;
    }
    Ok(config)
}

/// The same with what `serve` says besides.
pub(crate) fn read_for(serve: &Serve) -> Result<Config, Failure> {
    read_with(&serve.source, serve.data.as_deref())
}

/// The same with the data's folder that was typed.
pub(crate) fn read_with(source: &Source, data: Option<&Path>) -> Result<Config, Failure> {
    let mut config = read(source)?;
    if let Some(data) = data {
        config
            .set(&format!("data.dir={}", data.display()))
            .map_err(Failure::usage)?;
    }
    Ok(config)
}
