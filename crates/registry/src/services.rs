//! Services.

use std::sync::Arc;
use weir_binding::{ConfigFault, Premises, Section, Service};

/// One line of [`SERVICES`].
pub struct ServiceLine {
    /// Name in metrics and configuration.
    pub name: &'static str,
    /// Makes it on these premises from its section; one without settings has none.
    pub make: Make,
    /// Says what is wrong with its section, where it has settings.
    pub check: Option<fn(Section) -> Result<(), ConfigFault>>,
    /// What it serves, as part of an OpenAPI document in JSON.
    pub openapi: &'static str,
}

/// Makes a service on premises from its section.
pub type Make = fn(&Premises, Section) -> Result<Arc<dyn Service>, ConfigFault>;

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
        make: |on, _| Ok(Arc::new(weir_live::Live::new(on))),
        check: None,
        openapi: weir_live::OPENAPI,
    },
    #[cfg(feature = "sos")]
    ServiceLine {
        name: "sos",
        make: |on, _| Ok(Arc::new(weir_sos::Sos::new(on.hub.clone()))),
        check: None,
        openapi: weir_sos::OPENAPI,
    },
    #[cfg(feature = "sensorthings")]
    ServiceLine {
        name: "sensorthings",
        make: |on, _| {
            Ok(Arc::new(weir_sensorthings::SensorThings::new(
                on.hub.clone(),
            )))
        },
        check: None,
        openapi: weir_sensorthings::OPENAPI,
    },
    #[cfg(feature = "soap")]
    ServiceLine {
        name: "soap",
        make: |on, _| Ok(Arc::new(weir_soap::Soap::new(on.hub.clone()))),
        check: None,
        openapi: weir_soap::OPENAPI,
    },
    #[cfg(feature = "dpws")]
    ServiceLine {
        name: "dpws",
        make: |on, section| {
            let operations = Arc::new(weir_soap::Soap::new(on.hub.clone()));
            let dpws = weir_dpws::Dpws::configure(on.hub.clone(), section, operations)?;
            Ok(Arc::new(dpws))
        },
        check: Some(weir_dpws::Dpws::check),
        openapi: r#"{"paths": {}}"#,
    },
    #[cfg(feature = "alert")]
    ServiceLine {
        name: "alert",
        make: |_, section| Ok(Arc::new(weir_alert::Alerts::configure(section)?)),
        check: Some(weir_alert::Alerts::check),
        openapi: r#"{"paths": {}}"#,
    },
    #[cfg(feature = "td")]
    ServiceLine {
        name: "td",
        make: |on, _| Ok(Arc::new(weir_td::Td::new(on))),
        check: None,
        openapi: weir_td::OPENAPI,
    },
    #[cfg(feature = "grafana")]
    ServiceLine {
        name: "grafana",
        make: |on, _| Ok(Arc::new(weir_grafana::Grafana::new(on.hub.clone()))),
        check: None,
        openapi: weir_grafana::OPENAPI,
    },
    #[cfg(feature = "advice")]
    ServiceLine {
        name: "advice",
        make: |_, _| Ok(Arc::new(weir_advice::Advice::default())),
        check: None,
        openapi: weir_advice::OPENAPI,
    },
];
