//! Domains of DDS: with the gateway in one, with weir's participants alone, and with Cyclone's alone.
//!
//! Where nobody stands between the clients there is nothing to start: such a target is the place of a domain that
//! nobody was found in. The decision worth arguing: a domain is told as the address of its first participant, as
//! everything else here is an address.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{OF_MESSAGING, Running, Settings, Target, of_the_project, weir};
use weir_bench_model::environment::version_of;

/// The name of weir's participants by themselves.
pub const RUSTDDS_ALONE: &str = "rustdds";
/// The name of Cyclone's target, by which its clients are chosen.
pub const CYCLONE: &str = "cyclone";
/// The same with the gateway in the domain.
pub const CYCLONE_AND_WEIR: &str = "cyclone_weir";

pub(super) const WEIR: Target = Target {
    name: "weir_dds",
    about: "the gateway in a domain of DDS, pages by its WebSocket; of `messaging` only",
    look: |settings| (weir::TARGET.look)(settings),
    start: start_weir,
    ..OF_MESSAGING
};

pub(super) const RUSTDDS: Target = Target {
    name: RUSTDDS_ALONE,
    about: "weir's participants of DDS by themselves, without a gateway; of `messaging` only",
    look: |_| Ok(RUSTDDS_VERSION.into()),
    start: |settings, _| Ok(Running::elsewhere(free_domain(settings)?, RUSTDDS_VERSION)),
    ..OF_MESSAGING
};

pub(super) const CYCLONE_DDS: Target = Target {
    name: CYCLONE,
    about: "Cyclone DDS by itself, in C, a process a client; of `messaging` only",
    look: |_| cyclone_version(),
    start: |settings, _| {
        let version = cyclone_version()?;
        Ok(Running::elsewhere(free_domain(settings)?, &version))
    },
    ..OF_MESSAGING
};

pub(super) const CYCLONE_WEIR: Target = Target {
    name: CYCLONE_AND_WEIR,
    about: "Cyclone's clients in the gateway's domain, pages by its WebSocket; of `messaging` only",
    look: |settings| {
        let gateway = (weir::TARGET.look)(settings)?;
        Ok(format!("{} and {gateway}", cyclone_version()?))
    },
    start: |settings, folder| {
        let cyclone = cyclone_version()?;
        let mut running = start_weir(settings, folder)?;
        running.version = format!("{cyclone} and {}", running.version);
        Ok(running)
    },
    ..OF_MESSAGING
};

const RUSTDDS_VERSION: &str = "RustDDS 0.15";
/// Where `scripts/peers` puts Cyclone's client, and the environment variable that names another.
const INSTALLED: &str = "build/cyclone-bench/peer";
const VARIABLE: &str = "WEIR_CYCLONE";
const ABSENT: &str = "absent: no build/cyclone-bench/peer; from the project's root, `scripts/peers` puts it there, and \
                      WEIR_CYCLONE names another";

/// Where participant 0 of domain 0 is announced to, and how far apart domains are (DDSI-RTPS 2.5 section 9.6.2.3).
const PORT_BASE: u16 = 7410;
const DOMAIN_GAIN: u16 = 250;
/// Domains whose ports lie below those that Linux gives to whoever asks for any.
const DOMAINS: std::ops::Range<u16> = 1..100;

/// Domains that were given away.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// The domain whose first participants are there.
pub fn domain_at(address: SocketAddr) -> u16 {
    address.port().saturating_sub(PORT_BASE) / DOMAIN_GAIN
}

/// A domain without a participant on this machine.
fn free_domain(settings: &Settings) -> Result<SocketAddr, String> {
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let at = |domain| SocketAddr::from((settings.host(), PORT_BASE + DOMAIN_GAIN * domain));
    let first = std::process::id() as u16 % DOMAINS.end;
    let domains = (first.max(DOMAINS.start)..DOMAINS.end).chain(DOMAINS);
    let mut free = domains.filter(|domain| UdpSocket::bind(at(*domain)).is_ok());
    let domain = free.find(|domain| given.insert(*domain));
    domain
        .map(at)
        .ok_or_else(|| "no domain of DDS is free".into())
}

fn start_weir(settings: &Settings, folder: &Path) -> Result<Running, String> {
    if settings.address.is_some() {
        return Err("absent: a gateway given by --url is spoken to by HTTP".into());
    }
    let domain = domain_at(free_domain(settings)?);
    let sets = [
        format!("dds.domain={domain}"),
        format!("dds.interface={}", settings.host()),
        // Who joins for a measurement is not to hear what was said in the one before.
        "dds.offer.durability=volatile".to_owned(),
    ];
    let running = weir::launch(settings, folder, "dds", &sets)?;
    Ok(weir::reached_by_pages(running, settings, "/live"))
}

/// The program that is a client of Cyclone's.
pub fn cyclone_program() -> Result<PathBuf, String> {
    let named = std::env::var_os(VARIABLE).map(PathBuf::from);
    let program = of_the_project(&named.unwrap_or_else(|| INSTALLED.into()));
    std::fs::canonicalize(program).map_err(|_| ABSENT.to_owned())
}

fn cyclone_version() -> Result<String, String> {
    cyclone_program().map(|program| version_of(&program.to_string_lossy(), "--version"))
}

/// Nothing but this interface, and no multicast there.
pub fn cyclone_configuration(at: IpAddr) -> String {
    format!(
        "<CycloneDDS><Domain Id=\"any\"><General><Interfaces><NetworkInterface address=\"{at}\" multicast=\"false\"/>\
         </Interfaces><AllowMulticast>false</AllowMulticast></General><Discovery>\
         <ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>9</MaxAutoParticipantIndex>\
         <Peers><Peer address=\"{at}\"/></Peers></Discovery></Domain></CycloneDDS>"
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_domain_is_told_by_the_address_of_any_participant() {
        let domain = |port| domain_at(([127, 0, 0, 1], port).into());
        assert_eq!((domain(7410), domain(7412), domain(7660)), (0, 0, 1));
        assert_eq!(domain(PORT_BASE + DOMAIN_GAIN * 99 + 8), 99);
    }

    #[test]
    fn no_domain_is_given_twice() {
        let one = free_domain(&Settings::default()).unwrap();
        let other = free_domain(&Settings::default()).unwrap();
        assert_ne!(domain_at(one), domain_at(other));
    }
}
