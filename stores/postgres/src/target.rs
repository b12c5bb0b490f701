//! `postgres://user:password@host:port/database`: where the server is.

use crate::limits::CONNECT;
use crate::tls::Tls;
use std::error::Error as _;
use std::fmt;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, Error};
use weir_storage::HistoryFault;

/// A database of a server, and how to come there.
#[derive(Clone)]
pub struct Target {
    config: Config,
    tls: Tls,
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Target").field(&self.place()).finish()
    }
}

/// Why a text is no URL of a database; says nothing of what the text is, which holds a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadUrl(String);

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected postgres://user:password@host:port/database, {}",
            self.0
        )
    }
}

impl std::error::Error for BadUrl {}

impl Target {
    /// Reads a URL. With `?sslmode=require` the connection has TLS, and the server a certificate that holds;
    /// else it has none.
    pub fn parse(url: &str) -> Result<Self, BadUrl> {
        let unread = "which this is not (`:`, `/`, `@` and `%` in a password are \
                      percent-encoded)";
        let mut config: Config = url.parse().map_err(|_| BadUrl(unread.into()))?;
        let missing = |what: &str| Err(BadUrl(format!("and {what} is missing")));
        if config.get_hosts().is_empty() {
            return missing("the host");
        }
        if config.get_user().is_none() {
            return missing("the user");
        }
        if config.get_dbname().is_none() {
            return missing("the database");
        }
        let mode = match config.get_ssl_mode() {
            SslMode::Require => SslMode::Require,
            _ => SslMode::Disable,
        };
        config.ssl_mode(mode);
        config.application_name("weir");
        config.connect_timeout(CONNECT);
        config.keepalives_idle(Duration::from_secs(10));
        config.tcp_user_timeout(Duration::from_secs(20));
        let tls = Tls::of_the_web();
        Ok(Self { config, tls })
    }

    /// The same with certificates that lead to one of the authorities in a PEM file.
    pub fn with_authorities(mut self, file: &Path) -> Result<Self, String> {
        let pem = std::fs::read(file).map_err(|error| error.to_string())?;
        self.tls = Tls::of_authorities(&pem)?;
        Ok(self)
    }

    /// Whom it goes to, without the password: `weir@db:5432/weir`.
    pub fn place(&self) -> String {
        let (user, database) = (self.config.get_user(), self.config.get_dbname());
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate();
        let hosts: Vec<_> = hosts
            .map(|(at, host)| {
                let port = ports.get(at).or(ports.first()).unwrap_or(&5432);
                match host {
                    Host::Tcp(name) => format!("{name}:{port}"),
                    #[cfg(unix)]
                    Host::Unix(path) => format!("{}:{port}", path.display()),
                }
            })
            .collect();
        format!(
            "{}@{}/{}",
            user.unwrap_or_default(),
            hosts.join(","),
            database.unwrap_or_default()
        )
    }

    /// Makes a connection, whose other end is driven by a task of this thread's runtime.
    pub(crate) async fn connect(&self) -> Result<Client, Error> {
        let (client, connection) = self.config.connect(self.tls.clone()).await?;
        // How it ends, whoever asks next is told.
        tokio::task::spawn_local(async move { drop(connection.await) });
        Ok(client)
    }

    /// What went wrong there, as the hub is told it.
    pub(crate) fn fault(&self, error: &Error) -> HistoryFault {
        HistoryFault::Failed(self.sentence(error))
    }

    /// What went wrong there.
    pub(crate) fn sentence(&self, error: &Error) -> String {
        format!("PostgreSQL at {}: {}", self.place(), said(error))
    }
}

/// What the server said, or what befell the connection.
fn said(error: &Error) -> String {
    if let Some(said) = error.as_db_error() {
        let detail = said.detail().map(|detail| format!(" ({detail})"));
        return format!("{}{}", said.message(), detail.unwrap_or_default());
    }
    let text = error.to_string();
    match error.source().map(ToString::to_string) {
        Some(cause) if !text.contains(&cause) => format!("{text}: {cause}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_place_has_no_password() {
        let target = Target::parse("postgres://ann:s%40t@db:5433/weir").unwrap();
        assert_eq!(target.place(), "ann@db:5433/weir");
        let target = Target::parse("postgresql://ann@a,b/weir").unwrap();
        assert_eq!(target.place(), "ann@a:5432,b:5432/weir");
        assert!(!format!("{target:?}").contains("s@t"));
    }

    #[test]
    fn a_url_that_is_none_is_refused_without_being_shown() {
        for bad in [
            "",
            "postgres://",
            "postgres://db/weir",
            "postgres://ann:secret@db",
            "postgres://ann:secret@db:port/weir",
            "postgres://ann:secret@db/weir?colour=red",
        ] {
            let fault = Target::parse(bad).unwrap_err().to_string();
            assert!(!fault.contains("secret"), "{fault}");
        }
    }
}
