//! The demonstration: a simulated district heating network and replays of real sensors.
//!
//! Everything it says enters through the public HTTP interface, like any device's words; it has no
//! way into the gateway of its own and knows none of its types but the nouns of `model`. The
//! decision worth arguing: physics instead of sine waves, because a person judges a dashboard by
//! whether what it shows makes sense.
#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    reason = "a device has a clock, and --replay names a file"
)]

pub mod csv;
pub mod limits;
pub mod message;
pub mod network;
pub mod noise;
pub mod publish;
pub mod recordings;
pub mod replay;

use core::fmt;
use core::time::Duration;
use limits::{FILE_BYTES_MAX, RATE_HZ_MAX};
use network::Network;
use publish::{Gateway, Publisher};
use replay::Recording;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use weir_carrier::tls::TlsFault;
use weir_model::Time;

/// What is shown, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Messages per node and second of the simulated network.
    pub rate_hz: f64,
    /// The same seed and start give the same network.
    pub seed: u64,
    /// Mean time between faults of the network, in seconds; infinity for none.
    pub fault_every_s: f64,
    /// Whether the shipped recordings (buoy and ride) are played.
    pub recordings: bool,
    /// A person's own recording to play as well.
    pub replay: Option<Recording>,
    /// Bearer token, where the gateway asks for one.
    pub token: Option<String>,
    /// PEM file with the certificate that an `https` gateway shows, where no root of the Web vouches
    /// for it.
    pub certificate: Option<PathBuf>,
}

impl Default for Options {
    /// The network at 1 Hz (paper 000's rate) with a fault about every two minutes, and the
    /// recordings.
    fn default() -> Self {
        Self {
            rate_hz: 1.0,
            seed: 1,
            fault_every_s: 120.0,
            recordings: true,
            replay: None,
            token: None,
            certificate: None,
        }
    }
}

/// Why the demo ended.
#[derive(Debug)]
pub enum DemoFault {
    /// The gateway's address is not of the form `http://host:port` or `https://host:port`.
    Url {
        /// As given.
        url: String,
    },
    /// The certificate is none.
    Tls(TlsFault),
    /// The rate is not above 0 and at most [`RATE_HZ_MAX`].
    Rate {
        /// As given, in messages per node and second.
        rate_hz: f64,
    },
    /// The file cannot be read.
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// The file is larger than [`FILE_BYTES_MAX`].
    FileTooLarge {
        /// Which.
        path: PathBuf,
    },
    /// The file is no table of times and numbers.
    Csv {
        /// Which.
        path: PathBuf,
        /// Where and why.
        reason: csv::CsvError,
    },
    /// The gateway refused a request.
    Refused {
        /// What was asked for.
        path: String,
        /// The HTTP status.
        status: u16,
        /// The gateway's words.
        reason: String,
    },
}

impl fmt::Display for DemoFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DemoFault::Url { url } => write!(
                f,
                "`{url}` is not of the form http://host:port or https://host:port"
            ),
            DemoFault::Tls(fault) => fault.fmt(f),
            DemoFault::Rate { rate_hz } => {
                write!(
                    f,
                    "rate {rate_hz}/s: must be above 0 and at most {RATE_HZ_MAX}"
                )
            }
            DemoFault::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            DemoFault::FileTooLarge { path } => {
                write!(f, "{}: larger than {FILE_BYTES_MAX} bytes", path.display())
            }
            DemoFault::Csv { path, reason } => write!(f, "{}: {reason}", path.display()),
            DemoFault::Refused {
                path,
                status,
                reason,
            } => {
                write!(
                    f,
                    "the gateway refused {path} with {status}: {}",
                    reason.trim()
                )
            }
        }
    }
}

impl core::error::Error for DemoFault {}

/// Publishes to the gateway at `base_url` until the future is dropped. Must run inside a tokio
/// runtime with its I/O and time drivers; a current-thread one is enough.
pub async fn run(base_url: &str, options: Options) -> Result<(), DemoFault> {
    if !(options.rate_hz > 0.0 && options.rate_hz <= RATE_HZ_MAX) {
        return Err(DemoFault::Rate {
            rate_hz: options.rate_hz,
        });
    }
    let certificate = options.certificate.as_deref().map(read_certificate);
    let certificate = certificate.transpose()?;
    let gateway = Gateway::parse(base_url, options.token.clone(), certificate.as_deref())?;
    let publisher = |seed| Publisher::new(gateway.clone(), seed);
    let shipped = |name: &str, open: fn() -> Result<Recording, csv::CsvError>| {
        let open = options.recordings.then_some(open);
        let fault = |reason| DemoFault::Csv {
            path: name.into(),
            reason,
        };
        open.map(|open| open().map_err(fault)).transpose()
    };
    let buoy = shipped("the shipped buoy", recordings::buoy)?;
    let ride = shipped("the shipped ride", recordings::ride)?;
    tokio::try_join!(
        show_network(publisher(1), &options),
        play(publisher(2), buoy),
        play(publisher(3), ride),
        play(publisher(4), options.replay.clone()),
    )?;
    Ok(())
}

/// What time it is.
fn now() -> Time {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Time::from_nanos(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX) / 1_000_000 * 1_000_000)
}

fn read_certificate(path: &Path) -> Result<Vec<u8>, DemoFault> {
    std::fs::read(path).map_err(|reason| DemoFault::File {
        path: path.to_owned(),
        reason,
    })
}

/// Reads a person's own CSV file as a recording.
pub fn read_table(path: &Path) -> Result<Recording, DemoFault> {
    let unreadable = |reason| DemoFault::File {
        path: path.to_owned(),
        reason,
    };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > FILE_BYTES_MAX {
        return Err(DemoFault::FileTooLarge {
            path: path.to_owned(),
        });
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let table = csv::Table::parse(&text).map_err(|reason| DemoFault::Csv {
        path: path.to_owned(),
        reason,
    })?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Recording::own(&name, table))
}

async fn show_network(mut publisher: Publisher, options: &Options) -> Result<(), DemoFault> {
    let mut network = Network::new(options.seed, now().seconds(), options.fault_every_s);
    for stream in network.streams() {
        publisher.describe(&stream).await?;
    }
    let mut ticks = interval(Duration::from_secs_f64(1.0 / options.rate_hz));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut last = Instant::now();
    loop {
        let tick = ticks.tick().await;
        network.step(tick.saturating_duration_since(last).as_secs_f64());
        last = tick;
        for message in network.read() {
            publisher.publish(&message).await?;
        }
    }
}

/// Plays a recording for ever; without one, waits for ever.
async fn play(mut publisher: Publisher, recording: Option<Recording>) -> Result<(), DemoFault> {
    let Some(recording) = recording else {
        return core::future::pending().await;
    };
    send_past(&mut publisher, &recording).await?;
    for index in (0..recording.table.rows.len()).cycle() {
        sleep(recording.pause_before(index)).await;
        let message = recording.play(&recording.table.rows[index]);
        if !message.observations.is_empty() {
            publisher.publish(&message).await?;
        }
    }
    core::future::pending().await
}

/// Describes the datastreams and sends the past, unless an earlier run has: a datastream that was
/// observed before has its past already.
async fn send_past(publisher: &mut Publisher, recording: &Recording) -> Result<(), DemoFault> {
    let observed = match recording.streams.first() {
        Some(stream) => publisher.observed(&stream.topic).await?,
        None => return Ok(()),
    };
    for stream in &recording.streams {
        publisher.describe(stream).await?;
    }
    if recording.backfill && !observed {
        for message in recording.past(now()) {
            publisher.publish(&message).await?;
        }
    }
    Ok(())
}
