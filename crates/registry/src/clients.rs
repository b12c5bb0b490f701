//! Clients of services, by the schemes of their URLs.

use crate::bindings::{BINDINGS, binding_of_url};
use std::sync::Arc;
use weir_binding::{Client, Connect, Section};

/// One line of [`CLIENTS`].
pub struct ClientLine {
    /// Schemes of its URLs; behind the `+` stands the scheme of the binding that carries it.
    pub schemes: &'static [&'static str],
    /// Makes it on that binding.
    pub make: fn(Arc<dyn Connect>) -> Arc<dyn Client>,
}

/// Every service that has a client's half.
pub const CLIENTS: &[ClientLine] = &[
    #[cfg(feature = "sos")]
    ClientLine {
        schemes: &["sos+http", "sos+https"],
        make: |web| Arc::new(weir_sos::client::SosClient(web)),
    },
    #[cfg(feature = "sensorthings")]
    ClientLine {
        schemes: &["sta+http", "sta+https"],
        make: |web| Arc::new(weir_sensorthings::client::SensorThingsClient(web)),
    },
    #[cfg(feature = "soap")]
    ClientLine {
        schemes: &["soap+http", "soap+https"],
        make: |web| Arc::new(weir_soap::client::SoapClient(web)),
    },
];

/// What talks to the peer of a URL: a service's client, or else a protocol's.
pub fn client_of_url(url: &str) -> Option<Arc<dyn Client>> {
    let scheme = weir_model::url::scheme(url)?;
    let mut lines = CLIENTS.iter();
    let Some(line) = lines.find(|line| line.schemes.contains(&scheme)) else {
        let protocol: Arc<dyn Connect> = binding_of_url(url)?;
        return Some(Arc::new(protocol));
    };
    let (_, carried) = url.split_once('+')?;
    Some((line.make)(binding_of_url(carried)?))
}

/// Every scheme that [`client_of_url`] knows.
pub fn client_schemes() -> Vec<&'static str> {
    let bindings = BINDINGS.iter();
    let bindings = bindings.filter_map(|line| (line.configure)(Section::new(line.name)).ok());
    let of_bindings = bindings.flat_map(|binding| binding.schemes());
    let of_services = CLIENTS.iter().flat_map(|line| line.schemes);
    of_bindings.chain(of_services).copied().collect()
}
