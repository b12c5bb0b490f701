//! `soap+http://`: publishing by the operation `publish`; reading by `latest`, and `history` of what is newer.

use super::{PATH, observations, publish};
use crate::operations::begun;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use weir_codec::document::soap::{self, Version};
use weir_codec::document::{Xml, read_xml};
use weir_model::{Batch, Filter, Time};
use weir_service::{
    Ask, Client, Connect, LocalFuture, Polled, Publisher, Readings, Shelf, Subscriber, Target, Web,
    invalid, misspoken, read_message, since_time,
};

/// Between two polls.
const POLL_TIME: Duration = Duration::from_secs(1);
/// Observations of an answer.
const LIMIT: &str = "1000";

/// Clients of the plain web service, over a binding of the Web.
pub struct SoapClient(pub Arc<dyn Connect>);

impl Client for SoapClient {
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        let service = Operations::of(&self.0, &target);
        Box::pin(async move {
            let service = service?;
            Ok(Box::new(Publishes { service, target }) as Box<dyn Publisher>)
        })
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<String>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        let service = Operations::of(&self.0, &target);
        Box::pin(async move {
            let (service, since) = (service?, since_time(since.as_deref())?);
            let reads = Reads { service, filters };
            let polled = Polled::open(reads, target.format, since).await?;
            Ok(Box::new(polled) as Box<dyn Subscriber>)
        })
    }
}

/// The operations of one service.
struct Operations {
    web: Box<dyn Web>,
    path: String,
}

impl Operations {
    fn of(binding: &Arc<dyn Connect>, target: &Target) -> io::Result<Self> {
        let url = target.url.strip_prefix("soap+").unwrap_or(&target.url);
        let web = binding.web(target, url)?;
        let path = match web.path() {
            "" => format!("/{PATH}"),
            path => path.to_owned(),
        };
        Ok(Self { web, path })
    }

    /// What an envelope is answered with: the observations in it, none where it only says that it is done.
    async fn send(&mut self, envelope: String) -> io::Result<Batch> {
        let media = Version::V12.media();
        let answered = self.web.ask(Ask::post(&self.path, media, envelope)).await?;
        let Ok(envelope) = read_xml(&answered.body) else {
            return Err(if answered.is_success() {
                misspoken(format!("{}: the answer is no XML", self.path))
            } else {
                answered.refused()
            });
        };
        let read = observations(envelope);
        if answered.is_success() {
            read.map_err(misspoken)
        } else {
            let reason = read.err().unwrap_or_default();
            Err(weir_service::refused(answered.status, &reason))
        }
    }
}

/// Publishes messages.
struct Publishes {
    service: Operations,
    target: Target,
}

impl Publisher for Publishes {
    fn publish<'a>(
        &'a mut self,
        topic: &'a str,
        body: bytes::Bytes,
    ) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(async move {
            let now = self.service.web.now();
            let message = read_message(&self.target, topic, &body, now)?;
            if message.is_empty() {
                return Err(invalid("the message holds no observation"));
            }
            let envelope = publish(Version::V12, topic, &message);
            self.service.send(envelope).await.map(drop)
        })
    }
}

/// Reads what filters match.
struct Reads {
    service: Operations,
    filters: Vec<Filter>,
}

impl Readings for Reads {
    fn shelves(&mut self) -> LocalFuture<'_, io::Result<Vec<Shelf>>> {
        Box::pin(async move {
            let filters = self.filters.iter().map(Filter::as_str);
            let latest = self.service.send(asking("latest", filters, None)).await?;
            let shelf = |row: weir_model::Observation<'_>| Shelf {
                id: row.topic.to_owned(),
                newest: row.time,
            };
            Ok(latest.rows().map(shelf).collect())
        })
    }

    fn behind<'a>(
        &'a mut self,
        shelf: &'a Shelf,
        after: Time,
    ) -> LocalFuture<'a, io::Result<Batch>> {
        // `from` is included.
        let from = Time::from_nanos(after.nanos().saturating_add(1));
        let topic = std::iter::once(shelf.id.as_str());
        Box::pin(self.service.send(asking("history", topic, Some(from))))
    }

    fn pause(&self) -> LocalFuture<'static, ()> {
        self.service.web.pause(POLL_TIME)
    }

    fn now(&self) -> Time {
        self.service.web.now()
    }
}

/// The envelope of an operation that reads.
fn asking<'a>(
    operation: &str,
    filters: impl Iterator<Item = &'a str>,
    from: Option<Time>,
) -> String {
    let mut xml: Xml = begun(operation);
    xml.leaves("w:filter", filters);
    if let Some(from) = from {
        xml.leaf("w:from", &from.to_string()).leaf("w:limit", LIMIT);
    }
    let action = format!("urn:weir:observations#{operation}");
    soap::wrap(Version::V12, None, &action, &xml.finish())
}
