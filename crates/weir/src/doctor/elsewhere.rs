//! Whether what the gateway needs elsewhere answers: the bus, the store, a collector of traces, an authority
//! of certificates.

use super::finding::{Finding, Level};
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;
use weir_gateway::Config;
use weir_model::Url;
use weir_model::url::Authority;

/// How long something elsewhere may take to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// What a client of PostgreSQL asks before all else (PostgreSQL's manual, section 53.2.12): whether TLS is
/// spoken; the answer is `S` or `N`.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
/// The first version of JetStream that keeps what it promises here.
const NATS_MIN: (u32, u32) = (2, 11);
/// The port that authorities look at.
const PROOF_PORT: u16 = 80;

pub(super) fn look(config: &Config) -> Vec<Finding> {
    let mut found = Vec::new();
    let servers = config
        .text("bus", "url")
        .map(|url| hosts(url, 4222))
        .unwrap_or_default();
    found.extend(looked(servers.iter().map(|server| of_bus(server)), || {
        login_at_bus(config)
    }));
    let hosts = config.text("store", "url").map(|url| hosts(url, 5432));
    found.extend(looked(
        hosts.iter().flatten().map(|host| of_store(host)),
        || login_at_store(config),
    ));
    let posted = [("trace", "url"), ("tls", "acme.directory")];
    for (section, key) in posted {
        if let Some(url) = config.text(section, key) {
            found.push(of_web(&format!("{section}.{key}"), url));
        }
    }
    if config.text("tls", "acme.directory").is_some() {
        found.push(of_proofs(config));
    }
    found
}

/// What is found of servers and, where none of them is bad, of logging in there.
fn looked(
    servers: impl Iterator<Item = Finding>,
    login: impl Fn() -> Option<Finding>,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = servers.collect();
    if found.iter().all(|it| it.level != Level::Bad) {
        found.extend(login());
    }
    found
}

/// `host:port` of each server of a URL that may name several; what is secret is left out.
fn hosts(url: &str, port: u16) -> Vec<String> {
    let shown = weir_model::url::shown(url);
    let (_, rest) = shown.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let hosts = authority.split(',').filter(|host| !host.is_empty());
    hosts.map(|host| with_port(host, port)).collect()
}

fn with_port(host: &str, port: u16) -> String {
    Authority::parse(host).map_or_else(|_| host.to_owned(), |host| host.with_port(port))
}

fn connected(host: &str) -> Result<TcpStream, String> {
    let addresses = host.to_socket_addrs().map_err(|error| error.to_string())?;
    let mut reason = "it has no address".to_owned();
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                let limited = stream.set_read_timeout(Some(PATIENCE));
                return limited.map(|()| stream).map_err(|error| error.to_string());
            }
            Err(error) => reason = error.to_string(),
        }
    }
    Err(reason)
}

/// A server of NATS says who it is before it is asked.
fn of_bus(server: &str) -> Finding {
    let said = connected(server).and_then(|mut stream| first_line(&mut stream));
    let info = match said {
        Ok(line) => line,
        Err(reason) => return Finding::bad(format!("bus.url: {server} does not answer: {reason}")),
    };
    let info = info.strip_prefix("INFO ").and_then(|json| {
        let info: serde_json::Value = serde_json::from_str(json.trim()).ok()?;
        Some((
            info["version"].as_str()?.to_owned(),
            info["jetstream"] == true,
        ))
    });
    match info {
        None => Finding::bad(format!("bus.url: what answers at {server} is no NATS")),
        Some((version, false)) => Finding::bad(format!(
            "bus.url: NATS {version} at {server} has JetStream off"
        )),
        Some((version, true)) => Finding::of(
            number(&version) >= Some(NATS_MIN),
            format!("NATS {version} with JetStream answers at {server}; 2.11 or later is needed"),
        ),
    }
}

/// By TLS and with the credentials of the configuration, as a start would.
fn login_at_bus(config: &Config) -> Option<Finding> {
    let reached = weir_registry::reach_bus(config.section("bus"), PATIENCE)?;
    Some(match reached {
        Ok(()) => Finding::good("NATS lets this gateway in, and JetStream answers it"),
        Err(fault) => Finding::bad(config.locate(&fault).to_string()),
    })
}

/// The same.
fn login_at_store(config: &Config) -> Option<Finding> {
    let reached = weir_registry::reach_store(config.section("store"), PATIENCE)?;
    Some(match reached {
        Ok(sentence) => Finding::good(sentence),
        Err(fault) => Finding::bad(config.locate(&fault).to_string()),
    })
}

fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

fn first_line(stream: &mut TcpStream) -> Result<String, String> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < 65_536 {
        let read = stream.read(&mut byte).map_err(|error| error.to_string())?;
        if read == 0 || byte[0] == b'\n' {
            break;
        }
        line.push(byte[0]);
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn of_store(host: &str) -> Finding {
    let answered = connected(host).and_then(|mut stream| {
        let mut answer = [0];
        let asked = stream.write_all(&SSL_REQUEST);
        let read = asked.and_then(|()| stream.read_exact(&mut answer));
        read.map(|()| answer[0]).map_err(|error| error.to_string())
    });
    match answered {
        Ok(b'S' | b'N') => Finding::good(format!("PostgreSQL answers at {host}")),
        Ok(_) => Finding::bad(format!(
            "store.url: what answers at {host} is no PostgreSQL"
        )),
        Err(reason) => Finding::bad(format!("store.url: {host} does not answer: {reason}")),
    }
}

fn of_web(key: &str, url: &str) -> Finding {
    let host = match Url::parse(url) {
        Ok(url) => {
            let port = if url.scheme == "https" { 443 } else { 80 };
            url.authority.with_port(port)
        }
        Err(error) => return Finding::bad(format!("{key}: {error}")),
    };
    match connected(&host) {
        Ok(_) => Finding::good(format!("{key}: {host} answers")),
        Err(reason) => Finding::look(format!("{key}: {host} does not answer: {reason}")),
    }
}

/// An authority looks at port 80 of every name.
fn of_proofs(config: &Config) -> Finding {
    let listener = weir_gateway::listens(config)
        .into_iter()
        .find(|it| it.key == "http.listen");
    let Some(listener) = listener else {
        return Finding::bad(
            "tls.acme: http.listen is off: an authority looks for its proofs there",
        );
    };
    let address = listener.address;
    Finding::of(
        address.port() == PROOF_PORT && !address.ip().is_loopback(),
        format!(
            "tls.acme: an authority looks for its proofs at port 80 of each name, which must lead to {address}"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_named_without_what_is_secret() {
        assert_eq!(
            hosts("nats://ann:secret@a,b:4223", 4222),
            ["a:4222", "b:4223"]
        );
        assert_eq!(hosts("postgres://u:p@[::1]/d?x=y", 5432), ["[::1]:5432"]);
        assert_eq!(hosts("postgres://u@db:6000", 5432), ["db:6000"]);
        assert_eq!(number("2.11.10"), Some((2, 11)));
    }
}
