//! A service: a resource tree over any protocol that has methods and paths.

use crate::answer::Answer;
use crate::call::Call;
use crate::client::LocalFuture;
use crate::gateway::Gateway;
use crate::rendering::Watched;
use crate::response::Response;
use std::sync::Arc;

/// A resource tree below some paths.
pub trait Service: Send + Sync {
    /// Name in configuration and metrics.
    fn name(&self) -> &'static str;

    /// The paths it answers, each with all that lies below it.
    fn mounts(&self) -> &'static [&'static str];

    /// Answers a call; never blocks.
    fn call(&self, call: Call) -> Answer;

    /// What it does beside answering: to be found, to push what it was asked for. It is asked for once and
    /// runs on a network thread; when the gateway drains ([`Gateway::draining`]) it has as long as
    /// links have to say its farewell, and ends.
    fn background(&self, _context: Arc<dyn Gateway>) -> Option<LocalFuture<'static, ()>> {
        None
    }

    /// The topics that are its own on protocols of topics, each with all that lies below it, and the path
    /// that it stands for: a message published at one is a `POST` to the path, who subscribes to one
    /// follows what is at the path ([`Service::watch`]).
    fn topics(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What is to be followed at a path that one of its topics stands for; an error is an answer.
    fn watch(&self, call: &Call) -> Result<Watched, Response> {
        Err(Response::text(
            404,
            format!("nothing to follow at `{}`", call.path),
        ))
    }
}
