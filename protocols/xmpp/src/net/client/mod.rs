//! The client: publisher and subscriber at a publish-subscribe service, ours or another.

mod connection;
mod publisher;
mod service;
mod subscriber;

use std::io;
use weir_binding::{Publisher, Subscriber, Target};
use weir_model::{Cursor, Filter};

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    Ok(Box::new(publisher::XmppPublisher::open(target).await?))
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let subscriber = subscriber::XmppSubscriber::open(target, filters, since).await?;
    Ok(Box::new(subscriber))
}
