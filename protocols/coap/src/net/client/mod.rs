//! The client: publishers and subscribers over datagrams, streams and WebSockets.

mod keys;
mod peer;
mod url;

use crate::session::{CallId, Event as Told};
use crate::wire::{Code, Message, Number};
use bytes::Bytes;
use peer::Peer;
use std::io;
use url::{Over, Url};
use weir_binding::{Event, LocalFuture, Publisher, Subscriber, Target};
use weir_model::{Cursor, Filter};

/// Opens a publisher.
pub(super) async fn publisher(target: Target) -> io::Result<Box<dyn Publisher>> {
    let url = Url::parse(&target.url)?;
    let peer = Peer::open(&url, &target).await?;
    Ok(Box::new(Poster { url, target, peer }))
}

/// Opens a subscriber.
pub(super) async fn subscriber(
    target: Target,
    filters: Vec<Filter>,
    since: Option<Cursor>,
) -> io::Result<Box<dyn Subscriber>> {
    let url = Url::parse(&target.url)?;
    let mut request = Message::new(Code::GET);
    request.options.push_uint(Number::OBSERVE, 0);
    url.set_filters(&mut request, &filters)?;
    request.options.push(Number::URI_QUERY, b"stream");
    set_format(&mut request, &target);
    set_credential(&mut request, &url, &target)?;
    let mut peer = Peer::open(&url, &target).await?;
    let call = peer.request(resumed(&request, since))?;
    let mut observer = Observer {
        peer,
        call,
        request,
        since,
        first: None,
        over: false,
    };
    let first = observer.take().await?;
    observer.first = first;
    Ok(Box::new(observer))
}

/// A request that begins with what came after a cursor.
fn resumed(request: &Message, since: Option<Cursor>) -> Message {
    let mut message = request.clone();
    if let Some(cursor) = since {
        let pair = format!("since={cursor}");
        message.options.push(Number::URI_QUERY, pair.as_bytes());
    }
    message
}

/// The format by name: not each has a number.
fn set_format(message: &mut Message, target: &Target) {
    let pair = format!("as={}", target.format.name);
    message.options.push(Number::URI_QUERY, pair.as_bytes());
}

/// A token goes by the query; CoAP has no field for it.
fn set_credential(message: &mut Message, url: &Url, target: &Target) -> io::Result<()> {
    let Some(credential) = target.credential.as_deref() else {
        return Ok(());
    };
    match credential.strip_prefix("Bearer ") {
        // It was shown when the WebSocket was opened.
        _ if url.over == Over::WebSocket => {}
        Some(token) => {
            let pair = format!("access_token={token}");
            message.options.push(Number::URI_QUERY, pair.as_bytes());
        }
        None => {
            let sentence = "CoAP carries no password: take a token, or coap+ws";
            return Err(io::Error::new(io::ErrorKind::Unsupported, sentence));
        }
    }
    Ok(())
}

/// The peer's own sentence for an answer that is no success.
fn refused(message: &Message) -> io::Error {
    let kind = match message.code {
        Code::UNAUTHORIZED | Code::FORBIDDEN => io::ErrorKind::PermissionDenied,
        Code::NOT_FOUND => io::ErrorKind::NotFound,
        Code::SERVICE_UNAVAILABLE => io::ErrorKind::ResourceBusy,
        code if code.class() == 4 => io::ErrorKind::InvalidInput,
        _ => io::ErrorKind::Other,
    };
    let sentence = String::from_utf8_lossy(&message.payload);
    io::Error::new(kind, format!("{}: {}", message.code, sentence.trim_end()))
}

/// The position after a message, as its entity tag.
fn cursor_of(message: &Message) -> Option<Cursor> {
    let tag = message.options.first(Number::ETAG)?;
    let bits = u64::from_be_bytes(tag.try_into().ok()?);
    Some(Cursor::from_bits(bits))
}

/// Publishes with POST.
struct Poster {
    url: Url,
    target: Target,
    peer: Peer,
}

impl Poster {
    async fn publish(&mut self, topic: &str, body: Bytes) -> io::Result<()> {
        let mut message = Message::new(Code::POST).with_payload(body);
        self.url.set_topic(&mut message, topic)?;
        match self.target.format.content_format {
            Some(number) => {
                let number = u32::from(number);
                message.options.push_uint(Number::CONTENT_FORMAT, number);
            }
            None => set_format(&mut message, &self.target),
        }
        set_credential(&mut message, &self.url, &self.target)?;
        let call = self.peer.request(message)?;
        loop {
            match self.peer.event().await? {
                Told::Response(id, (), answer) if id == call => {
                    return if answer.code.is_success() {
                        Ok(())
                    } else {
                        Err(refused(&answer))
                    };
                }
                Told::Failed(id, failure) if id == call => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, failure.to_string()));
                }
                _ => {}
            }
        }
    }
}

impl Publisher for Poster {
    fn publish<'a>(&'a mut self, topic: &'a str, body: Bytes) -> LocalFuture<'a, io::Result<()>> {
        Box::pin(Poster::publish(self, topic, body))
    }
}

/// Receives notifications.
struct Observer {
    peer: Peer,
    call: CallId,
    /// What is asked, without where it begins.
    request: Message,
    since: Option<Cursor>,
    first: Option<Event>,
    over: bool,
}

impl Observer {
    async fn take(&mut self) -> io::Result<Option<Event>> {
        while !self.over {
            match self.peer.event().await? {
                Told::Notification(id, message) if id == self.call => {
                    if let Some(event) = event_of(message) {
                        return Ok(Some(event));
                    }
                }
                Told::Response(id, (), answer) if id == self.call => {
                    if let Some(cursor) = self.missed_more(&answer) {
                        self.since = Some(cursor);
                        self.call = self.peer.request(resumed(&self.request, self.since))?;
                        return Ok(event_of(answer));
                    }
                    self.over = true;
                    if !answer.code.is_success() && answer.code != Code::SERVICE_UNAVAILABLE {
                        return Err(refused(&answer));
                    }
                }
                Told::Failed(id, failure) if id == self.call => {
                    self.over = true;
                    return Err(io::Error::new(io::ErrorKind::TimedOut, failure.to_string()));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Where an answer ends that has not begun an observation, since more was missed than it holds.
    fn missed_more(&self, answer: &Message) -> Option<Cursor> {
        let (since, cursor) = (self.since?, cursor_of(answer)?);
        (answer.code.is_success() && cursor > since).then_some(cursor)
    }
}

fn event_of(message: Message) -> Option<Event> {
    let cursor = cursor_of(&message);
    if message.payload.is_empty() {
        cursor.map(Event::Position)
    } else {
        Some(Event::Message(message.payload, cursor))
    }
}

impl Subscriber for Observer {
    fn next(&mut self) -> LocalFuture<'_, io::Result<Option<Event>>> {
        Box::pin(async {
            match self.first.take() {
                Some(first) => Ok(Some(first)),
                None => self.take().await,
            }
        })
    }
}

impl Drop for Observer {
    /// Says good-bye, where that can be sent at once.
    fn drop(&mut self) {
        if !self.over {
            self.peer.cancel(self.call);
        }
    }
}
