//! Rights, asked before anything is looked up.

use crate::access::{Principal, Verb, denied};
use crate::fault::Fault;
use crate::hub::Hub;
use weir_model::Filter;

impl Hub {
    /// Refuses what a principal may not do to a topic: what a service asks of what its caller named, before it looks
    /// anything up.
    pub fn check(&self, principal: &Principal, verb: Verb, topic: &str) -> Result<(), Fault> {
        let checked = match principal.grants.allow(verb, topic) {
            true => Ok(()),
            false => Err(denied(principal, verb, topic)),
        };
        self.audited(principal, checked)
    }

    /// Refuses what a principal may do to no topic that a filter matches.
    pub fn check_some(
        &self,
        principal: &Principal,
        verb: Verb,
        filter: &Filter,
    ) -> Result<(), Fault> {
        let checked = match principal.grants.may_overlap(verb, filter) {
            true => Ok(()),
            false => Err(denied(principal, verb, filter.as_str())),
        };
        self.audited(principal, checked)
    }
}
