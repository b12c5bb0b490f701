//! The client: publisher and subscriber over TCP, TLS and WebSocket, to 1.0 and to 0.9.1.

mod link;
mod publisher;
mod subscriber;
mod url;

pub(super) use link::{machine, open_stream};
pub(super) use url::{NAMES, Url, Version, options, versions};

use std::io;
use weir_binding::{Publisher, Subscriber, Target};
use weir_model::{Cursor, Filter};

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    Ok(Box::new(publisher::AmqpPublisher::open(target).await?))
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let subscriber = subscriber::AmqpSubscriber::open(target, &filters, since).await?;
    Ok(Box::new(subscriber))
}
