//! A participant of a domain, with the one topic, and what comes to it.

use super::adapter::{AsBytes, Leaving, Received};
use super::place::Place;
use super::quality::Quality;
use crate::limits::{SAMPLES_PER_TURN, SET_ASIDE_AT_ONCE_MAX, SET_ASIDE_REST};
use crate::wire::{TOPIC, TYPE};
use rustdds::dds::CreateResult;
use rustdds::mio1::{Events, Interest, Poll as Reactor, Token};
use rustdds::with_key::{DataReader, DataWriter, Sample};
use rustdds::{DataReaderStatus, DomainParticipant, DomainParticipantBuilder, RTPSEntity};
use rustdds::{GUID, ReadCondition, StatusEvented, Topic, TopicKind};
use std::fmt::Write as _;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;
use tokio::io::Interest as Readiness;
use tokio::io::unix::AsyncFd;

/// A writer of the topic.
pub(super) type Writer = DataWriter<Leaving, AsBytes>;

/// A participant and its topic.
pub(super) struct Participant {
    pub(super) domain: DomainParticipant,
    topic: Topic,
    address: SocketAddr,
}

impl Participant {
    /// Joins the domain: sockets and threads of the stack's own.
    pub(super) fn open(place: &Place) -> io::Result<Self> {
        let mut builder = DomainParticipantBuilder::new(place.domain);
        let addresses = place.addresses()?;
        let first = addresses.as_ref().and_then(|of| of.first().copied());
        if let Some(addresses) = addresses {
            builder = builder.with_only_networks(addresses);
        }
        let domain = made(builder.build())?;
        let policies = Quality::OFFERED.policies();
        let kind = TopicKind::WithKey;
        let topic = domain.create_topic(TOPIC.into(), TYPE.into(), &policies, kind);
        let ip = first.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        // DDSI-RTPS 2.5 section 9.6.2.3: where others announce themselves to it.
        let port = 7410 + 250 * domain.domain_id() + 2 * domain.participant_id();
        Ok(Self {
            topic: made(topic)?,
            domain,
            address: (ip, port).into(),
        })
    }

    /// Where others can announce themselves to it.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A writer that offers this.
    pub(super) fn writer(&self, offered: &Quality) -> io::Result<Writer> {
        let policies = offered.policies();
        let publisher = made(self.domain.create_publisher(&policies))?;
        made(publisher.create_datawriter(&self.topic, Some(policies)))
    }

    /// Who it is.
    pub(super) fn guid(&self) -> GUID {
        self.domain.guid()
    }

    /// A reader that requests this, of all but one participant; to be made where a runtime is.
    pub(super) fn reader(&self, requested: &Quality, but: Option<GUID>) -> io::Result<Arrivals> {
        let policies = requested.policies();
        let subscriber = made(self.domain.create_subscriber(&policies))?;
        let reader = made(subscriber.create_datareader(&self.topic, Some(policies)))?;
        Arrivals::new(reader, but)
    }
}

fn made<T>(result: CreateResult<T>) -> io::Result<T> {
    result.map_err(|error| io::Error::other(format!("DDS: {error}")))
}

/// A GUID as others print it: 24 digits of the participant, 8 of the entity.
pub(super) fn shown(guid: &GUID) -> String {
    let mut text = String::with_capacity(33);
    for (index, byte) in guid.to_bytes().iter().enumerate() {
        if index == 12 {
            text.push(':');
        }
        // Writing to a string does not fail.
        let _infallible = write!(text, "{byte:02x}");
    }
    text
}

/// A sample, and its writer.
pub(super) struct Arrived {
    pub(super) writer: GUID,
    pub(super) sample: Received,
}

/// What a reader gets of others.
///
/// The stack's own stream makes its thread and ours meet for each sample; here its reader's descriptor is
/// awaited with all others of the thread, and samples are taken as many as there are.
pub(super) struct Arrivals {
    reader: DataReader<Received, AsBytes>,
    reactor: AsyncFd<Reactor>,
    events: Events,
    /// The participant whose samples are left out.
    but: Option<GUID>,
    /// Samples that could not be had, since the last one that could.
    set_aside: u32,
}

impl Arrivals {
    fn new(mut reader: DataReader<Received, AsBytes>, but: Option<GUID>) -> io::Result<Self> {
        let reactor = Reactor::new()?;
        let registry = reactor.registry();
        registry.register(&mut reader, Token(0), Interest::READABLE)?;

        #[allow(
            deprecated,
            reason = "the descriptor is the reactor's, which closes it and gives it to nobody"
        )]
        let reactor = AsyncFd::with_interest(reactor, Readiness::READABLE)?;
        Ok(Self {
            reader,
            reactor,
            events: Events::with_capacity(4),
            but,
            set_aside: 0,
        })
    }

    /// Waits until there may be something to [`Self::take`].
    pub(super) async fn ready(&mut self) -> io::Result<()> {
        let mut guard = self.reactor.readable_mut().await?;
        guard.clear_ready();
        let reactor = guard.get_inner_mut();
        reactor.poll(&mut self.events, Some(Duration::ZERO))
    }

    /// The samples that came, and whether there may be more; or why one cannot be
    /// had, the others staying.
    pub(super) fn take(&mut self) -> Result<(Vec<Arrived>, bool), String> {
        let any = ReadCondition::any();
        let taken = self.reader.take(SAMPLES_PER_TURN, any);
        let taken = taken.map_err(|error| error.to_string())?;
        let more = taken.len() == SAMPLES_PER_TURN;
        let but = self.but.map(|participant| participant.prefix);
        let foreign = taken.into_iter().filter_map(|sample| {
            let writer = sample.sample_info().writer_guid();
            match sample.into_value() {
                Sample::Value(sample) if Some(writer.prefix) != but => {
                    Some(Arrived { writer, sample })
                }
                // One's own, and instances disposed of: a datastream does not end with its writer.
                _ => None,
            }
        });
        Ok((foreign.collect(), more))
    }

    /// The same for who tells nobody but its log of a sample that cannot be had.
    pub(super) async fn take_rest(&mut self) -> (Vec<Arrived>, bool) {
        match self.take() {
            Ok(taken) => {
                self.set_aside = 0;
                taken
            }
            Err(reason) => {
                // Of a series the first is told.
                if self.set_aside == 0 {
                    tracing::warn!("DDS: a sample is set aside: {reason}");
                }
                self.set_aside += 1;
                // Whoever writes such samples without end does not hold up the thread's others; where it is no
                // sample's fault, nothing else comes.
                if self.set_aside < SET_ASIDE_AT_ONCE_MAX {
                    tokio::task::yield_now().await
                } else {
                    tokio::time::sleep(SET_ASIDE_REST).await
                }
                (Vec::new(), true)
            }
        }
    }

    /// What the stack says of the reader.
    pub(super) fn status(&self) -> Option<DataReaderStatus> {
        self.reader.try_recv_status()
    }
}
