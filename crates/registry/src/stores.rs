//! Stores: the log, and history behind it.

use crate::history;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use weir_binding::{ConfigFault, Section};
use weir_hub::aggregate::parse_duration;
use weir_hub::{History, Log};
use weir_log::{DiskLog, Options, RealDisk};

/// One line of [`STORES`].
pub struct StoreLine {
    /// Its name.
    pub name: &'static str,
    /// Schemes of `store.url` that mean it; the default has none.
    pub schemes: &'static [&'static str],
    /// Opens it.
    pub open: Open,
    /// Says what is wrong with the section `store`.
    pub check: fn(Section) -> Result<(), ConfigFault>,
    /// Tries whether it lets a gateway in, for so long, and says whose it is; `None` where it is nowhere else.
    pub reach: fn(Section, Duration) -> Option<Result<String, ConfigFault>>,
    /// Says what is wrong with the section `history`.
    pub check_history: fn(Section) -> Result<(), ConfigFault>,
}

/// Opens a store in the data directory.
pub type Open = fn(&Path, Sections) -> Result<Arc<dyn History>, ConfigFault>;

/// What a history store is made of.
pub struct Sections {
    /// Where it is.
    pub store: Section,
    /// For how long it keeps what.
    pub history: Section,
    /// Which log feeds it, where that is shared.
    pub bus: Section,
}

/// Every history store; the first is the default.
pub const STORES: &[StoreLine] = &[
    #[cfg(feature = "embedded")]
    StoreLine {
        name: "embedded",
        schemes: &[],
        open: history::open_embedded,
        check: history::check_embedded,
        reach: |_, _| None,
        check_history: |section| history::embedded_options(section).map(drop),
    },
    #[cfg(feature = "postgres")]
    StoreLine {
        name: "postgres",
        schemes: &["postgres", "postgresql"],
        open: history::open_postgres,
        check: |section| history::postgres_target(section).map(drop),
        reach: |section, within| Some(history::reach_postgres(section, within)),
        check_history: |section| history::postgres_bounds(section).map(drop),
    },
];

/// Keys of the section `log`.
pub const LOG_KEYS: &[&str] = &[
    "segment_bytes",
    "retention_bytes",
    "retention_age",
    "pending_bytes",
];

/// Keys of the section `bus`.
pub const BUS_KEYS: &[&str] = &[
    "url",
    "ca_file",
    "certificate",
    "key",
    "credentials",
    "stream",
    "replicas",
    "gateway",
];

/// Opens the log: a stream of the bus where one is named, else the log on local disk.
pub fn open_log(data: &Path, section: Section, bus: Section) -> Result<Arc<dyn Log>, ConfigFault> {
    let options = log_options(section)?;
    #[cfg(feature = "jetstream")]
    if let Some(stream) = bus_options(bus.clone(), &options)? {
        let opened = weir_jetstream::JetStreamLog::open(&stream);
        let log = opened.map_err(|problem| bus.fault("url", problem))?;
        return Ok(Arc::new(log));
    }
    check_bus(bus)?;
    let failed = |problem: String| ConfigFault {
        key: "data.dir".into(),
        problem,
    };
    let disk = RealDisk::new(data.join("log")).map_err(|error| failed(error.to_string()))?;
    let log = DiskLog::open(Arc::new(disk), options).map_err(|error| failed(error.to_string()))?;
    Ok(Arc::new(log))
}

/// Says what is wrong with the section of the bus.
pub fn check_bus(bus: Section) -> Result<(), ConfigFault> {
    #[cfg(feature = "jetstream")]
    bus_options(bus, &Options::default())?;
    #[cfg(not(feature = "jetstream"))]
    bus.finish(&[])?;
    Ok(())
}

/// Tries whether the bus lets a gateway in, for so long; `None` where the section names none.
pub fn reach_bus(bus: Section, within: Duration) -> Option<Result<(), ConfigFault>> {
    #[cfg(feature = "jetstream")]
    match bus_options(bus.clone(), &Options::default()) {
        Ok(None) => None,
        Ok(Some(stream)) => {
            let reached = weir_jetstream::reach(&stream, within);
            Some(reached.map_err(|problem| bus.fault("url", problem)))
        }
        Err(fault) => Some(Err(fault)),
    }
    #[cfg(not(feature = "jetstream"))]
    {
        let _nothing_to_reach = (bus, within);
        None
    }
}

/// The stream that the section names; `None` where it names none.
#[cfg(feature = "jetstream")]
fn bus_options(
    mut bus: Section,
    log: &Options,
) -> Result<Option<weir_jetstream::Options>, ConfigFault> {
    let url = bus.text("url", "");
    let stream = bus.text("stream", "weir");
    let replicas = bus.parsed("replicas", 1, "1, 3 or 5")?;
    // The gateway itself reads it.
    let _name = bus.optional("gateway");
    let login = ["ca_file", "certificate", "key", "credentials"].map(|name| bus.optional(name));
    bus.clone().finish(BUS_KEYS)?;
    if !weir_jetstream::Options::is_name(&stream) {
        return Err(bus.fault(
            "stream",
            "expected letters, digits, `-` and `_`, 64 at most",
        ));
    }
    if !matches!(replicas, 1 | 3 | 5) {
        return Err(bus.fault("replicas", "expected 1, 3 or 5"));
    }
    if url.is_empty() {
        return Ok(None);
    }
    Ok(Some(weir_jetstream::Options {
        servers: servers(&url, login, &bus)?,
        stream,
        replicas,
        retention_bytes: log.retention_bytes,
        retention_age: log.retention_age,
    }))
}

/// Where the servers of the bus are, and how the gateway comes in.
#[cfg(feature = "jetstream")]
fn servers(
    url: &str,
    [authorities, certificate, key, credentials]: [Option<String>; 4],
    bus: &Section,
) -> Result<weir_jetstream::Servers, ConfigFault> {
    let servers = weir_jetstream::Servers::parse(url);
    let mut servers = servers.map_err(|error| bus.fault("url", error.to_string()))?;
    let shown = match (&certificate, &key) {
        (Some(certificate), Some(key)) => Some((Path::new(certificate), Path::new(key))),
        (None, None) => None,
        (Some(_), None) => return Err(bus.fault("key", "is missing: bus.certificate has one")),
        (None, Some(_)) => {
            return Err(bus.fault("certificate", "is missing: bus.key is that of one"));
        }
    };
    if authorities.is_some() || shown.is_some() {
        let with = servers.with_tls(authorities.as_deref().map(Path::new), shown);
        servers = with.map_err(|problem| bus.fault("ca_file", problem))?;
    }
    if let Some(file) = credentials {
        let with = servers.with_credentials(Path::new(&file));
        servers = with.map_err(|problem| bus.fault("credentials", format!("{file}: {problem}")))?;
    }
    Ok(servers)
}

/// Says what is wrong with the section of the log.
pub fn check_log(section: Section) -> Result<(), ConfigFault> {
    log_options(section).map(drop)
}

fn log_options(mut section: Section) -> Result<Options, ConfigFault> {
    let default = Options::default();
    let bytes = "a number of bytes";
    let options = Options {
        segment_bytes: section.parsed("segment_bytes", default.segment_bytes, bytes)?,
        retention_bytes: section.parsed("retention_bytes", default.retention_bytes, bytes)?,
        retention_age: age(&mut section, default.retention_age)?,
        pending_bytes_max: section.parsed("pending_bytes", default.pending_bytes_max, bytes)?,
    };
    section.finish(LOG_KEYS)?;
    Ok(options)
}

pub(crate) fn age(
    section: &mut Section,
    default: std::time::Duration,
) -> Result<std::time::Duration, ConfigFault> {
    match section.optional("retention_age") {
        None => Ok(default),
        Some(text) => {
            parse_duration(&text).map_err(|error| section.fault("retention_age", error.to_string()))
        }
    }
}
