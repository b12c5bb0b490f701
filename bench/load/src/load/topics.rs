//! One observation of each of many datastreams, so that the target knows them all; held while the
//! orchestrator reads memory, and then while a probe publishes and hears in one of them.

use std::fmt::Write;
use std::net::SocketAddr;

use super::job::{Event, TopicsOutcome, TopicsPlan};
use super::one_by_one::OneByOne;
use super::traffic;
use super::wire::PublishWire;
use weir_bench_model::clock::now_ns;

/// One of them, which the first message makes.
pub const ONE_OF_THEM: &str = "bench/building-0/sensor-0/temperature";

/// Publishes all, settles, says [`Event::Ready`], probes when told, and ends.
pub fn run(address: SocketAddr, plan: &TopicsPlan) -> Result<TopicsOutcome, String> {
    let PublishWire::Http { head } = &plan.publish else {
        return Err("datastreams are made by HTTP".into());
    };
    let mut publishing = OneByOne::open(address)?;
    let start = now_ns();
    for first in (0..plan.topics).step_by(plan.batch) {
        let end = plan.topics.min(first + plan.batch);
        publishing.send(&request(head, first, end))?;
    }
    let seconds = (now_ns() - start) as f64 / 1e9;
    std::thread::sleep(std::time::Duration::from_millis(plan.settle_ms));
    super::emit(&Event::Ready);
    super::await_orchestrator();
    drop(publishing);
    let probe = plan.probe.as_deref();
    let probe = probe.map(|plan| traffic::run(address, plan)).transpose()?;
    Ok(TopicsOutcome {
        topics: plan.topics,
        seconds,
        probe: probe.map(Box::new),
    })
}

fn request(head: &str, first: usize, end: usize) -> Vec<u8> {
    let body = batch(first, end);
    let length = body.len();
    let head = format!("{head}Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n");
    (head + &body).into_bytes()
}

/// A hundred sensors a building, in topics as long as people's are.
fn batch(first: usize, end: usize) -> String {
    let mut text = String::from(r#"{"observations":["#);
    for number in first..end {
        let comma = if number == first { "" } else { "," };
        let (building, sensor) = (number / 100, number % 100);
        let topic = format!("bench/building-{building}/sensor-{sensor}/temperature");
        // Writing to a string does not fail.
        let _ = write!(text, r#"{comma}{{"topic":"{topic}","value":21.5}}"#);
    }
    text + "]}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_datastream_is_in_one_batch_and_the_length_is_told() {
        let request = String::from_utf8(request("POST / HTTP/1.1\r\n", 98, 102)).unwrap();
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
        let said: serde_json::Value = serde_json::from_str(body).unwrap();
        let topics = said["observations"].as_array().unwrap().iter();
        let topics: Vec<_> = topics.filter_map(|one| one["topic"].as_str()).collect();
        assert_eq!(topics[0], "bench/building-0/sensor-98/temperature");
        assert_eq!(topics[3], "bench/building-1/sensor-1/temperature");
        assert_eq!(topics.len(), 4);
    }

    #[test]
    fn what_a_probe_publishes_to_is_known_already() {
        let first = batch(0, 1);
        assert!(
            first.contains(&format!(r#""topic":"{ONE_OF_THEM}""#)),
            "{first}"
        );
    }
}
