//! The sensors: messages of paper 000 put into the gateway at a fixed rate, in an open loop.
//!
//! They carry no time, so that the gateway stamps them with their arrival: that is when the data is
//! available there, from where T_transmit runs. CometD hands on a text as it is; its servlet is told
//! which time in it to replace by its arrival, so that both clocks start alike. One connection a round, since a
//! server may end one that is idle between rounds; requests on their due time whether answers have come or not.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use weir_codec::{by_name, sample};

use super::cells::{Setting, Via};
use weir_bench_lab::link::End;
use weir_bench_model::clock::now_ns;
use weir_bench_model::limits::DEVTOOLS_SECONDS_MAX;
use weir_bench_peers::Peer;
use weir_bench_peers::http1::{Http1, request};
use weir_bench_peers::sockets::Tcp;

/// The prefix of all topics in the messages as they are made.
const MADE: &str = "heating";

/// Who publishes to a server.
pub(super) struct Publisher {
    address: SocketAddr,
    end: End,
    /// Number of the next message: none comes twice in a run.
    next: u64,
}

/// What publishing gave.
#[derive(Debug, Default)]
pub(super) struct Published {
    /// Nanoseconds by which each message went later than it was due.
    pub(super) lags_ns: Vec<u64>,
    /// What the gateway refused, in its words.
    pub(super) refusal: Option<String>,
}

impl Publisher {
    /// From where the gateway is: sensors are on its side of a link.
    pub(super) fn to(address: SocketAddr, end: &End) -> Self {
        Self {
            address,
            end: end.clone(),
            next: 0,
        }
    }

    fn connect(&self) -> Result<Http1, String> {
        let tcp = self.end.connect(self.address);
        let tcp = tcp.map_err(|e| format!("{}: {e}", self.address))?;
        let peer = Peer {
            address: self.address,
            wait: Duration::from_secs(DEVTOOLS_SECONDS_MAX),
            modem: false,
            certificate: None,
        };
        Ok(Http1::over(Tcp::over(tcp, &peer, None)?))
    }

    /// Number of the message that is sent next.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Sends so many messages of a cell, so many a second, and waits for their answers.
    pub(super) fn publish(
        &mut self,
        setting: &Setting,
        count: u64,
        rate: f64,
    ) -> Result<Published, String> {
        let requests: Vec<Vec<u8>> = (self.next..self.next + count)
            .map(|number| match setting.via {
                Via::Clear | Via::Tls => to_gateway(setting.nodes, number),
                Via::Bayeux(_) => to_cometd(setting, number),
            })
            .collect::<Result<_, _>>()?;
        self.next += count;
        let mut published = Published::default();
        let mut http = self.connect()?;
        let start = now_ns();
        for (index, request) in requests.iter().enumerate() {
            let due = start + (index as f64 / rate * 1e9) as u64;
            sleep_until(due);
            published.lags_ns.push(now_ns().saturating_sub(due));
            http.send(request)?;
        }
        published.refusal = answered(&mut http, count)?;
        Ok(published)
    }
}

/// Waits for so many answers; the first refusal among them.
fn answered(http: &mut Http1, count: u64) -> Result<Option<String>, String> {
    let mut refusal = None;
    for _ in 0..count {
        let answer = http.response()?;
        if answer.status != 204 {
            let body = String::from_utf8_lossy(&answer.body);
            refusal.get_or_insert_with(|| format!("{}: {}", answer.status, body.trim()));
        }
    }
    Ok(refusal)
}

fn sleep_until(due_ns: u64) {
    let left = due_ns.saturating_sub(now_ns());
    if left > 0 {
        std::thread::sleep(Duration::from_nanos(left));
    }
}

/// The topic under which messages of so many nodes lie: short, so that sizes are the paper's although
/// an arrival tells microseconds, and one for each number of nodes, so that the last values are those
/// of one message.
pub(super) fn topic(nodes: usize) -> String {
    format!("h-{:02}", nodes.min(99))
}

fn to_gateway(nodes: usize, number: u64) -> Result<Vec<u8>, String> {
    let path = format!("/live/{}", topic(nodes));
    Ok(post(
        &path,
        "Content-Type: application/json",
        &message(nodes, number)?,
    ))
}

/// In the cell's format, with the time that the servlet replaces named in the head.
fn to_cometd(setting: &Setting, number: u64) -> Result<Vec<u8>, String> {
    let Setting { nodes, format, .. } = *setting;
    let time = time_of(number)?;
    let body = encoded(format, nodes, number)?;
    let text = String::from_utf8(body).map_err(|_| format!("{format} is no text"))?;
    let body = text.replace(&format!("{MADE}/"), &format!("{}/", topic(nodes)));
    let path = format!("/pub/{}", topic(nodes));
    let named = format!("Arrival-Instead-Of: {time}");
    Ok(post(&path, &named, body.as_bytes()))
}

fn post(path: &str, field: &str, body: &[u8]) -> Vec<u8> {
    request(&format!("POST {path}"), "localhost", field, body)
}

fn encoded(format: &str, nodes: usize, number: u64) -> Result<Vec<u8>, String> {
    let format = by_name(format).ok_or_else(|| format!("no format {format}"))?;
    let mut bytes = Vec::new();
    (format.encode)(&sample::message(nodes, number), &mut bytes);
    Ok(bytes)
}

fn json(nodes: usize, number: u64) -> Result<Value, String> {
    serde_json::from_slice(&encoded("json", nodes, number)?).map_err(|e| e.to_string())
}

/// The time that a message is made with, as text formats write it.
fn time_of(number: u64) -> Result<String, String> {
    let whole = json(1, number)?;
    let time = whole["observations"][0]["time"].as_str();
    time.map(str::to_string)
        .ok_or("a message without a time".into())
}

/// The message of paper 000 (section V, table 5) of a number, without times.
pub(super) fn message(nodes: usize, number: u64) -> Result<Vec<u8>, String> {
    let mut whole = json(nodes, number)?;
    let rows = whole["observations"]
        .as_array_mut()
        .ok_or("no observations")?;
    let prefix = topic(nodes);
    for row in rows.iter_mut().filter_map(Value::as_object_mut) {
        row.remove("time");
        let named = row.get("topic").and_then(Value::as_str).unwrap_or_default();
        let named = named.replacen(MADE, &prefix, 1);
        row.insert("topic".into(), named.into());
    }
    serde_json::to_vec(&whole).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn with_its_arrival_a_message_has_the_size_of_the_papers() {
        let arrival = r#""time":"2026-11-20T09:41:00.250123Z","#.len();
        for (nodes, published) in [(1, 1478.0), (5, 7163.0)] {
            let characters = message(nodes, 40).unwrap().len() + 7 * nodes * arrival;
            let share = characters as f64 / published;
            assert!((0.98..1.02).contains(&share), "{nodes}: {characters}");
        }
    }

    #[test]
    fn what_cometd_hands_on_has_as_many_times_to_replace_as_observations() {
        for format in super::super::cells::BAYEUX_FORMATS {
            let setting = Setting::cometd("websocket", format, 5);
            let request = String::from_utf8(to_cometd(&setting, 40).unwrap()).unwrap();
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            let time = time_of(40).unwrap();
            assert!(
                head.contains(&format!("Arrival-Instead-Of: {time}")),
                "{head}"
            );
            assert_eq!(body.matches(&time).count(), 35, "{format}: {body}");
            assert!(body.contains("h-05/") && !body.contains(MADE), "{format}");
        }
    }

    #[test]
    fn the_last_datastream_of_a_node_counts_messages() {
        let whole: Value = serde_json::from_slice(&message(1, 40).unwrap()).unwrap();
        let last = whole["observations"].as_array().unwrap().last().unwrap();
        assert_eq!(last["topic"], "h-01/substation-1/supply/energy");
        assert_eq!(last["value"], 51_200.0 + 0.25 * 40.0);
    }
}
