//! Protocols.

use std::sync::Arc;
use weir_binding::{Binding, ConfigFault, Section};

/// One line of [`BINDINGS`].
pub struct BindingLine {
    /// Name of the protocol and of its section.
    pub name: &'static str,
    /// Makes it from its section.
    pub configure: fn(Section) -> Result<Arc<dyn Binding>, ConfigFault>,
}

/// Every protocol, as server and client.
pub const BINDINGS: &[BindingLine] = &[
    #[cfg(feature = "http")]
    BindingLine {
        name: "http",
        configure: |section| Ok(Arc::new(weir_http::Http::configure(section)?)),
    },
    #[cfg(feature = "mqtt")]
    BindingLine {
        name: "mqtt",
        configure: |section| Ok(Arc::new(weir_mqtt::Mqtt::configure(section)?)),
    },
    #[cfg(feature = "coap")]
    BindingLine {
        name: "coap",
        configure: |section| Ok(Arc::new(weir_coap::Coap::configure(section)?)),
    },
    #[cfg(feature = "dds")]
    BindingLine {
        name: "dds",
        configure: |section| Ok(Arc::new(weir_dds::Dds::configure(section)?)),
    },
    #[cfg(feature = "xmpp")]
    BindingLine {
        name: "xmpp",
        configure: |section| Ok(Arc::new(weir_xmpp::Xmpp::configure(section)?)),
    },
    #[cfg(feature = "amqp")]
    BindingLine {
        name: "amqp",
        configure: |section| Ok(Arc::new(weir_amqp::Amqp::configure(section)?)),
    },
];

/// The protocol whose client a URL's scheme picks, as configured by default.
pub fn binding_of_url(url: &str) -> Option<Arc<dyn Binding>> {
    let scheme = weir_model::url::scheme(url)?;
    let made = BINDINGS
        .iter()
        .filter_map(|line| (line.configure)(Section::new(line.name)).ok());
    made.into_iter()
        .find(|binding| binding.schemes().contains(&scheme))
}
