//! History stores from their sections of the configuration.

use crate::stores::{STORES, Sections, StoreLine, age, open_log};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use weir_binding::{ConfigFault, Section};
use weir_hub::{History, LogFault, datastreams_of};
use weir_model::Datastream;

/// Keys of the section `store`.
pub const STORE_KEYS: &[&str] = &["url", "ca_file"];

/// Keys of the section `history`.
pub const HISTORY_KEYS: &[&str] = &["retention_bytes", "retention_age", "unwritten_bytes"];

/// Opens the history store that `store.url` means.
pub fn open_history(data: &Path, sections: Sections) -> Result<Arc<dyn History>, ConfigFault> {
    (store_of(&sections.store)?.open)(data, sections)
}

/// Says what is wrong with the section of the history store.
pub fn check_store(store: Section) -> Result<(), ConfigFault> {
    (store_of(&store)?.check)(store)
}

/// Says what is wrong with the section of what history keeps, for the store that is meant.
pub fn check_history(history: Section, store: &Section) -> Result<(), ConfigFault> {
    let line = store_of(store).unwrap_or(&STORES[0]);
    (line.check_history)(history)
}

/// Tries whether the history store lets a gateway in, for so long; `None` where it is nowhere else.
pub fn reach_store(
    store: Section,
    within: std::time::Duration,
) -> Option<Result<String, ConfigFault>> {
    match store_of(&store) {
        Ok(line) => (line.reach)(store, within),
        Err(fault) => Some(Err(fault)),
    }
}

/// The store of a URL's scheme, or the default. The URL itself, which may hold a password, is not shown.
fn store_of(store: &Section) -> Result<&'static StoreLine, ConfigFault> {
    let Some(url) = store.clone().optional("url") else {
        return Ok(&STORES[0]);
    };
    let scheme = weir_model::url::scheme(&url);
    let found = STORES
        .iter()
        .find(|line| scheme.is_some_and(|scheme| line.schemes.contains(&scheme)));
    found.ok_or_else(|| {
        let known: Vec<_> = STORES.iter().flat_map(|line| line.schemes).collect();
        let known: Vec<_> = known.iter().map(|scheme| format!("{scheme}://")).collect();
        let problem = if known.is_empty() {
            "this weir is built without a store that has a URL".into()
        } else {
            format!("expected a URL that begins with {}", known.join(" or "))
        };
        store.fault("url", problem)
    })
}

/// Says what is wrong with the section where it names no store.
#[cfg(feature = "embedded")]
pub(crate) fn check_embedded(mut store: Section) -> Result<(), ConfigFault> {
    let _none = store.optional("url");
    match store.optional("ca_file") {
        Some(_) => Err(store.fault("ca_file", "needs `store.url`")),
        None => store.finish(STORE_KEYS),
    }
}

#[cfg(feature = "embedded")]
pub(crate) fn embedded_options(
    mut section: Section,
) -> Result<weir_embedded::Options, ConfigFault> {
    let default = weir_embedded::Options::default();
    let options = weir_embedded::Options {
        retention_bytes: section.parsed(
            "retention_bytes",
            default.retention_bytes,
            "a number of bytes",
        )?,
        retention_age: age(&mut section, default.retention_age)?,
        unwritten_bytes_max: section.parsed(
            "unwritten_bytes",
            default.unwritten_bytes_max,
            "a number of bytes",
        )?,
    };
    section.finish(HISTORY_KEYS)?;
    Ok(options)
}

#[cfg(feature = "embedded")]
pub(crate) fn open_embedded(
    data: &Path,
    sections: Sections,
) -> Result<Arc<dyn History>, ConfigFault> {
    use weir_embedded::EmbeddedHistory;
    check_embedded(sections.store)?;
    let options = embedded_options(sections.history)?;
    let opened = EmbeddedHistory::open(data.join("history"), options);
    let history = opened.map_err(|error| ConfigFault {
        key: "data.dir".into(),
        problem: format!(
            "the history in {} cannot be opened: {error}",
            data.display()
        ),
    })?;
    Ok(Arc::new(history))
}

#[cfg(feature = "postgres")]
pub(crate) fn postgres_target(mut store: Section) -> Result<weir_postgres::Target, ConfigFault> {
    let url = store.text("url", "");
    let authorities = store.optional("ca_file");
    store.clone().finish(STORE_KEYS)?;
    let target = weir_postgres::Target::parse(&url);
    let target = target.map_err(|error| store.fault("url", error.to_string()))?;
    match authorities {
        None => Ok(target),
        Some(file) => target
            .with_authorities(Path::new(&file))
            .map_err(|problem| store.fault("ca_file", format!("{file}: {problem}"))),
    }
}

/// Logs in; says the server's version and whom it went to.
#[cfg(feature = "postgres")]
pub(crate) fn reach_postgres(
    store: Section,
    within: std::time::Duration,
) -> Result<String, ConfigFault> {
    let target = postgres_target(store.clone())?;
    let version = weir_postgres::reach(&target, within);
    let version = version.map_err(|problem| store.fault("url", problem))?;
    Ok(format!("PostgreSQL {version} lets in {}", target.place()))
}

/// How old rows may be, and how many bytes of them may wait.
#[cfg(feature = "postgres")]
pub(crate) fn postgres_bounds(
    mut section: Section,
) -> Result<(std::time::Duration, usize), ConfigFault> {
    if section.optional("retention_bytes").is_some() {
        let problem =
            "is of the embedded store; in PostgreSQL rows are kept by `history.retention_age`";
        return Err(section.fault("retention_bytes", problem));
    }
    let age = age(&mut section, std::time::Duration::MAX)?;
    let most = weir_postgres::limits::BUFFER_BYTES_MAX;
    let waiting = section.parsed("unwritten_bytes", most, "a number of bytes")?;
    section.finish(HISTORY_KEYS)?;
    Ok((age, waiting))
}

#[cfg(feature = "postgres")]
pub(crate) fn open_postgres(
    data: &Path,
    sections: Sections,
) -> Result<Arc<dyn History>, ConfigFault> {
    Ok(Arc::new(postgres(data, sections)?))
}

/// Writes what the embedded store in the data directory has into the database of `store.url`, which has
/// nothing yet; says how many observations that were, and meanwhile how many so far. What they mean is in the log.
#[cfg(all(feature = "postgres", feature = "embedded"))]
pub fn move_history(
    data: &Path,
    log: Section,
    sections: Sections,
    told: impl Fn(u64) + Send + Sync + 'static,
) -> Result<u64, ConfigFault> {
    if store_of(&sections.store)?.name != "postgres" {
        let problem = "is missing: it says where the history is to go";
        return Err(sections.store.fault("url", problem));
    }
    let kept = weir_embedded::Options {
        retention_bytes: u64::MAX,
        ..weir_embedded::Options::default()
    };
    let opened = weir_embedded::EmbeddedHistory::open(data.join("history"), kept);
    let embedded = opened.map_err(|error| ConfigFault {
        key: "data.dir".into(),
        problem: format!(
            "the history in {} cannot be opened (a gateway that has it must be stopped): {error}",
            data.display()
        ),
    })?;
    let known = datastreams(data, log, sections.bus.clone())?;
    let database = postgres(data, sections)?;
    let moved = database.take_over(Arc::new(embedded), known, told);
    moved.map_err(|problem| ConfigFault {
        key: "store.url".into(),
        problem,
    })
}

/// What the log knows of datastreams.
#[cfg(all(feature = "postgres", feature = "embedded"))]
fn datastreams(
    data: &Path,
    log: Section,
    bus: Section,
) -> Result<BTreeMap<String, Datastream>, ConfigFault> {
    let failed = |fault: LogFault| ConfigFault {
        key: "data.dir".into(),
        problem: format!("the log cannot be read: {fault}"),
    };
    let log = open_log(data, log, bus)?;
    let known = datastreams_of(&*log).map_err(failed)?;
    log.close().map_err(failed)?;
    Ok(known)
}

#[cfg(feature = "postgres")]
fn postgres(
    data: &Path,
    mut sections: Sections,
) -> Result<weir_postgres::PostgresHistory, ConfigFault> {
    use weir_postgres::{Options, Origin, PostgresHistory};
    let fault = |problem: String| ConfigFault {
        key: "store.url".into(),
        problem,
    };
    let (retention_age, buffer_bytes_max) = postgres_bounds(sections.history)?;
    let options = Options {
        target: postgres_target(sections.store)?,
        retention_age,
        buffer_bytes_max,
        wait: weir_postgres::limits::OPEN_WAIT,
    };
    let log = match sections.bus.optional("url") {
        Some(_) => Origin::Shared(format!("stream {}", sections.bus.text("stream", "weir"))),
        None => {
            let disk = weir_log::RealDisk::new(data.join("history"));
            Origin::Own(Arc::new(disk.map_err(|error| fault(error.to_string()))?))
        }
    };
    let history = PostgresHistory::open(options, &log).map_err(fault)?;
    Ok(history)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn store(url: &str) -> Section {
        let mut section = Section::new("store");
        section.set("url", url);
        section
    }

    #[test]
    fn a_url_of_another_scheme_is_refused_without_being_shown() {
        assert_eq!(store_of(&Section::new("store")).unwrap().name, "embedded");
        let name = |url: &str| store_of(&store(url)).map(|line| line.name);
        assert_eq!(name(""), Ok("embedded"));
        assert_eq!(name("postgresql://ann:secret@db/weir"), Ok("postgres"));
        let fault = name("mysql://ann:secret@db/weir").unwrap_err();
        assert_eq!(
            fault.to_string(),
            "`store.url`: expected a URL that begins with postgres:// or postgresql://"
        );
        let fault = check_store(store("postgres://ann:secret@db")).unwrap_err();
        assert!(!fault.to_string().contains("secret"), "{fault}");
    }

    #[test]
    fn bytes_are_kept_by_the_embedded_store_only() {
        let mut history = Section::new("history");
        history.set("retention_bytes", "7");
        assert!(check_history(history.clone(), &Section::new("store")).is_ok());
        let fault = check_history(history, &store("postgres://ann@db/weir")).unwrap_err();
        assert_eq!(fault.key, "history.retention_bytes");
    }
}
