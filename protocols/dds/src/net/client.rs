//! The client: publisher and subscriber as a participant of their own.

use super::adapter::Received;
use super::outward::put;
use super::participant::{Arrivals, Participant, Writer, shown};
use super::place::{LOOPBACK, Place};
use super::quality::Quality;
use crate::wire::{Encapsulation, Sample};
use bytes::Bytes;
use rustdds::{DataWriterStatus, StatusEvented};
use std::collections::VecDeque;
use std::io;
use std::time::Duration;
use weir_binding::{Event, LocalFuture, Publisher, Subscriber, Target};
use weir_model::{BatchBuilder, Cursor, Filter, Limits, Time, Url};

/// How long a publisher waits for a reader of the topic.
const MATCH_WAIT: Duration = Duration::from_secs(10);
/// How long it waits until readers have acknowledged.
const ACKNOWLEDGE_WAIT: Duration = Duration::from_secs(10);
/// How long it listens for further readers behind the last that it found: those that are there answer at once, and
/// who is not known yet would not hear what a command says before it ends.
const SETTLE_WAIT: Duration = Duration::from_secs(1);
/// How often it looks for a reader.
const LOOK_EVERY: Duration = Duration::from_millis(10);

fn invalid(sentence: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, sentence.into())
}

/// Reads `dds://DOMAIN/?interface=lo&reliability=best-effort`.
pub(super) fn parse(url: &str, mut quality: Quality) -> io::Result<(Place, Quality)> {
    let expected = "expected such as dds://0/?interface=lo";
    let url = Url::parse(url).map_err(|error| invalid(format!("{error}: {expected}")))?;
    if url.authority.userinfo.is_some() || !matches!(url.path, "" | "/") {
        return Err(invalid(format!("`{url}`: {expected}")));
    }
    let mut interface = LOOPBACK.to_owned();
    for (name, value) in url.pairs() {
        match name.as_str() {
            "interface" => interface = value,
            _ => quality
                .set(&name, &value)
                .map_err(|problem| invalid(format!("`{name}`: {problem}")))?,
        }
    }
    let place = Place::parse(&url.authority.to_string(), &interface);
    let place = place.map_err(invalid)?;
    Ok((place, quality))
}

/// Opens a publisher, once a reader of the topic is there.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    let (place, quality) = parse(&target.url, Quality::OFFERED)?;
    let participant = Participant::open(&place)?;
    let writer = participant.writer(&quality)?;
    if !until_matched(&writer, MATCH_WAIT).await {
        let (domain, interface) = (place.domain, &place.interface);
        let sentence = format!(
            "nobody in domain {domain} reads weir/Observation at this quality of service (interface {interface})"
        );
        return Err(io::Error::new(io::ErrorKind::NotFound, sentence));
    }
    while until_matched(&writer, SETTLE_WAIT).await {}
    Ok(Box::new(DdsPublisher {
        target,
        writer,
        is_reliable: quality.is_reliable,
        _participant: participant,
    }))
}

/// Waits for a reader that was not there before; false where none came.
async fn until_matched(writer: &Writer, patience: Duration) -> bool {
    let mut waited = Duration::ZERO;
    while waited < patience {
        if is_matched(writer) {
            return true;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        waited += LOOK_EVERY;
    }
    false
}

fn is_matched(writer: &Writer) -> bool {
    let mut statuses = std::iter::from_fn(|| writer.try_recv_status());
    statuses.any(|status| match status {
        DataWriterStatus::PublicationMatched { current, .. } => current.count() > 0,
        _ => false,
    })
}

struct DdsPublisher {
    target: Target,
    writer: Writer,
    is_reliable: bool,
    _participant: Participant,
}

impl DdsPublisher {
    async fn send(&mut self, topic: &str, body: &[u8]) -> io::Result<()> {
        let format = self.target.format;
        let mut builder = BatchBuilder::new();
        let read = (format.decode)(body, &mut builder, &Limits::default());
        read.map_err(|error| invalid(error.to_string()))?;
        // A time that the message does not say is that of its arrival.
        let unsaid = Time::from_nanos(0);
        let complete = builder.complete(topic, unsaid);
        complete.map_err(|error| invalid(error.to_string()))?;
        for observation in builder.batch().rows() {
            put(&self.writer, &observation, "", "").await?;
        }
        if !self.is_reliable {
            return Ok(());
        }
        until_acknowledged(&self.writer).await
    }
}

/// Waits until every reader has what was written.
pub(super) async fn until_acknowledged(writer: &Writer) -> io::Result<()> {
    let acknowledged = writer.async_wait_for_acknowledgments();
    match tokio::time::timeout(ACKNOWLEDGE_WAIT, acknowledged).await {
        Ok(Ok(true)) => Ok(()),
        _ => Err(io::ErrorKind::TimedOut.into()),
    }
}

impl Publisher for DdsPublisher {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move { self.send(topic, &body).await })
    }
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    if since.is_some() {
        return Err(invalid("DDS has no question for the past: take http"));
    }
    let (place, quality) = parse(&target.url, Quality::REQUESTED)?;
    let participant = Participant::open(&place)?;
    Ok(Box::new(DdsSubscriber {
        arrivals: participant.reader(&quality, None)?,
        target,
        filters,
        ready: VecDeque::new(),
        _participant: participant,
    }))
}

struct DdsSubscriber {
    arrivals: Arrivals,
    target: Target,
    filters: Vec<Filter>,
    ready: VecDeque<Event>,
    _participant: Participant,
}

impl DdsSubscriber {
    async fn event(&mut self) -> io::Result<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            let (samples, more) = self.arrivals.take_rest().await;
            for arrived in &samples {
                if let Err(reason) = self.read(&arrived.sample) {
                    let writer = shown(&arrived.writer);
                    tracing::warn!("DDS: a sample of {writer} is set aside: {reason}");
                }
            }
            if self.ready.is_empty() && !more {
                self.arrivals.ready().await?;
            }
        }
    }

    fn read(&mut self, received: &Received) -> Result<(), String> {
        let layout = Encapsulation::of(received.layout);
        let layout = layout.ok_or("its encapsulation is none of plain data")?;
        let sample = Sample::read(&received.body, layout).map_err(|fault| fault.to_string())?;
        if !sample.gap.is_empty() {
            self.ready.push_back(Event::Gap(sample.gap.into()));
        }
        let topic = sample.observation.topic;
        if !self.filters.iter().any(|filter| filter.matches(topic)) {
            return Ok(());
        }
        let mut builder = BatchBuilder::new();
        let pushed = builder.push(&sample.observation);
        pushed.map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        (self.target.format.encode)(builder.batch(), &mut out);
        let cursor = sample.cursor.parse().ok();
        self.ready.push_back(Event::Message(out.into(), cursor));
        Ok(())
    }
}

impl Subscriber for DdsSubscriber {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(async move { self.event().await.map(Some) })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_url_names_domain_interface_and_quality() {
        let url = "dds://3/?interface=*&reliability=best-effort&history=1";
        let (place, quality) = parse(url, Quality::OFFERED).unwrap();
        assert_eq!((place.domain, &*place.interface), (3, "*"));
        assert_eq!((quality.is_reliable, quality.history), (false, 1));
        let (place, quality) = parse("dds://0", Quality::REQUESTED).unwrap();
        assert_eq!((place.domain, &*place.interface), (0, LOOPBACK));
        assert_eq!(quality, Quality::REQUESTED);
    }

    #[test]
    fn what_is_wrong_with_a_url_is_named() {
        let said = |url| parse(url, Quality::OFFERED).unwrap_err().to_string();
        assert!(said("dds://host:1").contains("`host:1`"));
        assert!(said("dds://0?depth=1").contains("`depth`: unknown"));
    }
}
