//! `sta+http://`: the client's half of SensorThings, for any server that speaks version 1.1.
//!
//! A topic is a Datastream's `properties/topic`, or else its name. Publishing creates what is missing,
//! and refuses what the Datastream would tell as something else; reading
//! follows server-sent events where the server has them, as weir does, and else asks for what is newer than each
//! Datastream's last Observation. What it deliberately does not do: change entities that are there.

mod api;
mod datastreams;
mod events;
mod meant;
mod publish;
mod read;
mod row;

use api::Api;
use events::Events;
use publish::Publishes;
use read::Reads;
use std::io;
use std::sync::Arc;
use weir_model::Filter;
use weir_service::{
    Client, Connect, LocalFuture, Polled, Publisher, Subscriber, Target, since_time,
};

/// Clients of SensorThings, over a binding of the Web.
pub struct SensorThingsClient(pub Arc<dyn Connect>);

impl Client for SensorThingsClient {
    fn publisher(&self, target: Target) -> LocalFuture<'static, io::Result<Box<dyn Publisher>>> {
        let api = Api::of(&self.0, &target);
        Box::pin(async move {
            let mut api = api?;
            api.check().await?;
            Ok(Box::new(Publishes::new(api, target)) as Box<dyn Publisher>)
        })
    }

    fn subscriber(
        &self,
        target: Target,
        filters: Vec<Filter>,
        since: Option<String>,
    ) -> LocalFuture<'static, io::Result<Box<dyn Subscriber>>> {
        let api = Api::of(&self.0, &target);
        Box::pin(async move {
            let mut api = api?;
            api.check().await?;
            let starts_at = since_time(since.as_deref());
            let may_follow = starts_at.is_err() || since.is_none();
            if may_follow && let Some(events) = Events::begin(&mut api, since.as_deref()).await? {
                let events = Events::of(api, events, filters, target.format).await?;
                return Ok(Box::new(events) as Box<dyn Subscriber>);
            }
            let polled = Polled::open(Reads::new(api, filters), target.format, starts_at?).await?;
            Ok(Box::new(polled) as Box<dyn Subscriber>)
        })
    }
}
