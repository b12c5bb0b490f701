//! Orders to a browser that a person opened, over the gateway that is measured.
//!
//! Orders are published at one topic and answers come at another, both below a number that only the
//! link holds. While a cell runs nothing is asked, so orders do not get in the way of what is measured.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use crate::devtools::PageSocket;
use crate::link::End;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::DEVTOOLS_SECONDS_MAX;
use weir_bench_peers::Peer;
use weir_bench_peers::http1::{Http1, request};

/// The number of what a page says by itself when it is there.
const HELLO: u64 = 0;

/// A page that follows orders.
pub struct Orders {
    gateway: SocketAddr,
    run: String,
    answers: PageSocket,
    last: u64,
    /// What the browser says it is.
    pub browser: String,
}

impl Orders {
    /// A number that nobody guesses in the time that a run takes.
    pub fn run_name() -> String {
        use std::hash::{BuildHasher, RandomState};
        format!("{:016x}", RandomState::new().hash_one(now_ns()))
    }

    /// Waits until a page follows the orders of the run; `minutes` at most.
    pub fn wait(gateway: SocketAddr, run: &str, minutes: u64) -> Result<Self, String> {
        let answers = PageSocket::open(
            &format!("ws://{gateway}/live/bench/measure/{run}/answers?bare"),
            &End::Local,
        )?;
        let mut this = Self {
            gateway,
            run: run.into(),
            answers,
            last: 0,
            browser: String::new(),
        };
        this.answers
            .wait_at_most(Duration::from_secs(60 * minutes))?;
        let hello = this
            .answer(HELLO)
            .map_err(|_| "no browser opened the link")?;
        this.browser = hello["browser"].as_str().unwrap_or("unknown").into();
        this.answers
            .wait_at_most(Duration::from_secs(DEVTOOLS_SECONDS_MAX))?;
        Ok(this)
    }

    /// Asks the page to do something and waits for its answer.
    pub fn ask(&mut self, call: &str, argument: &Value) -> Result<Value, String> {
        self.last += 1;
        let order = json!({"id": self.last, "call": call, "argument": argument});
        self.publish(&order)?;
        self.answer(self.last)
    }

    /// Has the page load itself anew, so that nothing of what it did is left.
    pub fn fresh(&mut self) -> Result<(), String> {
        // Its answer may be lost with it.
        self.last += 1;
        self.publish(&json!({"id": self.last, "call": "fresh"}))?;
        self.answer(HELLO).map(drop)
    }

    fn publish(&self, order: &Value) -> Result<(), String> {
        let body = json!({"observations": [{"value": order.to_string()}]}).to_string();
        let asked = format!("POST /live/bench/measure/{}/orders", self.run);
        let fields = "Connection: close\r\nContent-Type: application/json";
        let mut http = Http1::open(&Peer {
            address: self.gateway,
            wait: Duration::from_secs(DEVTOOLS_SECONDS_MAX),
            modem: false,
            certificate: None,
        })?;
        http.send(&request(&asked, "localhost", fields, body.as_bytes()))?;
        match http.response()?.status == 204 {
            true => Ok(()),
            false => Err("the gateway refused an order".into()),
        }
    }

    /// The answer to an order; what else comes is of another page or another time.
    fn answer(&mut self, id: u64) -> Result<Value, String> {
        loop {
            let message: Value =
                serde_json::from_str(&self.answers.receive()?).map_err(|e| e.to_string())?;
            let texts = message["observations"].as_array().into_iter().flatten();
            let said =
                texts.filter_map(|row| serde_json::from_str::<Value>(row["value"].as_str()?).ok());
            for mut answer in said {
                if answer["id"] != id {
                    continue;
                }
                return match answer["fault"].as_str() {
                    Some(fault) => Err(fault.into()),
                    None => Ok(answer["answer"].take()),
                };
            }
        }
    }
}
