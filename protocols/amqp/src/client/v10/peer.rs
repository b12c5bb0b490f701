//! What a peer calls a topic: exchange and key at brokers, the topic itself at everybody else.
//!
//! AMQP 1.0 leaves addresses to the peer (section 3.5), and says of itself what a peer is only in a property of
//! its open (section 2.7.1); by that RabbitMQ and Qpid Broker-J are known.

use crate::client::{Options, names};
use crate::wire::{DeliveryState, Map, Open, Source, Symbol, Target, TargetKind, Value};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};

/// How a peer names its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// The address is the topic.
    Plain,
    /// RabbitMQ's plug-in: `/exchange/NAME/KEY`.
    RabbitMq,
    /// Qpid Broker-J: `NAME/KEY`.
    BrokerJ,
}

/// Terminus durability and expiry of a subscription that is kept (sections 3.5.5 and 3.5.6).
const UNSETTLED_STATE: u32 = 2;
const NEVER: Symbol = Symbol::new("never");

/// Filters that weir knows: the format of messages, and the cursor from which on.
const FORMAT: &str = "weir:format";
const SINCE: &str = "weir:since";

/// A filter under its own name (section 3.5.8): described by it, so that a peer that does not know it sees that.
fn filtered(name: &'static str, text: &str) -> (Value, Value) {
    let name = || Value::Symbol(Symbol::new(name));
    let described = Value::Described(Box::new((name(), Value::String(text.to_string()))));
    (name(), described)
}

impl Peer {
    /// By what it says of itself.
    pub(super) fn of(open: &Open) -> Self {
        let product = product(open).to_lowercase();
        match product {
            it if it.contains("rabbit") => Self::RabbitMq,
            it if it.contains("qpid") => Self::BrokerJ,
            _ => Self::Plain,
        }
    }

    /// The node to which all messages go; absent where each names its own.
    pub(super) fn target(self, options: &Options) -> TargetKind {
        let exchange = &options.exchange;
        let address = match self {
            Self::Plain => None,
            Self::RabbitMq => Some(format!("/exchange/{}", escaped(exchange))),
            Self::BrokerJ => Some(exchange.clone()),
        };
        TargetKind::Node(Box::new(Target {
            address,
            ..Target::default()
        }))
    }

    /// The node from which messages of a filter come.
    pub(super) fn source(self, options: &Options, filter: &str) -> Source {
        let (exchange, key) = (&options.exchange, names::swapped(filter));
        let address = match (self, &options.queue) {
            (Self::Plain, _) => filter.to_string(),
            // It makes no binding of a queue that stays: who runs it has made one.
            (Self::RabbitMq, Some(queue)) => format!("/amq/queue/{}", escaped(queue)),
            (Self::RabbitMq, None) => {
                format!("/exchange/{}/{}", escaped(exchange), escaped(&key))
            }
            (Self::BrokerJ, _) => format!("{exchange}/{key}"),
        };
        let is_kept = options.queue.is_some() && self != Self::RabbitMq;
        let mut filter = Map::default();
        if self == Self::Plain {
            for (name, text) in [(FORMAT, &options.format), (SINCE, &options.since)] {
                filter
                    .0
                    .extend(text.as_ref().map(|text| filtered(name, text)));
            }
        }
        Source {
            address: Some(address),
            filter,
            durable: if is_kept { UNSETTLED_STATE } else { 0 },
            expiry_policy: is_kept.then_some(NEVER),
            timeout: 0,
            ..Source::default()
        }
    }

    /// Links in that there may be: more to one queue would share its messages between them.
    pub(super) fn links_max(self, options: &Options) -> usize {
        match (self, &options.queue) {
            (Self::RabbitMq, Some(_)) => 1,
            _ => usize::MAX,
        }
    }

    /// What stands in a message's `to` and `subject`.
    pub(super) fn named(self, topic: &str) -> (Option<String>, Option<String>) {
        match self {
            Self::Plain => (Some(topic.to_string()), None),
            _ => (None, Some(names::swapped(topic))),
        }
    }

    /// The topic of a message by its `to` and `subject`, or why there is none.
    pub(super) fn topic(
        self,
        exchange: &str,
        to: Option<&str>,
        subject: Option<&str>,
    ) -> Result<String, &'static str> {
        // What came there by 0.9.1 has its key behind the exchange, and no subject.
        let behind = || to?.strip_prefix(exchange)?.strip_prefix('/');
        match self {
            Self::Plain => match to.or(subject) {
                Some(topic) if !topic.is_empty() => Ok(topic.to_string()),
                _ => Err("it names no topic (`to`)"),
            },
            Self::BrokerJ => {
                let key = subject.or_else(behind);
                names::topic_of(key.ok_or("it has no routing key (`subject`, or `to`)")?)
            }
            Self::RabbitMq => names::topic_of(subject.ok_or("it has no routing key (`subject`)")?),
        }
    }

    /// What is said of a message that is not taken, and that whoever holds this machine has set aside. Broker-J
    /// would give a rejected one again at once, for ever.
    pub(super) fn refusal(self) -> DeliveryState {
        match self {
            Self::BrokerJ => DeliveryState::Accepted,
            Self::Plain | Self::RabbitMq => DeliveryState::Rejected(None),
        }
    }
}

/// A segment of an address of RabbitMQ, which knows no other escape.
fn escaped(segment: &str) -> String {
    segment.replace('/', "%2F")
}

/// What a peer says that it is.
pub(super) fn product(open: &Open) -> String {
    let product = open.properties.get("product").and_then(Value::as_str);
    product.unwrap_or(&open.container_id).to_string()
}
