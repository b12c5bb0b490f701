//! The commands, each with what can be typed behind it.

use crate::advise::Advise;
use crate::arguments::{Backup, Convert, Demo, History, Publish, Serve, Source, Stored, Subscribe};
use crate::beside::Passed;
use crate::exi::Exi;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Regulates a stream of observations and measures it.
#[derive(Parser)]
#[command(name = "weir", version, about, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the gateway
    Serve(Serve),
    /// Run the gateway with a simulated district heating network and a replay of real sensors
    Demo(Demo),
    /// Say what is wrong with a configuration, and where
    Check(Source),
    /// Say what of this machine and configuration would hurt a gateway
    Doctor(Serve),
    /// Copy the data into one tar file, while the gateway runs
    Backup(Backup),
    /// Make the data of a backup, where there is none yet
    Restore(Backup),
    /// Write the history of the data folder into the database of `store.url`, which has none yet
    MoveHistory(Stored),
    /// Publish lines or files from standard input, by any protocol
    Pub(Publish),
    /// Print messages as they come, by any protocol
    Sub(Subscribe),
    /// Print the past, all of it or a span, thinned out where that is asked for
    History(History),
    /// Turn a message from one encoding into another
    Convert(Convert),
    /// Turn any XML document into EXI and back
    Exi(Box<Exi>),
    /// Measure: list, run, report, compare
    #[command(disable_help_flag = true)]
    Bench(Passed),
    /// Run a command behind an emulated link
    #[command(disable_help_flag = true)]
    Link(Passed),
    /// Run an experiment in virtual time
    #[command(disable_help_flag = true)]
    Sim(Passed),
    /// Run the device's image on an emulated board, and open its page to this machine
    #[command(disable_help_flag = true)]
    Board(Passed),
    /// Say which protocol, delivery and format to take, from what was measured
    Advise(Box<Advise>),
    /// Read a password from standard input and print the policy file's entry for a user
    User {
        /// Name of the user
        name: String,
        /// Role of the policy file
        #[arg(long, default_value = "reader")]
        role: String,
    },
    /// Make a token and print it with the policy file's entry
    Token {
        /// What the token is for
        name: String,
        /// Role of the policy file
        #[arg(long, default_value = "publisher")]
        role: String,
    },
    /// Make keys of OSCORE for a device: write its file, print the policy file's entry
    Oscore {
        /// What the device is called
        name: String,
        /// Role of the policy file
        #[arg(long, default_value = "publisher")]
        role: String,
        /// File of the device's half
        #[arg(long, value_name = "FILE")]
        device: PathBuf,
    },
}
