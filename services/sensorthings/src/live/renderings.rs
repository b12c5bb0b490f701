//! The renderings in use: what is told alike is rendered once.

use crate::lock::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

/// The renderings in use, by what they tell: those that tell the same have the same key.
#[derive(Default)]
pub(crate) struct Renderings(Mutex<Known>);

#[derive(Default)]
struct Known {
    keys: HashMap<String, Weak<u32>>,
    last: u32,
}

/// Keys that are looked through for those not in use any more at the latest.
const KEYS_MIN: usize = 64;

/// Keys end before this.
const KEY_END: u32 = 1 << 28;

impl Renderings {
    /// The key of what is named so.
    pub(super) fn key(&self, name: String) -> Arc<u32> {
        let mut known = lock(&self.0);
        if let Some(key) = known.keys.get(&name).and_then(Weak::upgrade) {
            return key;
        }
        if known.keys.len() >= KEYS_MIN && known.keys.len().is_power_of_two() {
            known.keys.retain(|_, key| key.strong_count() > 0);
        }
        known.last = (known.last + 1) % KEY_END;
        let key = Arc::new(known.last);
        known.keys.insert(name, Arc::downgrade(&key));
        key
    }
}
