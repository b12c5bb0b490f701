//! A subscription that begins at a time: what is kept from then on, then what comes.
//!
//! What comes is followed before the past is read, so that nothing falls between the two; what was published in that
//! moment may be told twice. What it deliberately does not do: give what it reads of the past a position.

use crate::client::{Event, LocalFuture, Pages, Past, Publisher, Subscriber, Target};
use crate::connect::Connect;
use crate::web::{Client, invalid};
use bytes::Bytes;
use std::io;
use std::sync::Arc;
use weir_codec::Format;
use weir_model::{BatchBuilder, Cursor, Filter, Limits, Time};

/// A protocol's own client: positions are cursors.
impl Client for Arc<dyn Connect> {
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        Connect::publisher(&**self, target)
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<String>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        Box::pin(open(self.clone(), target, filters, since))
    }

    fn past(&self, target: Target, past: Past) -> LocalFuture<'static, io::Result<Box<dyn Pages>>> {
        Connect::past(&**self, target, past)
    }
}

/// Opens a subscriber at a position, a cursor or a time.
async fn open(
    binding: Arc<dyn Connect>,
    target: Target,
    filters: Vec<Filter>,
    since: Option<String>,
) -> io::Result<Box<dyn Subscriber>> {
    let Some(said) = since else {
        return Connect::subscriber(&*binding, target, filters, None).await;
    };
    match (said.parse::<Cursor>(), said.parse::<Time>()) {
        (Ok(cursor), _) => Connect::subscriber(&*binding, target, filters, Some(cursor)).await,
        (Err(error), Err(_)) => Err(invalid(format!("--since: {error}, or a time"))),
        (Err(_), Ok(_)) => {
            let format = target.format;
            let past = Past {
                filters: filters.clone(),
                options: vec![("from", said)],
            };
            let live = Connect::subscriber(&*binding, target.clone(), filters, None).await?;
            let pages = Connect::past(&*binding, target, past)
                .await
                .map_err(|error| {
                    invalid(format!(
                        "--since: a cursor, not a time, by this scheme: {error}"
                    ))
                })?;
            Ok(Box::new(FromPast {
                format,
                pages: Some(pages),
                live,
            }))
        }
    }
}

struct FromPast {
    format: &'static Format,
    /// What is left of the past.
    pages: Option<Box<dyn Pages>>,
    live: Box<dyn Subscriber>,
}

impl FromPast {
    async fn next(&mut self) -> io::Result<Option<Event>> {
        while let Some(pages) = &mut self.pages {
            match pages.next().await? {
                Some(page) if is_of_nothing(&page, self.format) => {}
                Some(page) => return Ok(Some(Event::Message(page, None))),
                None => self.pages = None,
            }
        }
        self.live.next().await
    }
}

impl Subscriber for FromPast {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(FromPast::next(self))
    }

    fn keeps_its_place(&self) -> bool {
        self.pages.is_none() && self.live.keeps_its_place()
    }
}

/// Whether a message has no observation, as an answer has of which nothing was published.
pub fn is_of_nothing(message: &Bytes, format: &Format) -> bool {
    let mut builder = BatchBuilder::new();
    let read = (format.decode)(message, &mut builder, &Limits::default());
    message.is_empty() || read.is_ok() && builder.is_empty()
}
