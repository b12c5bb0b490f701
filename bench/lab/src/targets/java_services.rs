//! Java stacks of Web services, in small programs of ours that send back what they are sent: Apache CXF (SOAP),
//! Jersey on Grizzly (REST) and Californium (CoAP), of the kind of those that paper 001 measured.

use std::net::IpAddr;
use std::path::Path;

use super::java::Program;
use super::{Running, Settings, start_announced};

/// Apache CXF's name in results.
pub const CXF: &str = "cxf";
/// Jersey's.
pub const JERSEY: &str = "jersey";
/// Californium's.
pub const CALIFORNIUM: &str = "californium";

/// A server, what it is called in words, and the listener that its first line tells.
struct Service {
    name: &'static str,
    called: &'static str,
    listener: &'static str,
    program: Program,
}

static SERVICES: [Service; 3] = [
    Service {
        name: CXF,
        called: "Apache CXF",
        listener: "http",
        program: program("weir.Soap", "cxf-rt-frontend-jaxws-"),
    },
    Service {
        name: JERSEY,
        called: "Jersey",
        listener: "http",
        program: program("weir.Rest", "jersey-server-"),
    },
    Service {
        name: CALIFORNIUM,
        called: "Californium",
        listener: "coap",
        program: program("weir.Coap", "californium-core-"),
    },
];

const fn program(class: &'static str, library: &'static str) -> Program {
    Program {
        folder: "conformance/services-bench",
        variable: "WEIR_SERVICES",
        class,
        library,
    }
}

/// What one says it is, without starting it.
pub fn look(name: &str) -> Result<String, String> {
    let service = named(name)?;
    let version = service.program.look()?;
    Ok(format!("{} {version}", service.called))
}

fn named(name: &str) -> Result<&'static Service, String> {
    let service = SERVICES.iter().find(|service| service.name == name);
    service.ok_or_else(|| format!("absent: no program for {name}"))
}

/// Starts one at an address, on a port that it tells.
pub fn start(
    name: &str,
    settings: &Settings,
    folder: &Path,
    host: IpAddr,
) -> Result<Running, String> {
    let service = named(name)?;
    let version = look(name)?;
    let mut command = service.program.command(settings, &[])?;
    command.arg(host.to_string());
    let log = folder.join("stderr.log");
    start_announced(command, service.listener, version, &log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_here_or_says_what_brings_it() {
        for service in &SERVICES {
            let looked = service.program.look();
            let known = looked.as_ref().is_ok_and(|version| version.contains('.'));
            let absent = looked.is_err_and(|reason| reason.contains("conformance/services-bench"));
            assert!(known || absent, "{}", service.name);
        }
    }
}
