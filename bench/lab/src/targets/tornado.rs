//! Tornado on the system's Python: the server of papers 001's and 003's kind that answers by HTTP or
//! WebSocket. What it answers is a script of the experiment's own.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::Command;

use super::{Running, Settings, bound_to_bench, free_port, start_listening};

/// Its name in results.
pub const NAME: &str = "tornado";

/// The system's own, for which the package is.
const PYTHON: &str = "/usr/bin/python3";

/// Runs a script, whose arguments are an address and a port.
pub fn start(
    settings: &Settings,
    folder: &Path,
    host: IpAddr,
    script: &str,
) -> Result<Running, String> {
    let version = look()?;
    let file = folder.join("server.py");
    std::fs::write(&file, script).map_err(|e| format!("{}: {e}", file.display()))?;
    let address = SocketAddr::new(host, free_port()?);
    let mut command = bound_to_bench(settings, Path::new(PYTHON))?;
    let (host, port) = (address.ip().to_string(), address.port().to_string());
    command.arg(&file).args([host, port]);
    start_listening(command, address, version, &folder.join("stderr.log"))
}

/// What it says it is, without starting it.
pub fn look() -> Result<String, String> {
    let absent = "absent: no Tornado here; `apt-get install python3-tornado` brings it";
    version().ok_or(absent.into())
}

fn version() -> Option<String> {
    let asked = "import tornado, sys; \
                 print('Tornado', tornado.version, 'on Python', sys.version.split()[0])";
    let output = Command::new(PYTHON).args(["-c", asked]).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(printed)
}
