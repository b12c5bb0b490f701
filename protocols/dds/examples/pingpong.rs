//! Round trips between two processes by weir's DDS: `pingpong pong URL`, then `pingpong ping URL COUNT`.
//!
//! What it deliberately does not do: compare with anybody; `ddsperf ping` and `ddsperf pong` of Cyclone DDS are what it
//! stands beside, with 100 bytes and the same quality of service.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a program that measures"
)]

use std::time::{Duration, Instant};
use weir_dds::Exchange;
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Time, Value};

fn observation(topic: &'static str, number: f64) -> Observation<'static> {
    Observation {
        naming: Naming::Topic,
        topic,
        sensor: None,
        property: None,
        unit: None,
        description: 0,
        value: Value::Number(number),
        time: Some(Time::from_nanos(1)),
        place: None,
        extra: Extra::default(),
    }
}

async fn pong(url: &str) {
    let mut link = Exchange::open(url).unwrap();
    loop {
        let said = link.next(|sample| sample.observation.value.number()).await;
        let number = said.unwrap().unwrap();
        link.write(&observation("pong", number)).await.unwrap();
    }
}

async fn ping(url: &str, count: usize) {
    let mut link = Exchange::open(url).unwrap();
    while !link.has_met() {
        tokio::time::sleep(Duration::from_millis(10)).await;
        link.look();
    }
    // The other side knows of this one, too, a moment later.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut micros = Vec::with_capacity(count);
    for number in 0..count + 100 {
        let begun = Instant::now();
        link.write(&observation("ping", number as f64))
            .await
            .unwrap();
        let answer = link.next(|sample| sample.observation.value.number()).await;
        assert_eq!(answer.unwrap(), Some(number as f64));
        micros.push(begun.elapsed().as_nanos() as f64 / 1000.0);
    }
    let mut steady = micros.split_off(100);
    steady.sort_by(f64::total_cmp);
    let at = |share: f64| steady[(share * (steady.len() - 1) as f64) as usize];
    let (low, middle, high) = (at(0.0), at(0.5), at(0.99));
    println!("round trip of {count}: min {low:.1} us, p50 {middle:.1} us, p99 {high:.1} us");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    match &*arguments.iter().map(String::as_str).collect::<Vec<_>>() {
        ["pong", url] => runtime.block_on(pong(url)),
        ["ping", url, count] => runtime.block_on(ping(url, count.parse().unwrap())),
        _ => panic!("pong URL, or ping URL COUNT"),
    }
}
