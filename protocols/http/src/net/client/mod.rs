//! The client: publishers and subscribers over every delivery scheme of HTTP.

mod connection;
mod past;
mod post;
mod publish;
mod socket;
mod subscribe;
mod url;
mod web;

use bytes::Bytes;
use std::io;
use url::{Url, Way};
use weir_binding::{Caller, Pages, Past, Publisher, Subscriber, Target, Web};
use weir_model::{Cursor, Filter};

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    let url = Url::parse(&target.url)?;
    match url.way {
        Way::Socket => Ok(Box::new(socket::SocketPublisher::new(url, target))),
        _ => Ok(Box::new(publish::Poster::open(url, target).await?)),
    }
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let url = Url::parse(&target.url)?;
    Ok(match url.way {
        Way::Socket => Box::new(socket::subscribe(&url, &target, &filters, since).await?),
        Way::Poll | Way::LongPoll => {
            Box::new(subscribe::Poller::open(url, target, filters, since).await?)
        }
        Way::Stream | Way::Sse => {
            Box::new(subscribe::Endless::open(&url, &target, &filters, since).await?)
        }
    })
}

/// What posts to a URL.
pub(super) fn caller(url: &str, roots: Option<&Bytes>) -> io::Result<Box<dyn Caller>> {
    Ok(Box::new(post::Posts::to(url, roots.cloned())?))
}

/// What carries the requests of a service's client.
pub(super) fn web(target: Target, url: &str) -> io::Result<Box<dyn Web>> {
    Ok(Box::new(web::Requests::to(target, url)?))
}

/// Opens the past.
pub(super) async fn past(target: Target, past: Past) -> io::Result<Box<dyn Pages>> {
    let url = Url::parse(&target.url)?;
    Ok(Box::new(past::Pager::open(url, target, past).await?))
}
