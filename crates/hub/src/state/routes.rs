//! Who wants what, remembered by topic.

use std::collections::HashMap;
use std::sync::Arc;

/// Raw groups by the topics that messages are published at, as of a generation of the subscriptions.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    pub(crate) known: HashMap<Arc<str>, (u64, Arc<[u32]>)>,
}
