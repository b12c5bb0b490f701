//! AMQP 1.0, which the paper did not measure.

use weir_bench_peers::amqp::Amqp;

use super::Protocol;
use weir_bench_model::clock::now_ns;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "amqp10",
    title: "AMQP 1.0",
    published: None,
    ours: Some("weir_amqp10"),
    others: &["rabbitmq_amqp10", "qpid_amqp10"],
    apart: &[],
    takes_given: false,
    about: "AMQP 1.0 with transfers that are settled when they are sent. The native client is the gateway's own \
            machine on a blocking socket; in pages it is rhea, over WebSocket at the gateway and at Qpid, \
            through websockify at RabbitMQ. The paper measured 0.9.1 alone.",
    open: |at, part| {
        let container = format!("bench-{}-{}", std::process::id(), now_ns());
        Ok(Box::new(Amqp::v10(&at.peer(), part.topic(), container)?))
    },
};
