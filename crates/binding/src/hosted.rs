//! The gateway as who runs a connection: when it stops, and what the connection may hold.

use crate::held::{Held, Short};
use crate::{Gateway, LocalFuture};
use std::io;
use std::sync::Arc;
use std::task::Context;
use weir_carrier::driver::Host;
use weir_carrier::outbox::Outbox;
use weir_sansio::Instant;

/// What a connection that is served has of the gateway.
pub struct Hosted {
    /// The gateway.
    pub context: Arc<dyn Gateway>,
    /// What came and is not whole, and what waits to be sent, counted.
    held: Held,
    draining: Option<LocalFuture<'static, ()>>,
}

impl Hosted {
    /// Of a connection that begins.
    pub fn new(context: Arc<dyn Gateway>) -> Self {
        Self {
            draining: Some(context.draining()),
            context,
            held: Held::default(),
        }
    }

    /// Whether the connection was told that the gateway stops.
    pub fn is_stopping(&self) -> bool {
        self.draining.is_none()
    }
}

impl Host for Hosted {
    fn poll_stop(&mut self, cx: &mut Context<'_>) -> bool {
        let drains =
            |draining: &mut LocalFuture<'static, ()>| draining.as_mut().poll(cx).is_ready();
        let stops = self.draining.as_mut().is_some_and(drains);
        if stops {
            self.draining = None;
        }
        stops
    }

    fn count(&mut self, held: (usize, usize), outbox: &Outbox) -> io::Result<bool> {
        match self.held.count(&*self.context, held, outbox) {
            Ok(()) => Ok(true),
            Err(Short::Arriving) => Ok(false),
            Err(short) => Err(short.into()),
        }
    }

    fn deadline(&self, outbox: &Outbox) -> Instant {
        self.held.deadline(outbox)
    }

    fn delivered(&self) {
        self.context.hub().settle();
    }
}
