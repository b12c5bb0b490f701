//! weir's own participant.

use bytes::Bytes;
use weir_bench_peers::dds::{Domain, Participant};
use weir_bench_peers::unless_silent;

use super::super::super::job::At;
use super::super::{Client, Part};
use weir_bench_lab::targets::dds::domain_at;

/// Joins the domain.
pub(super) fn open(at: At, part: Part<'_>) -> Result<Box<dyn Client>, String> {
    let domain = Domain {
        number: domain_at(at.address),
        interface: at.address.ip(),
        silence: at.silence,
    };
    let writes = !matches!(part, Part::Listens(_));
    Ok(Box::new(Participant::open(domain, part.topic(), writes)?))
}

impl Client for Participant {
    fn publish(&mut self, topic: &str, payload: &[u8]) -> Result<(), String> {
        Ok(self.publish(topic, payload)?)
    }

    fn receive(&mut self) -> Result<Option<Bytes>, String> {
        Ok(unless_silent(self.message())?)
    }

    fn meet(&mut self) -> Result<(), String> {
        Ok(self.meet()?)
    }

    fn drain(&mut self) -> Result<(), String> {
        Ok(self.drain()?)
    }

    fn nodelay(&self) -> Option<bool> {
        None
    }
}
