//! libcoap's `coap-server`, as Debian ships it: CoAP over UDP and TCP in the clear.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Running, Settings, bound_to_bench, find_program, free_port, start_listening};

/// Its name in results.
pub const NAME: &str = "libcoap";

const PROGRAM: &str = "coap-server-notls";

/// Starts it with arguments beside those of its address; what is PUT makes a resource.
pub fn start(
    settings: &Settings,
    folder: &Path,
    host: IpAddr,
    arguments: &[&str],
) -> Result<Running, String> {
    let program = find()?;
    let version = version(&program);
    let address = SocketAddr::new(host, free_port()?);
    let mut command = bound_to_bench(settings, &program)?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    command.args(["-d", "4", "-A", &host, "-p", &port]);
    command.args(arguments);
    // It listens on TCP too, by which it is seen to be ready.
    start_listening(command, address, version, &folder.join("stderr.log"))
}

/// What it says it is, without starting it.
pub fn look() -> Result<String, String> {
    find().map(|program| version(&program))
}

fn find() -> Result<PathBuf, String> {
    find_program(PROGRAM, "libcoap3-bin")
}

fn version(program: &Path) -> String {
    // Upon an option that it does not know it complains, and then tells what it is.
    let asked = Command::new(program).arg("--version").output();
    let printed = asked.map(|it| [it.stdout, it.stderr].concat());
    let version = version_in(&String::from_utf8_lossy(&printed.unwrap_or_default()));
    version.unwrap_or_else(|| "libcoap of unknown version".into())
}

/// From a line `coap-server-notls v4.3.1 -- a small CoAP implementation`.
fn version_in(printed: &str) -> Option<String> {
    let line = |line: &str| Some(line.strip_prefix(PROGRAM)?.strip_prefix(" v")?.to_owned());
    let line = printed.lines().find_map(line)?;
    let version = line.split_whitespace().next()?;
    Some(format!("libcoap {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_read_from_behind_its_complaint() {
        let printed = "coap-server-notls: invalid option -- '-'\n\
                       coap-server-notls v4.3.1 -- a small CoAP implementation\n(c) 2010\n";
        assert_eq!(version_in(printed).as_deref(), Some("libcoap 4.3.1"));
        assert_eq!(version_in("coap-server-notls: no\n"), None);
    }
}
