//! The client: publisher and subscriber over TCP, TLS and WebSocket.

mod link;
mod publisher;
mod subscriber;
mod url;

pub(super) use link::open as open_stream;
pub(super) use url::Url;

use std::io;
use weir_binding::{Publisher, Subscriber, Target};
use weir_model::{Cursor, Filter};

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    Ok(Box::new(publisher::MqttPublisher::open(target).await?))
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let subscriber = subscriber::MqttSubscriber::open(target, &filters, since).await?;
    Ok(Box::new(subscriber))
}
