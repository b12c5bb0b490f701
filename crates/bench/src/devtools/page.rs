//! A page of the browser: opened, slowed, and asked for the values of expressions.

use serde_json::{Value, json};

use super::browser::Browser;
use crate::clock::now_ns;
use crate::limits::DEVTOOLS_SECONDS_MAX;

/// A page.
pub(crate) struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
}

impl<'a> Page<'a> {
    /// Opens a URL in a page of its own and waits until an expression there is true.
    pub(crate) fn open(browser: &'a mut Browser, url: &str, ready: &str) -> Result<Self, String> {
        let target = browser.call(None, "Target.createTarget", json!({"url": url}))?;
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call(None, "Target.attachToTarget", attach)?;
        let session = attached["sessionId"]
            .as_str()
            .ok_or("no session")?
            .to_string();
        let mut page = Self { browser, session };
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
    pub(crate) fn evaluate(&mut self, expression: &str) -> Result<Value, String> {
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

    /// Makes the page's processor seem so many times slower than it is.
    pub(crate) fn slow_down(&mut self, times: u32) -> Result<(), String> {
        self.call("Emulation.setCPUThrottlingRate", json!({"rate": times}))
            .map(drop)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.browser.call(Some(&self.session), method, params)
    }
}
