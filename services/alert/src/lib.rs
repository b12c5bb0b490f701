//! Alerts: observations for which a condition holds are posted to an address.
//!
//! What it deliberately does not do: keep a queue, or speak a protocol. An alert is a consumer of the log: it
//! remembers up to where what it wanted was taken, so neither its own end nor the address's loses one. What goes to
//! a Web address is posted by the client of whichever binding has its scheme, mail by a crate of the field. The
//! decision worth arguing: an address that refuses (a status that no repetition changes) is told of and passed over,
//! so that one bad message does not hold up those behind it.
#![forbid(unsafe_code)]

mod address;
mod kept;
mod letter;
mod limits;
mod mail;
mod plan;
mod quiet;
mod run;
mod told;
mod verdict;
mod web;

use plan::Plan;
use run::Alert;
use std::sync::Arc;
use weir_binding::{Answer, Call, ConfigFault, Gateway, LocalFuture, Response, Section, Service};

/// The alerts of the configuration.
pub struct Alerts {
    plans: Vec<Arc<Plan>>,
}

impl Alerts {
    /// Those of the section `alert`: a table each.
    pub fn configure(section: Section) -> Result<Self, ConfigFault> {
        let plans = plan::all(section)?;
        Ok(Self {
            plans: plans.into_iter().map(Arc::new).collect(),
        })
    }

    /// Says what is wrong with the section.
    pub fn check(section: Section) -> Result<(), ConfigFault> {
        plan::all(section).map(drop)
    }
}

impl Service for Alerts {
    fn name(&self) -> &'static str {
        "alert"
    }

    fn mounts(&self) -> &'static [&'static str] {
        &[]
    }

    fn call(&self, call: Call) -> Answer {
        Answer::Now(Response::text(404, format!("no resource `{}`", call.path)))
    }

    fn background(&self, context: Arc<dyn Gateway>) -> Option<LocalFuture<'static, ()>> {
        if self.plans.is_empty() {
            return None;
        }
        let alert = |plan: &Arc<Plan>| Alert::new(plan.clone(), context.clone());
        let alerts = self.plans.iter().map(alert).collect();
        Some(Box::pin(run::all(alerts, move || context.draining())))
    }
}
