//! A page of the browser: opened, slowed, and asked for the values of expressions.

use serde_json::{Value, json};

use super::browser::Browser;
use super::slowdown::{self, Slowdown};
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::{
    DEVTOOLS_SECONDS_MAX, SLOWDOWN_TRIES_MAX, TRACE_BYTES_MAX, TRACE_PIECE_BYTES,
};

/// A page.
pub struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
    target: Value,
    /// How slow it is to be.
    asked: u32,
    /// Milliseconds of a fixed piece of work at full speed, once it is known.
    work_ms: Option<f64>,
}

/// Where a page's `performance.now` lies on [`weir_bench_model::clock::now_ns`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageClock {
    origin_ns: f64,
}

impl PageClock {
    /// A moment of the page, given in its milliseconds, in nanoseconds of the run's clock.
    pub fn ns(self, page_ms: f64) -> f64 {
        self.origin_ns + page_ms * 1e6
    }
}

impl<'a> Page<'a> {
    /// Opens a URL in a page of its own and waits until an expression there is true.
    pub fn open(browser: &'a mut Browser, url: &str, ready: &str) -> Result<Self, String> {
        let mut target = browser.call(None, "Target.createTarget", json!({"url": url}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call(None, "Target.attachToTarget", attach)?;
        let session = attached["sessionId"]
            .as_str()
            .ok_or("no session")?
            .to_string();
        let target = target["targetId"].take();
        let mut page = Self {
            browser,
            session,
            target,
            asked: 1,
            work_ms: None,
        };
        let end = now_ns() + DEVTOOLS_SECONDS_MAX * 1_000_000_000;
        while page.evaluate(ready).unwrap_or(Value::Null) != true {
            if now_ns() > end {
                return Err(format!("{url} did not get ready"));
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Ok(page)
    }

    /// The value of an expression, awaited where it is a promise.
    pub fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
        });
        let mut answer = self.call("Runtime.evaluate", params)?;
        let details = &answer["exceptionDetails"];
        if details.is_object() {
            let fault = details["exception"]["description"].as_str();
            return Err(fault
                .or(details["text"].as_str())
                .unwrap_or("an exception")
                .into());
        }
        Ok(answer["result"]["value"].take())
    }

    /// Makes the page's processor seem so many times slower than it is; how slow it then is.
    pub fn slow_down(&mut self, times: u32) -> Result<Slowdown, String> {
        if times == 1 {
            return self.set_rate(1).map(|()| Slowdown::NONE);
        }
        let mut found = Slowdown::NONE;
        for _ in 0..SLOWDOWN_TRIES_MAX {
            self.set_rate(1)?;
            let full_ms = self.evaluate(&slowdown::asked())?.as_f64();
            // Whatever else the machine does only ever slows.
            self.work_ms = self.work_ms.into_iter().chain(full_ms).reduce(f64::min);
            self.set_rate(times)?;
            let work_ms = self.evaluate(&slowdown::asked())?.as_f64();
            found = self.slowdown(work_ms);
            if found.is_in_force() {
                break;
            }
        }
        Ok(found)
    }

    /// How slow it is by the milliseconds of the fixed piece of work.
    pub fn slowdown(&self, work_ms: Option<f64>) -> Slowdown {
        let found = work_ms.zip(self.work_ms).map(|(now, full)| now / full);
        Slowdown {
            asked: self.asked,
            found: found.unwrap_or(f64::NAN),
        }
    }

    fn set_rate(&mut self, times: u32) -> Result<(), String> {
        self.asked = times;
        self.call("Emulation.setCPUThrottlingRate", json!({"rate": times}))
            .map(drop)
    }

    /// The page's own clock on the run's, until it is navigated.
    ///
    /// `NavigationStart` on the clock of ticks is `CLOCK_MONOTONIC` at the page's time origin, which no
    /// network namespace changes: so browser and servers of one machine share one clock.
    pub fn clock(&mut self) -> Result<PageClock, String> {
        self.call("Performance.enable", json!({"timeDomain": "timeTicks"}))?;
        let answer = self.call("Performance.getMetrics", json!({}))?;
        let metrics = answer["metrics"].as_array().cloned().unwrap_or_default();
        let start = metrics.iter().find(|it| it["name"] == "NavigationStart");
        let seconds = start.and_then(|it| it["value"].as_f64());
        let seconds = seconds.filter(|&seconds| seconds > 0.0);
        seconds
            .map(|seconds| PageClock {
                origin_ns: seconds * 1e9,
            })
            .ok_or_else(|| "the browser does not say when the page began".into())
    }

    /// Has the browser keep what it traces of itself, by category, until [`Page::end_trace`].
    pub fn begin_trace(&mut self, categories: &[&str]) -> Result<(), String> {
        let wanted = json!({
            "transferMode": "ReturnAsStream",
            "streamFormat": "json",
            "traceConfig": {"recordMode": "recordUntilFull", "includedCategories": categories},
        });
        self.browser.call(None, "Tracing.start", wanted).map(drop)
    }

    /// What was traced since, as events in the format of Chromium's traces.
    pub fn end_trace(&mut self) -> Result<Vec<Value>, String> {
        self.browser.call(None, "Tracing.end", json!({}))?;
        let mut ended = self.browser.event("Tracing.tracingComplete")?;
        let handle = ended["stream"].take();
        let mut text = String::new();
        loop {
            let wanted = json!({"handle": handle, "size": TRACE_PIECE_BYTES});
            let piece = self.browser.call(None, "IO.read", wanted)?;
            text += piece["data"].as_str().unwrap_or_default();
            if text.len() > TRACE_BYTES_MAX {
                return Err(format!("a trace of more than {TRACE_BYTES_MAX} bytes"));
            }
            if piece["eof"] != false {
                break;
            }
        }
        self.browser
            .call(None, "IO.close", json!({"handle": handle}))?;
        let mut trace: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
        match trace["traceEvents"].take() {
            Value::Array(events) => Ok(events),
            _ => Err("a trace without events".into()),
        }
    }

    /// Ends it; what it was connected to is told so by the browser.
    pub fn close(&mut self) -> Result<(), String> {
        let target = json!({"targetId": self.target});
        self.browser
            .call(None, "Target.closeTarget", target)
            .map(drop)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.browser.call(Some(&self.session), method, params)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_of_the_page_lies_behind_its_beginning() {
        let clock = PageClock {
            origin_ns: 5_000_000_000.0,
        };
        assert_eq!(clock.ns(0.25), 5_000_250_000.0);
    }
}
