//! Brokers that are started side by side: most of what a start takes is waiting.
//!
//! A program ends with the thread that started it, as it is to end with the bench however that ends (see
//! [`targets::exec`](weir_bench_lab::targets::exec)); so each of these threads stays until [`Held`] is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use weir_bench_lab::targets::Running;

/// Brokers by name, or why they do not run.
pub(super) type Brokers = BTreeMap<&'static str, Result<Running, String>>;

/// The threads by which brokers live; they end when this is dropped, and the brokers with them.
pub(super) struct Held(Vec<Sender<()>>);

/// Starts all of them; who could not be started is there with its reason.
pub(super) fn all(
    names: BTreeSet<&'static str>,
    start: impl Fn(&str) -> Result<Running, String> + Send + Sync + 'static,
) -> (Brokers, Held) {
    let start = Arc::new(start);
    let (tell, told) = channel();
    let held = names.into_iter().map(|name| {
        let (hold, until_let_go) = channel();
        let (start, tell) = (start.clone(), tell.clone());
        thread::spawn(move || {
            // Who asked waits for all.
            let _heard = tell.send((name, start(name)));
            drop(tell);
            stay(&until_let_go);
        });
        hold
    });
    let held = Held(held.collect());
    drop(tell);
    (told.into_iter().collect(), held)
}

/// Until the other end is dropped.
fn stay(until_let_go: &Receiver<()>) {
    let _nothing_is_sent = until_let_go.recv();
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_there_once_or_says_why_not() {
        let start = |name: &str| match name {
            "absent" => Err("absent: it".into()),
            _ => Ok(Running::elsewhere(([127, 0, 0, 1], 9).into(), name)),
        };
        let (brokers, _held) = all(["a", "b", "absent"].into(), start);
        let told: Vec<_> = brokers
            .iter()
            .map(|(name, it)| (*name, it.as_ref().map(|it| it.version.as_str()).is_ok()))
            .collect();
        assert_eq!(told, [("a", true), ("absent", false), ("b", true)]);
    }
}
