//! The native client of both AMQPs: at most once, as the other protocols here.

use bytes::Bytes;
use weir_bench_peers::amqp::Amqp;
use weir_bench_peers::unless_silent;

use super::Client;

/// The format of messages.
const JSON: &str = "application/json";

impl Client for Amqp {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        Ok(self.publish(topic, JSON, payload)?)
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        Ok(unless_silent(self.message())?)
    }

    fn nodelay(&self) -> Option<bool> {
        self.nodelay()
    }
}
