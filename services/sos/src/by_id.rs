//! GetObservationById (OGC 12-006 section 9.2, OGC 06-009r6 section 10.3): an observation is called by its
//! topic and its time, and which of those of one time it is.

use crate::ask::Ask;
use crate::exception::Exception;
use crate::limits::IDENTIFIERS_MAX;
use crate::moment::Temporal;
use crate::observed::{Layout, Observed};
use crate::pages::{Pages, Wanted};
use crate::params::Version;
use crate::reply::Reply;
use std::collections::BTreeMap;
use weir_model::{Time, percent};

const IDENTIFIER: &str = "urn:weir:observation:";

/// Answers the request.
// [SOS2-9.2-1] [SOS2-9.2-2] [SOS2-9.2-3] [SOS2-9.2-4]
pub(crate) fn answer(ask: &Ask) -> Result<Reply, Exception> {
    let (parameter, layout) = match ask.version {
        Version::V1 => ("ObservationId", Layout::of(ask)?),
        Version::V2 => ("observation", Layout::ById),
    };
    let named = ask.params.all(parameter);
    if named.is_empty() {
        return Err(Exception::missing(parameter));
    }
    if named.len() > IDENTIFIERS_MAX {
        let sentence = format!("more than {IDENTIFIERS_MAX} identifiers");
        return Err(Exception::invalid(parameter, sentence));
    }
    let inventory = ask.inventory()?;
    let mut known = Vec::new();
    let mut by_time: BTreeMap<Time, Vec<(String, u32)>> = BTreeMap::new();
    for id in named {
        let (topic, time, ordinal) = parts(id)
            .filter(|(topic, ..)| inventory.of_topic(topic).next().is_some())
            .ok_or_else(|| unknown(parameter, id))?;
        known.extend(
            inventory
                .of_topic(&topic)
                .map(|named| inventory.series(named)),
        );
        by_time.entry(time).or_default().push((topic, ordinal));
    }
    let (layout, model) = layout.of_model(ask, &known)?;
    let pages = by_time.into_iter().map(|(time, places)| {
        let topics = places.iter().map(|(topic, _)| topic);
        let named = topics.flat_map(|topic| inventory.of_topic(topic));
        let series = named.map(|named| inventory.series(named));
        let temporal = Temporal::beginning(time);
        let wanted = Wanted {
            temporal,
            model,
            places: places.clone(),
            ..Wanted::default()
        };
        Pages::new(ask, series.collect(), wanted)
    });
    let observed = Observed::by_id(pages.collect(), layout);
    Ok(Reply::Observed(Box::new(observed)))
}

fn unknown(parameter: &str, id: &str) -> Exception {
    Exception::invalid(parameter, format!("there is no `{id}`"))
}

// [SOS1-10.1-1] [SOS1-10.1-2]
fn parts(id: &str) -> Option<(String, Time, u32)> {
    let (topic, place) = id.strip_prefix(IDENTIFIER)?.split_once(':')?;
    let (time, ordinal) = place.split_once(';').unwrap_or((place, "0"));
    let topic = percent::decode(topic).ok()?;
    Some((topic, time.parse().ok()?, ordinal.parse().ok()?))
}

/// What an observation is called by.
pub(crate) fn identifier(topic: &str, time: Time, ordinal: u32) -> String {
    let topic = percent::encode(topic, b"");
    match ordinal {
        0 => format!("{IDENTIFIER}{topic}:{time}"),
        _ => format!("{IDENTIFIER}{topic}:{time};{ordinal}"),
    }
}
