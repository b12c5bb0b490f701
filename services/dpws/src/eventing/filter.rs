//! `wse:Filter`: by the action of notifications, as the profile has it, or by topics.

use crate::message::Fault;
use crate::names::{EVENTING, GENERATIONS};
use weir_codec::document::Element;
use weir_model::Filter;

/// The dialect of topics: MQTT's filters with white space between them.
pub(crate) const TOPICS: &str = "urn:weir:device/Topics";

/// The action of a notification.
pub(crate) const ACTION: &str = "urn:weir:device/Observation";

/// The topics that a subscription is about.
pub(super) fn read(filter: Option<&Element>) -> Result<Vec<Filter>, Fault> {
    let Some(filter) = filter else {
        return all();
    };
    let text = filter.text();
    let dialect = filter.attribute("Dialect").unwrap_or_default();
    if dialect == TOPICS {
        let topics: Vec<Filter> = text
            .split_whitespace()
            .map(topic)
            .collect::<Result<_, _>>()?;
        return if topics.is_empty() {
            topic("").map(|one| vec![one])
        } else {
            Ok(topics)
        };
    }
    let profile = GENERATIONS
        .into_iter()
        .find(|own| dialect.strip_prefix(own.profile) == Some("/Action"));
    let Some(generation) = profile else {
        let sentence = "filters are by actions of the devices' profile, or by topics";
        let reason = format!("{sentence} ({TOPICS}), not by `{dialect}`");
        return Err(Fault::named(
            "FilteringRequestedUnavailable",
            EVENTING,
            reason,
        ));
    };
    // DPWS 1.1 section 6.1.1: by the beginning of the action, segment by segment.
    if text.split_whitespace().any(begins) {
        all()
    } else {
        let reason = format!("the only action of notifications is {ACTION}");
        let fault = Fault::named("FilterActionNotSupported", generation.profile, reason);
        Err(fault.by(format!("{}/fault", generation.profile)))
    }
}

fn begins(asked: &str) -> bool {
    let rest = ACTION.strip_prefix(asked.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn all() -> Result<Vec<Filter>, Fault> {
    topic("#").map(|all| vec![all])
}

fn topic(text: &str) -> Result<Filter, Fault> {
    let invalid = |reason| Fault::named("InvalidMessage", EVENTING, reason);
    Filter::parse(text).map_err(|error| invalid(format!("bad filter `{text}`: {error}")))
}
