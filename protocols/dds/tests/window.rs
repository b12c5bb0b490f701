//! A writer goes on behind its window, though all is on the loopback of one machine.
#![cfg(feature = "net")]
#![allow(clippy::unwrap_used)]

use std::time::Duration;
use weir_dds::{Exchange, limits};
use weir_model::batch::Naming;
use weir_model::{Extra, Observation, Time, Value};

/// A domain that other tests of this machine do not use meanwhile.
fn url() -> String {
    format!(
        "dds://{}?durability=volatile",
        160 + std::process::id() % 70
    )
}

fn observation(topic: &'static str, number: usize) -> Observation<'static> {
    Observation {
        naming: Naming::Topic,
        topic,
        sensor: None,
        property: None,
        unit: None,
        description: 0,
        value: Value::Number(number as f64),
        time: Some(Time::from_nanos(1)),
        place: None,
        extra: Extra::default(),
    }
}

async fn next(exchange: &mut Exchange) -> usize {
    let number = exchange.next(|sample| sample.observation.value.number());
    number.await.unwrap().unwrap() as usize
}

/// Until each reader is matched with each writer.
async fn meet(near: &mut Exchange, far: &mut Exchange) {
    while !(near.has_met() && far.has_met()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        near.look();
        far.look();
    }
}

#[tokio::test]
async fn what_is_to_and_fro_does_not_end_with_the_window() {
    let (mut near, mut far) = (
        Exchange::open(&url()).unwrap(),
        Exchange::open(&url()).unwrap(),
    );
    meet(&mut near, &mut far).await;
    for number in 1..limits::WINDOW_SAMPLES as usize + 500 {
        near.write(&observation("near", number)).await.unwrap();
        assert_eq!(next(&mut far).await, number);
        far.write(&observation("far", number)).await.unwrap();
        assert_eq!(next(&mut near).await, number);
    }
}
