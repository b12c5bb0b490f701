//! The binding's publisher and subscriber through a real RabbitMQ, by every scheme without TLS.
#![cfg(feature = "net")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it starts a broker and waits for it"
)]

#[allow(dead_code, reason = "the machines' tests use more of it")]
mod broker;

use broker::broker;
use weir_amqp::Amqp;
use weir_binding::{Connect, Event, Section, Target};
use weir_model::Filter;

fn target(url: String) -> Target {
    Target {
        url,
        format: weir_codec::by_name("json").unwrap(),
        credential: None,
        roots: None,
        keys: None,
    }
}

#[test]
fn what_is_published_through_a_real_rabbitmq_is_received() {
    let test = "what_is_published_through_a_real_rabbitmq_is_received";
    let Some(rabbitmq) = broker(test) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(async {
        let amqp = Amqp::configure(Section::new("amqp")).unwrap();
        for scheme in ["amqp091", "amqp10", "amqp"] {
            let url = format!("{scheme}://guest:guest@{}", rabbitmq.address);
            let filters = vec![Filter::parse("site/+").unwrap()];
            let subscriber = amqp.subscriber(target(url.clone()), filters, None).await;
            let mut subscriber = subscriber.unwrap();
            let mut publisher = amqp.publisher(target(url)).await.unwrap();
            for body in ["1", "2"] {
                publisher.publish("site/a", body.into()).await.unwrap();
                let came = subscriber.next().await.unwrap();
                assert_eq!(came, Some(Event::Message(body.into(), None)), "{scheme}");
            }
        }
        for scheme in ["amqp091", "amqp10"] {
            let url = format!("{scheme}://guest:wrong@{}", rabbitmq.address);
            assert!(amqp.publisher(target(url)).await.is_err(), "{scheme}");
        }
    });
}
