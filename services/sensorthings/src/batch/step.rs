//! What a batch asks for, step by step, and how each step went.

use bytes::Bytes;
use weir_service::Response;

/// A request of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    /// Content-ID, or `id` in JSON.
    pub(super) id: Option<String>,
    pub(super) method: String,
    /// Absolute, or relative to the service's root.
    pub(super) url: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Bytes,
    /// What must have gone well before (JSON only).
    pub(super) depends_on: Vec<String>,
    /// Name of its atomicity group (JSON only).
    pub(super) group: Option<String>,
}

/// What is done as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    One(Asked),
    /// All or none.
    Set(Vec<Asked>),
}

impl Step {
    pub(super) fn asked(&self) -> &[Asked] {
        match self {
            Step::One(one) => std::slice::from_ref(one),
            Step::Set(all) => all,
        }
    }
}

/// How a step went: an answer for each of its requests.
pub(super) struct Done {
    pub(super) step: Step,
    pub(super) responses: Vec<Response>,
}

impl Done {
    /// The status that a request or group of this name failed with.
    pub(super) fn failure_of(&self, name: &str) -> Option<u16> {
        let is_named = |asked: &Asked| {
            asked.id.as_deref() == Some(name) || asked.group.as_deref() == Some(name)
        };
        let each = self.step.asked().iter().zip(&self.responses);
        let mut named = each.filter(|(asked, _)| is_named(asked));
        let failed = named.find(|(_, response)| response.status >= 400);
        failed.map(|(_, response)| response.status)
    }
}
