//! The service, and what all its requests share: the view of the entities, and what is known of what comes.

use crate::context::Context;
use crate::fault::{Fault, Result};
use crate::late::Late;
use crate::limits::SCANNED_MAX;
use crate::live::{Placing, Renderings};
use crate::lock::lock;
use crate::view::View;
use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};
use weir_hub::Hub;
use weir_service::Call;

/// The service.
#[derive(Clone)]
pub struct SensorThings {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    hub: Arc<Hub>,
    /// Held while it is brought up to date or copied, and no longer.
    view: Mutex<View>,
    /// Held by who changes entities, from looking at them to the change.
    changing: Mutex<()>,
    pub(crate) late: Mutex<Late>,
    pub(crate) renderings: Renderings,
    pub(crate) placing: Placing,
    /// Observations that one request may look at.
    pub(crate) scanned_max: usize,
}

impl SensorThings {
    /// The service of a hub.
    pub fn new(hub: Arc<Hub>) -> Self {
        let inner = Inner {
            hub,
            view: Mutex::default(),
            changing: Mutex::default(),
            late: Mutex::default(),
            renderings: Renderings::default(),
            placing: Placing::default(),
            scanned_max: SCANNED_MAX,
        };
        Self {
            inner: Arc::new(inner),
        }
    }
}

/// Where the version begins.
pub(crate) const BASE: &str = "/sta/v1.1";

impl Inner {
    pub(crate) fn context<'a>(
        &'a self,
        view: &'a View,
        call: &'a Call,
        root: &'a str,
    ) -> Context<'a> {
        Context {
            root,
            scans_left: Cell::new(self.scanned_max),
            incoming: call.incoming,
            ..Context::new(&self.hub, view, &self.late, &call.principal, call.now)
        }
    }

    /// The view as of now, which stays as it is.
    pub(crate) fn current(&self) -> Result<View> {
        let mut view = lock(&self.view);
        view.update(&self.hub)?;
        Ok(view.clone())
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// Keeps others from changing entities.
    pub(crate) fn changing(&self) -> MutexGuard<'_, ()> {
        lock(&self.changing)
    }
}

/// The root's URL as the client wrote it; where that is none, links begin at the root's path. Nothing in an
/// origin needs an escape in JSON.
pub(crate) fn root(call: &Call) -> String {
    call.origin().unwrap_or_default() + BASE
}

/// The path below the version.
pub(crate) fn rest(call: &Call) -> Result<&str> {
    let rest = call
        .path
        .strip_prefix(BASE)
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let rest = rest.ok_or_else(|| Fault::missing(format!("`{}`: try {BASE}", call.path)))?;
    Ok(rest.trim_matches('/'))
}
