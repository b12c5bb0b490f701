//! AMQP 0.9.1, the AMQP of the paper.

use weir_bench_peers::amqp::Amqp;

use super::Protocol;

pub(super) const PROTOCOL: Protocol = Protocol {
    name: "amqp091",
    title: "AMQP 0.9.1",
    published: Some("AMQP"),
    ours: None,
    others: &["rabbitmq_amqp091", "qpid_amqp091"],
    apart: &[],
    takes_given: false,
    about: "AMQP 0.9.1 by the exchange `amq.topic`, nothing acknowledged, nothing kept. The gateway is no server \
            of it. The native client is the gateway's own machine on a blocking socket; in pages it is \
            @cloudamqp/amqp-client, through websockify, since no broker here has a WebSocket for it: the \
            paper's pages came through a gateway too.",
    open: |at, part| {
        let login = ("guest", "guest");
        Ok(Box::new(Amqp::v091(&at.peer(), part.topic(), login)?))
    },
};
