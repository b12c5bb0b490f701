//! Who runs the page: a Chromium of ours, or a browser that a person opened.
//!
//! Both have the same page and are asked the same; only the way of asking differs. Ours is told by the
//! DevTools protocol and can be slowed down and weighed; a person's gets its orders over the gateway, as
//! observations at a topic that only the link names.

use serde_json::{Value, json};

use weir_bench_lab::devtools::{Page, Slowdown};
use weir_bench_lab::opened::{Clocks, Offset, Orders};

/// A page that measures.
pub(super) enum Driver<'a> {
    /// In our Chromium; the number is its process.
    Ours(Page<'a>, u32),
    /// In a browser that a person opened.
    Opened(Orders),
}

impl Driver<'_> {
    /// Asks the page to do something.
    pub(super) fn ask(&mut self, call: &str, argument: &Value) -> Result<Value, String> {
        match self {
            Self::Opened(orders) => orders.ask(call, argument),
            Self::Ours(page, _) => {
                let mut answer = page.evaluate(&told(call, argument))?;
                match answer["fault"].as_str() {
                    Some(fault) => Err(fault.into()),
                    None => Ok(answer["answer"].take()),
                }
            }
        }
    }

    /// The browser's name among the targets; by TLS it is the same one, and what it says is checked anew.
    pub(super) fn name(&self, is_secure: bool) -> &'static str {
        match (self, is_secure) {
            (Self::Ours(..), false) => "chromium",
            (Self::Ours(..), true) => "chromium_tls",
            (Self::Opened(_), _) => "opened_browser",
        }
    }

    /// What the browser says of itself.
    pub(super) fn about(&mut self) -> Result<Value, String> {
        self.ask("about", &json!({}))
    }

    /// Brings its clock and the gateway's together.
    pub(super) fn clocks(&mut self) -> Result<Clocks, String> {
        match self {
            Self::Ours(page, _) => page.clock().map(Clocks::Shared),
            Self::Opened(_) => Ok(Clocks::Asked(vec![self.offset()?])),
        }
    }

    /// Adds what is found now, where clocks may drift.
    pub(super) fn refresh(&mut self, clocks: &mut Clocks) -> Result<(), String> {
        if let Clocks::Asked(offsets) = clocks {
            offsets.push(self.offset()?);
        }
        Ok(())
    }

    fn offset(&mut self) -> Result<Offset, String> {
        Offset::of(&self.ask(Offset::CALL, &Offset::questions())?)
    }

    /// Makes the processor seem so many times slower; only ours can.
    pub(super) fn slow_down(&mut self, times: u32) -> Result<Slowdown, String> {
        match self {
            Self::Ours(page, _) => page.slow_down(times),
            Self::Opened(_) if times == 1 => Ok(Slowdown::NONE),
            Self::Opened(_) => {
                Err("absent: only the bench's own browser can be slowed down".into())
            }
        }
    }

    /// Begins to keep what the browser traces of itself; only ours can.
    pub(super) fn begin_trace(&mut self) -> Result<(), String> {
        match self {
            Self::Ours(page, _) => page.begin_trace(super::traced::CATEGORIES),
            Self::Opened(_) => Err("absent: only the bench's own browser is traced".into()),
        }
    }

    /// Ends it; the events.
    pub(super) fn end_trace(&mut self) -> Result<Vec<Value>, String> {
        match self {
            Self::Ours(page, _) => page.end_trace(),
            Self::Opened(_) => Ok(Vec::new()),
        }
    }

    /// Whether it is in a browser that a person opened.
    pub(super) fn is_opened(&self) -> bool {
        matches!(self, Self::Opened(_))
    }

    /// Ends the page, so that the next is in front; a person's stays.
    pub(super) fn close(&mut self) {
        if let Self::Ours(page, _) = self {
            // A browser that is gone has closed it already.
            let _ = page.close();
        }
    }

    /// Its process, if it is ours.
    pub(super) fn pid(&self) -> Option<u32> {
        match self {
            Self::Ours(_, pid) => Some(*pid),
            Self::Opened(_) => None,
        }
    }
}

/// An expression that gives what the call does or, as an object, why it fails: an error's own words.
fn told(call: &str, argument: &Value) -> String {
    format!(
        "(async () => ({{ answer: (await weirMeasure.{call}({argument})) ?? null }}))()\
         .catch((error) => ({{ fault: String(error?.message ?? error) }}))"
    )
}
