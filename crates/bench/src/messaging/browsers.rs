//! The clients in pages: a browser each, both with the page `messaging.html` of a gateway.
//!
//! A second browser, not a second page of the first: what is not in front is slowed by browsers. The
//! gateway that serves the page is none of the brokers. Times of a page are moments of its own clock,
//! which lies on that of the run, since all is on one machine.

use std::path::Path;

use serde_json::{Value, json};

use super::job::{Arrived, PingPong, Sent};
use crate::devtools::{Browser, Page, PageClock};
use crate::latency::Latency;
use crate::limits::MESSAGING_SILENCE_MS_MAX;
use crate::targets::{Running, Settings, Target, WebSocketAt, start_fresh};

/// When the page is there, or is known not to come.
const READY: &str = "typeof weirMessaging === 'object' || \
                     performance.getEntriesByType('navigation')[0]?.responseStatus >= 400";
const NO_PAGE: &str =
    "absent: this build has no page of messaging; `make web`, then build weir again";

/// The browsers of a run, and the gateway whose page they show.
pub(super) struct Browsers {
    browsers: Vec<Browser>,
    gateway: Running,
}

/// A page that is a client of a broker.
pub(super) struct Client<'a> {
    page: Page<'a>,
    clock: PageClock,
}

/// What a browser may see of the gateway, before there is a browser.
pub(super) fn gateway(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let target = Target::named("weir").ok_or("no gateway")?;
    if settings.address.is_some() {
        return Err(
            "absent: pages are served by a gateway that the bench starts, without --url".into(),
        );
    }
    start_fresh(folder, "gateway", |folder| (target.start)(settings, folder))
}

impl Browsers {
    /// None started yet.
    pub(super) fn new(gateway: Running) -> Self {
        Self {
            browsers: Vec::new(),
            gateway,
        }
    }

    /// The origin of the pages.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.gateway.address)
    }

    /// Starts as many as are wanted; those that run stay.
    pub(super) fn start(
        &mut self,
        count: usize,
        settings: &Settings,
        folder: &Path,
    ) -> Result<(), String> {
        while self.browsers.len() < count {
            let profile = folder.join(format!("profile-{}", self.browsers.len()));
            self.browsers.push(Browser::launch(settings, &profile)?);
        }
        Ok(())
    }

    /// What they say they are.
    pub(super) fn version(&self) -> Option<&str> {
        self.browsers
            .first()
            .map(|browser| browser.version.as_str())
    }

    /// The processes at the roots of the first ones.
    pub(super) fn pids(&self, count: usize) -> Vec<u32> {
        self.browsers.iter().take(count).map(Browser::pid).collect()
    }

    /// A page in each of the first ones.
    pub(super) fn pages(&mut self, count: usize) -> Result<Vec<Client<'_>>, String> {
        let url = format!("{}/messaging.html", self.origin());
        let browsers = self.browsers.iter_mut().take(count);
        browsers
            .map(|browser| Client::open(browser, &url))
            .collect()
    }
}

impl<'a> Client<'a> {
    fn open(browser: &'a mut Browser, url: &str) -> Result<Self, String> {
        let mut page = Page::open(browser, url, READY)?;
        let there = page.evaluate("typeof weirMessaging === 'object'")?;
        if there != true {
            return Err(NO_PAGE.into());
        }
        let clock = page.clock()?;
        Ok(Self { page, clock })
    }

    /// Makes it a client that is subscribed to a topic.
    pub(super) fn connect(
        &mut self,
        protocol: &str,
        at: &WebSocketAt,
        topic: &str,
    ) -> Result<(), String> {
        let (user, password) = at.user.clone().unzip();
        let at = json!({
            "protocol": protocol,
            "url": at.url,
            "user": user,
            "password": password,
            "topic": topic,
        });
        self.call("connect", &at).map(drop)
    }

    /// Has it keep when messages come.
    pub(super) fn keep(&mut self) -> Result<(), String> {
        self.call("keep", &Value::Null).map(drop)
    }

    /// Has it send back what comes.
    pub(super) fn send_back(&mut self, to: &str) -> Result<(), String> {
        self.call("sendBack", &to.into()).map(drop)
    }

    /// What it kept, when so many messages have come or none has for long.
    pub(super) fn arrived(&mut self, messages: usize) -> Result<Vec<Arrived>, String> {
        let wanted = json!({"messages": messages, "silenceMs": MESSAGING_SILENCE_MS_MAX});
        let rows = self.call("arrived", &wanted)?;
        let clock = self.clock;
        let arrived = rows.as_array().into_iter().flatten().map(|row| Arrived {
            id: row[0].as_str().unwrap_or_default().into(),
            received_ns: clock.ns(row[1].as_f64().unwrap_or(0.0)),
            decoded_ns: clock.ns(row[2].as_f64().unwrap_or(0.0)),
        });
        Ok(arrived.collect())
    }

    /// Has it publish messages on a schedule.
    pub(super) fn publish(
        &mut self,
        to: &str,
        messages: &[Value],
        interval_ms: f64,
    ) -> Result<Vec<Sent>, String> {
        let wanted = json!({"to": to, "messages": messages, "intervalMs": interval_ms});
        let rows = self.call("publish", &wanted)?;
        let clock = self.clock;
        let sent = rows.as_array().into_iter().flatten().map(|row| Sent {
            id: row[0].as_str().unwrap_or_default().into(),
            due_ns: clock.ns(row[1].as_f64().unwrap_or(0.0)),
            begun_ns: clock.ns(row[2].as_f64().unwrap_or(0.0)),
        });
        Ok(sent.collect())
    }

    /// Has it send a message that comes back, again and again.
    pub(super) fn ping_pong(
        &mut self,
        to: &str,
        payload: &str,
        for_ms: u64,
    ) -> Result<PingPong, String> {
        let silence = MESSAGING_SILENCE_MS_MAX;
        let wanted = json!({"to": to, "payload": payload, "forMs": for_ms, "silenceMs": silence});
        let answer = self.call("pingPong", &wanted)?;
        let mut rtt = Latency::new();
        let all = answer["rttMs"].as_array().into_iter().flatten();
        all.filter_map(Value::as_f64)
            .for_each(|ms| rtt.record((ms * 1e6) as u64));
        let measured = PingPong {
            passed: rtt.len(),
            lost: answer["lost"].as_u64().unwrap_or(0),
            seconds: answer["ms"].as_f64().unwrap_or(0.0) / 1e3,
            rtt,
        };
        match measured.passed {
            0 => Err("no message came back".into()),
            _ => Ok(measured),
        }
    }

    /// An error's own words, without the name of its class.
    fn call(&mut self, function: &str, argument: &Value) -> Result<Value, String> {
        let expression = format!(
            "(async () => weirMessaging.{function}({argument}))()\
             .catch((error) => ({{ fault: String(error?.message ?? error) }}))"
        );
        let answer = self.page.evaluate(&expression)?;
        match answer["fault"].as_str() {
            Some(fault) => Err(format!("the page: {fault}")),
            None => Ok(answer),
        }
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        // A browser that is gone has closed it already.
        let _ = self.page.close();
    }
}
