//! The clients in pages: a browser each, both with the page `messaging.html` of a gateway.
//!
//! The browsers are ours, told by the DevTools protocol, or those that a person opens by a link, told over the
//! gateway. A second browser, not a second page of the first: what is not in front is slowed by browsers. The
//! gateway that serves the page is none of the brokers. Times of our pages are moments of their own clocks,
//! which lie on that of the run, since all is on one machine; other clocks are asked for.

use std::path::Path;

use serde_json::{Value, json};

use super::job::{Arrived, PingPong, Sent};
use weir_bench_lab::devtools::{Browser, Page};
use weir_bench_lab::opened::{Clocks, Invitation, Offset, Orders};
use weir_bench_lab::started::start_fresh;
use weir_bench_lab::targets::{Running, Settings, WebSocketAt, list};
use weir_bench_model::latency::Latency;
use weir_bench_model::limits::MESSAGING_SILENCE_MS_MAX;

/// When the page is there, or is known not to come.
const READY: &str = "typeof weirMessaging === 'object' || \
                     performance.getEntriesByType('navigation')[0]?.responseStatus >= 400";
const NO_PAGE: &str =
    "absent: this build has no page of messaging; `make web`, then build weir again";
const PAGE: &str = "messaging.html";

/// What a person is asked to open, by how many are there.
const WHAT: [&str; 2] = [
    "the browser that is to be measured, and keep it in front",
    "a second browser, beside the first one",
];

/// The browsers of a run, and the gateway whose page they show.
pub(super) struct Browsers {
    all: Vec<OfRun>,
    gateway: Running,
}

/// A browser.
enum OfRun {
    Ours(Browser),
    Opened(Orders),
}

/// A page that is a client of a broker.
pub(super) struct Client<'a> {
    way: Way<'a>,
    clocks: Clocks,
}

/// How a page is told what to do.
enum Way<'a> {
    DevTools(Page<'a>),
    Orders(&'a mut Orders),
}

/// What a browser may see of the gateway, before there is a browser.
pub(super) fn gateway(settings: &Settings, folder: &Path) -> Result<Running, String> {
    let target = list::named("weir").ok_or("no gateway")?;
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
            all: Vec::new(),
            gateway,
        }
    }

    /// The origin of the pages.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.gateway.address)
    }

    /// Starts as many as are wanted, or has a person open them; those that are there stay.
    pub(super) fn start(
        &mut self,
        count: usize,
        settings: &Settings,
        folder: &Path,
    ) -> Result<(), String> {
        while self.all.len() < count {
            let browser = match settings.is_opened {
                true => OfRun::Opened(self.invite()?),
                false => {
                    let profile = folder.join(format!("profile-{}", self.all.len()));
                    OfRun::Ours(Browser::launch(settings, &profile)?)
                }
            };
            self.all.push(browser);
        }
        Ok(())
    }

    /// Brokers listen where the gateway does (`--host`), so who reaches the page reaches them.
    fn invite(&self) -> Result<Orders, String> {
        let gateway = self.gateway.address;
        let invitation = Invitation {
            gateway,
            page: PAGE,
            elsewhere: (!gateway.ip().is_loopback()).then_some(gateway.ip()),
            port_by_tls: None,
            what: WHAT[self.all.len().min(1)],
        };
        invitation.wait()
    }

    /// The name of the first among the versions of a run, and what it says that it is.
    pub(super) fn version(&self) -> Option<(&'static str, &str)> {
        self.all.first().map(|browser| match browser {
            OfRun::Ours(browser) => ("chromium", browser.version.as_str()),
            OfRun::Opened(orders) => ("opened_browser", orders.browser.as_str()),
        })
    }

    /// The processes at the roots of the first ones, where they are ours.
    pub(super) fn pids(&self, count: usize) -> Vec<u32> {
        let pid = |browser: &OfRun| match browser {
            OfRun::Ours(browser) => Some(browser.pid()),
            OfRun::Opened(_) => None,
        };
        self.all.iter().take(count).filter_map(pid).collect()
    }

    /// A page in each of the first ones, in which nothing has been done yet.
    pub(super) fn pages(&mut self, count: usize) -> Result<Vec<Client<'_>>, String> {
        let url = format!("{}/{PAGE}", self.origin());
        let browsers = self.all.iter_mut().take(count);
        browsers
            .map(|browser| match browser {
                OfRun::Ours(browser) => Client::open(browser, &url),
                OfRun::Opened(orders) => Client::told(orders),
            })
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
        let clocks = Clocks::Shared(page.clock()?);
        let way = Way::DevTools(page);
        Ok(Self { way, clocks })
    }

    fn told(orders: &'a mut Orders) -> Result<Self, String> {
        orders.fresh()?;
        let asked = Offset::of(&orders.ask(Offset::CALL, &Offset::questions())?)?;
        Ok(Self {
            way: Way::Orders(orders),
            clocks: Clocks::Asked(vec![asked]),
        })
    }

    /// What a figure of both clocks is to say of them.
    pub(super) fn remark(&self) -> Option<String> {
        self.clocks.remark()
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
        let arrived = rows.as_array().into_iter().flatten().map(|row| Arrived {
            id: row[0].as_str().unwrap_or_default().into(),
            received_ns: self.clocks.run_ns(row[1].as_f64().unwrap_or(0.0)),
            decoded_ns: self.clocks.run_ns(row[2].as_f64().unwrap_or(0.0)),
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
        let sent = rows.as_array().into_iter().flatten().map(|row| Sent {
            id: row[0].as_str().unwrap_or_default().into(),
            due_ns: self.clocks.run_ns(row[1].as_f64().unwrap_or(0.0)),
            begun_ns: self.clocks.run_ns(row[2].as_f64().unwrap_or(0.0)),
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
            passed: rtt.count(),
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
        let page = match &mut self.way {
            Way::DevTools(page) => page,
            Way::Orders(orders) => {
                let answer = orders.ask(function, argument);
                return answer.map_err(|fault| format!("the page: {fault}"));
            }
        };
        let expression = format!(
            "(async () => weirMessaging.{function}({argument}))()\
             .catch((error) => ({{ fault: String(error?.message ?? error) }}))"
        );
        let answer = page.evaluate(&expression)?;
        match answer["fault"].as_str() {
            Some(fault) => Err(format!("the page: {fault}")),
            None => Ok(answer),
        }
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        if let Way::DevTools(page) = &mut self.way {
            // A browser that is gone has closed it already.
            let _ = page.close();
        }
    }
}
