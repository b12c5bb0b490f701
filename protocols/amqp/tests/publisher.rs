//! A publisher at peers as no broker here is: one that grants no credit, and ones that release a message.
#![cfg(feature = "net")]
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test: it is the peer that its client connects to"
)]

use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use weir_amqp::Amqp;
use weir_amqp::wire::{
    Attach, Begin, DeliveryState, Disposition, Flow, Framed, Open, Performative, ProtocolHeader,
    Role, Sasl, SaslCode, Symbol, TargetKind, frame,
};
use weir_binding::{Connect, Section, Target};

/// Whoever is not heard by then is not there.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The shortest time-out that a client keeps.
const IDLE_MILLIS: u32 = 100;
/// An empty frame (section 2.4.5).
const EMPTY: [u8; 8] = [0, 0, 0, 8, 2, 0, 0, 0];

/// The other side of a client, which says what the test tells it to.
struct Peer {
    stream: TcpStream,
    came: Vec<u8>,
}

impl Peer {
    async fn say(&mut self, said: &[Performative]) {
        let mut bytes = Vec::new();
        for one in said {
            one.write(0, 0, &mut bytes);
        }
        self.stream.write_all(&bytes).await.unwrap();
    }

    /// Takes this many bytes of what comes.
    async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.came.len() < length {
            let read = tokio::time::timeout(WAIT_MAX, self.stream.read_buf(&mut self.came)).await;
            assert!(read.unwrap().unwrap() > 0, "the client is gone");
        }
        self.came.drain(..length).collect()
    }

    /// Takes a frame.
    async fn frame(&mut self) -> Vec<u8> {
        let mut all = self.take(8).await;
        let length = u32::from_be_bytes(*all.first_chunk().unwrap());
        all.extend(self.take(length as usize - 8).await);
        all
    }

    /// Takes frames up to one that says something.
    async fn performative(&mut self) -> Performative {
        loop {
            let bytes = self.frame().await;
            let Framed::Whole(header) = frame(&bytes, 1 << 16).unwrap() else {
                panic!("{bytes:?}");
            };
            if let Some((said, _)) = Performative::read(&header, &bytes).unwrap() {
                return said;
            }
        }
    }

    /// Opens everything but the link's credit, as a product; gives the client's handle of the link.
    async fn open(&mut self, product: &str) -> u32 {
        let mut sasl = ProtocolHeader::SASL.bytes().to_vec();
        Sasl::Mechanisms(vec![Symbol::new("ANONYMOUS")]).write(&mut sasl);
        self.stream.write_all(&sasl).await.unwrap();
        self.take(8).await;
        self.frame().await;
        let mut outcome = Vec::new();
        Sasl::Outcome(SaslCode::OK, None).write(&mut outcome);
        outcome.extend(ProtocolHeader::AMQP.bytes());
        self.stream.write_all(&outcome).await.unwrap();
        let open = Open {
            container_id: product.into(),
            idle_time_out: Some(IDLE_MILLIS),
            ..Open::default()
        };
        let begin = Begin {
            remote_channel: Some(0),
            incoming_window: 1000,
            outgoing_window: 1000,
            ..Begin::default()
        };
        self.take(8).await;
        self.say(&[Performative::Open(Box::new(open))]).await;
        self.say(&[Performative::Begin(Box::new(begin))]).await;
        loop {
            if let Performative::Attach(attach) = self.performative().await {
                let mut answer = Attach::new(attach.name, attach.handle, Role::Receiver);
                answer.source = attach.source;
                answer.target = Some(TargetKind::Node(Box::default()));
                self.say(&[Performative::Attach(Box::new(answer))]).await;
                return attach.handle;
            }
        }
    }
}

/// Takes one message, with this outcome.
async fn take_one(peer: &mut Peer, handle: u32, outcome: DeliveryState) {
    let flow = Flow {
        next_incoming_id: Some(0),
        incoming_window: 1000,
        outgoing_window: 1000,
        handle: Some(handle),
        delivery_count: Some(0),
        link_credit: Some(1),
        ..Flow::default()
    };
    peer.say(&[Performative::Flow(flow)]).await;
    let Performative::Transfer(transfer) = peer.performative().await else {
        panic!("no message");
    };
    let settled = Disposition {
        role: Role::Receiver,
        first: transfer.delivery_id.unwrap(),
        last: None,
        settled: true,
        state: Some(outcome),
        batchable: false,
    };
    peer.say(&[Performative::Disposition(settled)]).await;
}

/// What publishing gives at a peer that does this.
async fn published(serve: impl AsyncFnOnce(&mut Peer)) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let target = Target {
        url: format!("amqp10://{}", listener.local_addr().unwrap()),
        format: weir_codec::by_name("json").unwrap(),
        credential: None,
        roots: None,
        keys: None,
    };
    let amqp = Amqp::configure(Section::new("amqp")).unwrap();
    let publish = async {
        let mut publisher = amqp.publisher(target).await.unwrap();
        publisher.publish("site/a", "1".into()).await
    };
    let serve = async {
        let (stream, _) = listener.accept().await.unwrap();
        let came = Vec::new();
        let mut peer = Peer { stream, came };
        serve(&mut peer).await;
        peer
    };
    tokio::join!(publish, serve).0
}

#[tokio::test]
async fn a_publisher_without_credit_is_still_heard() {
    let outcome = published(async |peer| {
        let handle = peer.open("somebody").await;
        for _ in 0..3 {
            assert_eq!(peer.frame().await, EMPTY);
        }
        take_one(peer, handle, DeliveryState::Accepted).await;
    });
    assert!(outcome.await.is_ok());
}

#[tokio::test]
async fn what_a_rabbitmq_has_no_queue_for_is_published() {
    for (product, is_published) in [("RabbitMQ", true), ("somebody", false)] {
        let outcome = published(async |peer| {
            let handle = peer.open(product).await;
            take_one(peer, handle, DeliveryState::Released).await;
        });
        assert_eq!(outcome.await.is_ok(), is_published, "{product}");
    }
}
