//! Services.

use std::sync::Arc;
use weir_binding::{ConfigFault, Section, Service};
use weir_hub::Hub;

/// One line of [`SERVICES`].
pub struct ServiceLine {
    /// Name in metrics and configuration.
    pub name: &'static str,
    /// Makes it on a hub from its section; one without settings has none.
    pub make: Make,
    /// Says what is wrong with its section, where it has settings.
    pub check: Option<fn(Section) -> Result<(), ConfigFault>>,
}

/// Makes a service on a hub from its section.
pub type Make = fn(&Arc<Hub>, Section) -> Result<Arc<dyn Service>, ConfigFault>;

impl ServiceLine {
    /// Says whether this is the name of its section.
    pub fn has_section(&self, name: &str) -> bool {
        self.check.is_some() && self.name == name
    }
}

/// Every service that a protocol with methods and paths carries.
pub const SERVICES: &[ServiceLine] = &[
    #[cfg(feature = "live")]
    ServiceLine {
        name: "live",
        make: |hub, _| Ok(Arc::new(weir_live::Live::new(hub.clone()))),
        check: None,
    },
    #[cfg(feature = "sos")]
    ServiceLine {
        name: "sos",
        make: |hub, _| Ok(Arc::new(weir_sos::Sos::new(hub.clone()))),
        check: None,
    },
    #[cfg(feature = "sensorthings")]
    ServiceLine {
        name: "sensorthings",
        make: |hub, _| Ok(Arc::new(weir_sensorthings::SensorThings::new(hub.clone()))),
        check: None,
    },
    #[cfg(feature = "soap")]
    ServiceLine {
        name: "soap",
        make: |hub, _| Ok(Arc::new(weir_soap::Soap::new(hub.clone()))),
        check: None,
    },
    #[cfg(feature = "dpws")]
    ServiceLine {
        name: "dpws",
        make: |hub, section| {
            let operations = Arc::new(weir_soap::Soap::new(hub.clone()));
            let dpws = weir_dpws::Dpws::configure(hub.clone(), section, operations)?;
            Ok(Arc::new(dpws))
        },
        check: Some(weir_dpws::Dpws::check),
    },
    #[cfg(feature = "advice")]
    ServiceLine {
        name: "advice",
        make: |_, _| Ok(Arc::new(weir_advice::Advice::default())),
        check: None,
    },
];
