//! Section `[dds]` of the configuration.

use super::place::{LOOPBACK, Place};
use super::quality::{NAMES, Quality};
use weir_binding::{ConfigFault, Section};
use weir_hub::Condition;
use weir_model::Filter;

/// What can be set.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// Where the participant is; none without a domain.
    pub(super) place: Option<Place>,
    /// Whose rights the participants of the domain have: a credential as in `Authorization`.
    pub(super) credential: Option<String>,
    /// What weir's writer offers.
    pub(super) offered: Quality,
    /// What weir's reader requests.
    pub(super) requested: Quality,
    /// What goes out.
    pub(super) topics: Vec<Filter>,
    /// Condition on results that go out.
    pub(super) condition: Option<Condition>,
}

const KEYS: &[&str] = &[
    "domain",
    "interface",
    "credential",
    "topics",
    "where",
    "offer.POLICY",
    "request.POLICY",
];

impl Settings {
    /// Takes the section's keys.
    pub(super) fn read(mut section: Section) -> Result<Self, ConfigFault> {
        let interface = section.text("interface", LOOPBACK);
        let domain = section.optional("domain");
        let place = domain.map(|domain| Place::parse(&domain, &interface));
        let settings = Self {
            place: place
                .transpose()
                .map_err(|problem| section.fault("domain", problem))?,
            credential: section.optional("credential"),
            offered: quality(&mut section, "offer.", Quality::OFFERED)?,
            requested: quality(&mut section, "request.", Quality::REQUESTED)?,
            topics: topics(&mut section)?,
            condition: condition(&mut section)?,
        };
        section.finish(KEYS)?;
        Ok(settings)
    }
}

fn quality(
    section: &mut Section,
    beginning: &str,
    mut quality: Quality,
) -> Result<Quality, ConfigFault> {
    for (name, value) in section.take_under(beginning) {
        let set = quality.set(&name, &value);
        set.map_err(|problem| section.fault(&format!("{beginning}{name}"), problem))?;
    }
    debug_assert!(!NAMES.is_empty());
    Ok(quality)
}

fn topics(section: &mut Section) -> Result<Vec<Filter>, ConfigFault> {
    let text = section.text("topics", "#");
    let each = text.split(',').map(str::trim).filter(|one| !one.is_empty());
    let parsed: Result<Vec<_>, _> = each.map(Filter::parse).collect();
    parsed.map_err(|error| section.fault("topics", format!("`{text}`: {error}")))
}

fn condition(section: &mut Section) -> Result<Option<Condition>, ConfigFault> {
    let Some(text) = section.optional("where") else {
        return Ok(None);
    };
    let parsed = text.parse();
    parsed
        .map(Some)
        .map_err(|error| section.fault("where", format!("`{text}`: {error}")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Settings, ConfigFault> {
        let mut section = Section::new("dds");
        pairs
            .iter()
            .for_each(|(key, value)| section.set(key, value));
        Settings::read(section)
    }

    #[test]
    fn without_a_domain_there_is_no_participant() {
        assert!(read(&[]).unwrap().place.is_none());
        let place = read(&[("domain", "7")]).unwrap().place.unwrap();
        assert_eq!((place.domain, &*place.interface), (7, "127.0.0.1"));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_key() {
        let key = |pair| read(&[pair]).unwrap_err().key;
        assert_eq!(key(("domain", "x")), "dds.domain");
        assert_eq!(key(("offer.history", "x")), "dds.offer.history");
        assert_eq!(key(("request.depth", "1")), "dds.request.depth");
        assert_eq!(key(("topics", "a/#/b")), "dds.topics");
        assert_eq!(key(("where", "x<>y")), "dds.where");
        assert_eq!(key(("listen", "x")), "dds.listen");
    }
}
