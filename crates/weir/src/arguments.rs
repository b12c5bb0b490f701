//! What can be typed behind the commands.

use crate::help::{how_sent, whom};
use clap::Args;
use std::path::PathBuf;

/// Where the configuration comes from.
#[derive(Args, Clone, Default)]
pub(crate) struct Source {
    /// Configuration file; weir.toml is read where it exists
    #[arg(long)]
    pub(crate) config: Option<PathBuf>,
    /// Sets a key: section.key=value
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

#[derive(Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Directory of the data
    #[arg(long)]
    pub(crate) data: Option<PathBuf>,
    /// Let everyone do everything, from other machines too
    #[arg(long)]
    pub(crate) open: bool,
}

#[derive(Args)]
pub(crate) struct Stored {
    #[command(flatten)]
    pub(crate) source: Source,
    /// Folder of the data
    #[arg(long)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Backup {
    /// The tar file; - is standard output, or input
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) source: Source,
    /// Directory of the data
    #[arg(long)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct Demo {
    #[command(flatten)]
    pub(crate) serve: Serve,
    /// Play a CSV file of your own as well
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
    /// Messages of each node a second
    #[arg(long, default_value_t = 1.0, value_name = "HZ")]
    pub(crate) rate: f64,
    /// Seed of the simulation: the same seed, the same network
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
}

/// How a client is let in, and whom it believes.
#[derive(Args)]
pub(crate) struct Trust {
    /// Bearer token
    #[arg(long, env = "WEIR_TOKEN")]
    pub(crate) token: Option<String>,
    /// PEM file of certificates to trust like the Web's roots
    #[arg(long, value_name = "FILE")]
    pub(crate) cacert: Option<PathBuf>,
    /// File of keys shared with the gateway (OSCORE, for coap://), as `weir oscore` made it
    #[arg(long, value_name = "FILE")]
    pub(crate) keys: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = how_sent())]
pub(crate) struct Publish {
    #[arg(help = whom("Whom"))]
    pub(crate) url: String,
    /// Topic to publish at
    pub(crate) topic: String,
    /// Encoding of the messages
    #[arg(long = "as", default_value = "json", value_name = "ENC")]
    pub(crate) format: String,
    /// All of the input is one message, whatever the encoding
    #[arg(long)]
    pub(crate) whole: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
pub(crate) struct Subscribe {
    #[arg(help = whom("Whom, and how (http is sse+http)"))]
    pub(crate) url: String,
    /// Topic filters
    #[arg(required = true)]
    pub(crate) filters: Vec<String>,
    /// Encoding to ask for
    #[arg(long = "as", default_value = "json", value_name = "ENC")]
    pub(crate) format: String,
    /// Begin after this cursor, as an earlier run printed it, or where the peer has no cursors after this time
    #[arg(long)]
    pub(crate) since: Option<String>,
    /// End after so many messages; without, a lost connection is made again and resumed
    #[arg(long)]
    pub(crate) count: Option<u64>,
    /// Print positions to stderr, as gaps are
    #[arg(long)]
    pub(crate) cursors: bool,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
pub(crate) struct History {
    /// Whom: http://HOST:PORT or https://HOST:PORT
    pub(crate) url: String,
    /// Topic filters
    #[arg(required = true)]
    pub(crate) filters: Vec<String>,
    /// From this time on: RFC 3339, or a span before now such as -1h
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Before this time
    #[arg(long, allow_hyphen_values = true, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// The last observation of each span, such as 1m
    #[arg(long, value_name = "SPAN")]
    pub(crate) every: Option<String>,
    /// One value of each span, such as mean:1h
    #[arg(long, value_name = "FUNCTION:SPAN")]
    pub(crate) agg: Option<String>,
    /// In this unit of UCUM, such as Cel; with "" in the one that each datastream has now
    #[arg(long, value_name = "UNIT")]
    pub(crate) unit: Option<String>,
    /// Encoding to print
    #[arg(long = "as", default_value = "csv", value_name = "ENC")]
    pub(crate) format: String,
    #[command(flatten)]
    pub(crate) trust: Trust,
}

#[derive(Args)]
pub(crate) struct Convert {
    /// Encoding of the input
    #[arg(long, value_name = "ENC", required_unless_present = "round_trip")]
    pub(crate) from: Option<String>,
    /// Encoding of the output
    #[arg(long, value_name = "ENC", required_unless_present = "round_trip")]
    pub(crate) to: Option<String>,
    /// Take the message to every encoding and back, and say what came back; without one, a sample
    #[arg(long, conflicts_with = "to")]
    pub(crate) round_trip: bool,
    /// Topic that the message counts as sent to, for formats that name none
    #[arg(long)]
    pub(crate) topic: Option<String>,
    /// Input; standard input without, or where it is `-`
    pub(crate) file: Option<PathBuf>,
}
