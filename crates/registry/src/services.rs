//! Services.

use std::sync::Arc;
use weir_binding::Service;
use weir_hub::Hub;

/// One line of [`SERVICES`].
pub struct ServiceLine {
    /// Name in metrics and configuration.
    pub name: &'static str,
    /// Makes it on a hub.
    pub make: fn(&Arc<Hub>) -> Arc<dyn Service>,
}

/// Every service that a protocol with methods and paths carries.
pub const SERVICES: &[ServiceLine] = &[
    #[cfg(feature = "live")]
    ServiceLine {
        name: "live",
        make: |hub| Arc::new(weir_live::Live::new(hub.clone())),
    },
    #[cfg(feature = "sos")]
    ServiceLine {
        name: "sos",
        make: |hub| Arc::new(weir_sos::Sos::new(hub.clone())),
    },
    #[cfg(feature = "sensorthings")]
    ServiceLine {
        name: "sensorthings",
        make: |hub| Arc::new(weir_sensorthings::SensorThings::new(hub.clone())),
    },
    #[cfg(feature = "soap")]
    ServiceLine {
        name: "soap",
        make: |hub| Arc::new(weir_soap::Soap::new(hub.clone())),
    },
    #[cfg(feature = "advice")]
    ServiceLine {
        name: "advice",
        make: |_| Arc::new(weir_advice::Advice::default()),
    },
];
