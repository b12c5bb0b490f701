//! `/dpws`: the gateway as a device of the Devices Profile for Web Services, 1.1 and 1.0.
//!
//! It is found by WS-Discovery, describes itself by WS-Transfer and WS-MetadataExchange, and pushes
//! observations by WS-Eventing.
//!
//! What it deliberately does not do: look for other devices, discovery proxies, WS-Security. The decision worth
//! arguing: discovery opens its own sockets ([`net`]), as which there are follows from the machine's interfaces
//! and not from a list of listeners.
#![forbid(unsafe_code)]

mod device;
mod discovery;
mod eventing;
mod hosted;
pub mod limits;
mod message;
mod metadata;
mod names;
mod net;
mod random;
mod settings;

use device::Device;
use eventing::Subscriptions;
use random::uuid;
use settings::{Settings, Where};
use std::sync::{Arc, OnceLock};
use weir_binding::{Answer, Call, ConfigFault, Gateway, LocalFuture, Section, Service};
use weir_hub::Hub;
use weir_model::Time;

/// What the device's discovery says when it hears these datagrams of UDP, one after the other, from one peer: where the
/// machine is all that is wanted, without sockets. `scopes` are the device's own.
pub fn heard(datagrams: &[&[u8]], scopes: &[&str]) -> Vec<bytes::Bytes> {
    discovery::heard(datagrams, scopes)
}

/// Where the device is.
pub(crate) const PATH: &str = "/dpws";
/// Under which the device's address is kept in the log.
const KEPT: &str = "dpws/device";
/// Under which the number of the last start is.
const KEPT_INSTANCE: &str = "dpws/instance";

/// The service.
pub struct Dpws {
    house: Arc<House>,
}

/// What requests are answered from.
pub(crate) struct House {
    hub: Arc<Hub>,
    settings: Settings,
    subscriptions: Arc<Subscriptions>,
    /// The plain web service, whose operations the device hosts.
    operations: Arc<dyn Service>,
    /// Made when the time is known.
    device: OnceLock<Arc<Device>>,
}

impl Dpws {
    /// The service of a hub, as its section of the configuration wants it. It hosts the operations of the
    /// plain web service.
    pub fn configure(
        hub: Arc<Hub>,
        section: Section,
        operations: Arc<dyn Service>,
    ) -> Result<Self, ConfigFault> {
        let house = House {
            hub,
            settings: Settings::read(section)?,
            subscriptions: Arc::default(),
            operations,
            device: OnceLock::new(),
        };
        Ok(Self {
            house: Arc::new(house),
        })
    }

    /// Says what is wrong with the section.
    pub fn check(section: Section) -> Result<(), ConfigFault> {
        Settings::read(section).map(drop)
    }
}

impl House {
    fn device(&self, now: Time) -> Arc<Device> {
        let made = || {
            let instance = instance(&self.hub, now);
            let address = address(&self.hub, now);
            let Settings { name, scopes, .. } = &self.settings;
            Arc::new(Device::started(instance, address, name, scopes.clone()))
        };
        self.device.get_or_init(made).clone()
    }
}

/// The device's address, made at the first start and kept in the log.
fn address(hub: &Arc<Hub>, now: Time) -> String {
    if let Some(known) = kept(hub, KEPT) {
        return known;
    }
    let made = uuid();
    keep(hub, now, KEPT, &made);
    made
}

/// The number of this start: its second, or one more than that of the last start where the clock was set back.
fn instance(hub: &Arc<Hub>, now: Time) -> u64 {
    let second = u64::try_from(now.nanos() / 1_000_000_000).unwrap_or_default();
    let last = kept(hub, KEPT_INSTANCE).and_then(|known| known.parse::<u64>().ok());
    let instance = last.map_or(second, |last| second.max(last + 1));
    keep(hub, now, KEPT_INSTANCE, &instance.to_string());
    instance
}

fn kept(hub: &Arc<Hub>, key: &str) -> Option<String> {
    let known = hub.consumer(key)?;
    Some(String::from_utf8_lossy(&known).into_owned())
}

fn keep(hub: &Arc<Hub>, now: Time, key: &str, text: &str) {
    // Where the log takes nothing, nothing else goes on either.
    drop(hub.internal().remember(now, key, text.to_owned().into()));
}

impl Service for Dpws {
    fn name(&self) -> &'static str {
        "dpws"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &[PATH]
    }

    fn call(&self, call: Call) -> Answer {
        self.house.answered(call)
    }

    fn background(&self, context: Arc<dyn Gateway>) -> Option<LocalFuture<'static, ()>> {
        let house = &self.house;
        let (device, place) = (house.device(context.now()), house.settings.discovery);
        let pushing = net::sinks::run(house.subscriptions.clone(), context.clone());
        Some(match place {
            Where::Off => Box::pin(pushing),
            place => Box::pin(net::both(
                pushing,
                net::discovery::run(device, place, context),
            )),
        })
    }
}

#[cfg(test)]
mod tests;
