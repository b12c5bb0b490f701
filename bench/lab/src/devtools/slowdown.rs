//! Whether a page is as slow as it was asked to be.
//!
//! Chromium slows a page by a thread that stops its main thread every 200 microseconds; on a machine whose processors
//! are busy that thread comes late, and the page is as fast as ever for as long. So a fixed piece of work tells how
//! slow it is, against the same work at full speed. What it deliberately does not do: correct times by what it finds.

use serde_json::Value;

use weir_bench_model::limits::{SLOWDOWN_SHARE_MAX, SLOWDOWN_SHARE_MIN};
use weir_bench_model::results::{CellResult, NOT_SLOWED, single};

/// The metric that says how slow it was.
pub const SLOWDOWN: &str = "page_slowdown";

/// How slow a page was to be, and how slow it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slowdown {
    /// How many times slower.
    pub asked: u32,
    /// How many times slower it was.
    pub found: f64,
}

impl Slowdown {
    /// Nobody asked for any.
    pub const NONE: Self = Self {
        asked: 1,
        found: 1.0,
    };

    /// Whether it was about as slow as asked; at full speed there is nothing to be seen.
    pub fn is_in_force(self) -> bool {
        let share = self.found / f64::from(self.asked);
        self.asked == 1 || (SLOWDOWN_SHARE_MIN..=SLOWDOWN_SHARE_MAX).contains(&share)
    }

    /// Adds it to a result, and marks the result where it was not in force.
    pub fn mark(self, result: &mut CellResult) {
        if self.asked == 1 || result.metrics.is_empty() {
            return;
        }
        result.metrics.push(single(SLOWDOWN, "1", self.found));
        if !self.is_in_force() {
            result.remarks.push(self.remark());
            result.status = NOT_SLOWED.into();
        }
    }

    /// What a reader must know.
    pub fn remark(self) -> String {
        format!(
            "the page was to be {} times slower and was {:.1} times",
            self.asked, self.found
        )
    }
}

/// Work of a quarter of a millisecond or so, in integers alone, so that neither memory nor collections of garbage
/// have a part in it; and a pause in which others may have their turn.
const TOOLS: &str = "
const work = globalThis.weirWork ??= () => {
  const began = performance.now();
  let value = 1;
  for (let i = 0; i < 200000; i++) value = (Math.imul(value, 1103515245) + 12345) | 0;
  globalThis.weirWorked = value;
  return performance.now() - began;
};
const pause = () => new Promise((resume) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resume(); };
  port2.postMessage(null);
});";

/// Pieces whose median counts, behind as many that warm up.
const PIECES: usize = 25;

/// An expression that gives the milliseconds of the work, the median of some pieces.
pub(super) fn asked() -> String {
    format!(
        "(async () => {{{TOOLS}
  const all = [];
  for (let i = 0; i < {PIECES} * 2; i++) {{ all.push(work()); await pause(); }}
  return all.slice({PIECES}).sort((a, b) => a - b)[{PIECES} >> 1];
}})()"
    )
}

/// An expression that gives the value of another, which is awaited, beside the milliseconds of the work meanwhile:
/// the median of the last `pieces`. The work has its turn wherever the other pauses.
pub fn watched(expression: &str, pieces: usize) -> String {
    format!(
        "(async () => {{{TOOLS}
  const all = [];
  let over = false;
  const watch = (async () => {{ while (!over) {{ all.push(work()); await pause(); }} }})();
  let value;
  try {{ value = await ({expression}); }} finally {{ over = true; }}
  await watch;
  const last = all.slice(-{pieces}).sort((a, b) => a - b);
  return {{ value, workMs: last[last.length >> 1] }};
}})()"
    )
}

/// The value of a watched expression, and the milliseconds of the work.
pub fn value_and_work(mut answer: Value) -> (Value, Option<f64>) {
    let work = answer["workMs"].as_f64();
    match work {
        // What failed tells its fault in its own form.
        None => (answer, None),
        Some(_) => (answer["value"].take(), work),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_slowdown_is_in_force_where_work_takes_about_as_much_longer() {
        let of = |asked, found| Slowdown { asked, found };
        for (asked, found) in [(4, 4.2), (6, 5.0), (6, 8.0), (1, 1.3)] {
            assert!(of(asked, found).is_in_force(), "{found} for {asked}");
        }
        for (asked, found) in [(6, 1.04), (4, 2.0), (4, 8.0), (4, f64::NAN)] {
            assert!(!of(asked, found).is_in_force(), "{found} for {asked}");
        }
        let remark = of(6, 1.04).remark();
        assert_eq!(
            remark,
            "the page was to be 6 times slower and was 1.0 times"
        );
    }

    #[test]
    fn a_fault_is_told_as_it_came() {
        let (value, work) = value_and_work(json!({"value": [1], "workMs": 0.5}));
        assert_eq!((value, work), (json!([1]), Some(0.5)));
        let fault = json!({"fault": "no"});
        assert_eq!(value_and_work(fault.clone()), (fault, None));
    }
}
