//! Where observations stand once they are published: which number of its datastream and time each is.
//!
//! The hub counts those of each datastream's newest time, so that nothing is looked up for what comes in
//! order. For what comes late the history is counted, one request after the other, together with what was
//! told lately and is on no disk yet: two of one time that come at once get two places.

use crate::context::Context;
use crate::draft::{Done, Row};
use crate::fault::Result;
use crate::id::At;
use crate::late::{counted, places};
use crate::lock::lock;
use std::collections::HashMap;
use std::ops::Range;
use weir_hub::{Change, Publish, Ticket};
use weir_model::Time;
use weir_service::wait;

/// Publishes messages, each of observations of one datastream, with where their rows are.
pub(crate) fn publish_all(
    context: &Context<'_>,
    messages: Vec<(Publish, Range<usize>)>,
    rows: &[(String, Row)],
    done: &mut Done,
) -> Result<()> {
    if context.hub.is_shared() {
        return submit_all(context, messages, rows, done);
    }
    for (message, of) in messages {
        let (ticket, places) = publish(context, message, &rows[of])?;
        done.places.extend(places);
        done.note(ticket);
    }
    Ok(())
}

/// The same where other gateways publish, too: where a message stands is known once it is taken.
fn submit_all(
    context: &Context<'_>,
    messages: Vec<(Publish, Range<usize>)>,
    rows: &[(String, Row)],
    done: &mut Done,
) -> Result<()> {
    let mut submitted = Vec::new();
    for (message, of) in messages {
        let (topic, times) = about(context, &message, &rows[of]);
        let message = Publish {
            incoming: context.incoming,
            ..message
        };
        submitted.push((context.make(Change::Publish(message))?, topic, times));
    }
    for (ticket, topic, times) in submitted {
        wait(|cx| ticket.poll(cx))?;
        let stood = context.hub.stood_before(&topic, &ticket);
        let places = match places(stood, &times, &HashMap::new()) {
            Some(places) => places,
            None => lock(context.late).places(context.hub, &topic, (&ticket, stood), &times)?,
        };
        done.places.extend(places);
        done.note(ticket);
    }
    Ok(())
}

/// The topic that stands for all of a message, and the times of its rows. The first component stands for
/// all of a multi-datastream: they come together.
fn about(context: &Context<'_>, message: &Publish, rows: &[(String, Row)]) -> (String, Vec<Time>) {
    let first = rows
        .first()
        .and_then(|(_, row)| row.components.as_ref()?.first());
    let times = rows.iter().map(|(_, row)| row.time.unwrap_or(context.now));
    (first.unwrap_or(&message.topic).clone(), times.collect())
}

/// Publishes observations of one datastream as one message, and says where each stands.
fn publish(
    context: &Context<'_>,
    message: Publish,
    rows: &[(String, Row)],
) -> Result<(Ticket, Vec<At>)> {
    let (topic, times) = about(context, &message, rows);
    let topic = &topic;
    let stood = context.hub.stood(topic);
    let mut late = times
        .iter()
        .any(|&time| counted(stood, time).is_none())
        .then(|| lock(context.late));
    let counts = match &mut late {
        Some(late) => late.counts(context.hub, topic, stood, &times)?,
        None => HashMap::new(),
    };
    let message = Publish {
        incoming: context.incoming,
        ..message
    };
    let ticket = context.make(Change::Publish(message))?;
    let places = match places(ticket.stood(), &times, &counts) {
        Some(places) => places,
        None => {
            // Others were faster since it was looked.
            let late = late.get_or_insert_with(|| lock(context.late));
            late.places(context.hub, topic, (&ticket, ticket.stood()), &times)?
        }
    };
    if let Some(late) = &mut late {
        late.note(topic, ticket.cursor(), &places);
    }
    Ok((ticket, places))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::tests::{house, now};
    use crate::view::View;
    use std::sync::Mutex;
    use weir_hub::Media;

    #[test]
    fn what_was_published_before_a_count_is_not_in_it() {
        let house = house("places-late");
        let at = |minute: u32| format!(r#"{{"value":1,"time":"2026-11-20T10:0{minute}:00Z"}}"#);
        house.publish("a/b", &at(1));
        house.publish("a/b", &at(5));
        let (view, late) = (View::default(), Mutex::default());
        let context = Context::new(&house.hub, &view, &late, &house.who, now());
        let media = Media::Format(weir_codec::by_name("json").unwrap());
        let message = Publish::new("a/b", media, at(1));
        let ticket = context.make(Change::Publish(message)).unwrap();
        house.publish("a/b", &at(6));
        assert!(house.hub.positions().1 >= ticket.cursor());
        let time = Time::parse_rfc3339(b"2026-11-20T10:01:00Z").unwrap();
        let places = lock(&late)
            .places(context.hub, "a/b", (&ticket, ticket.stood()), &[time])
            .unwrap();
        assert_eq!(places[0].ordinal, 1);
    }
}
