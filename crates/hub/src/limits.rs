//! The hub's limits; reaching one is a [`Fault`](crate::Fault) or a counted policy.

use core::time::Duration;

/// Bytes a group's queue may hold before its subscribers' policies act.
pub const QUEUE_BYTES_MAX: usize = 4 << 20;
/// Bytes of one chunk that a group hands to its subscribers.
pub const CHUNK_BYTES_MAX: usize = 64 << 10;
/// Filters in one subscription.
pub const FILTERS_MAX: usize = 1024;
/// Filters of all groups; with them the number of groups, each of which has one at least.
pub const FILTERS_HELD_MAX: usize = 1_000_000;
/// Filters of the groups that one principal's subscriptions began: as many as there may be connections.
pub const FILTERS_HELD_BY_ONE_MAX: usize = 200_000;
/// Datastreams in the catalog.
pub const DATASTREAMS_MAX: usize = 1_000_000;
/// Bytes of memory that a datastream takes beside its texts.
pub const ENTRY_BYTES: usize = 512;
/// Bytes that one message may make known of datastreams that are known: each is in the log once.
pub const LEARNED_BYTES_MAX: usize = 4 << 20;
/// Datastreams that one message may bring into being: some milliseconds under the hub's lock.
pub const NEW_DATASTREAMS_MAX: usize = 4096;
/// Longest name, sensor, type or unit of a datastream, bytes: the catalog keeps them in memory.
pub const NAME_BYTES_MAX: usize = 1024;
/// Idempotency keys remembered; the oldest is forgotten first.
pub const KEYS_MAX: usize = 1 << 20;
/// Longest idempotency key, bytes.
pub const KEY_BYTES_MAX: usize = 255;
/// For how long an idempotency key is remembered, nanoseconds (a day).
pub const KEY_AGE_NANOS: i64 = 86_400_000_000_000;
/// Bytes of messages that wait in memory for the history store; beyond, it reads the log instead.
pub const FEED_BYTES_MAX: usize = 64 << 20;
/// Comparisons of a topic with a filter in one hold of the hub's lock: some milliseconds.
pub const COMPARISONS_MAX: usize = 20_000;
/// Observations in one page of history.
pub const PAGE_OBSERVATIONS_MAX: usize = 10_000;
/// Windows that one aggregating group keeps open; beyond, the oldest closes before its time.
pub const WINDOWS_MAX: usize = 1 << 17;
/// Bytes of memory that an open window takes beside its last observation.
pub const WINDOW_BYTES: usize = 256;
/// Bytes of what goes with one message beside its body.
pub const ATTRIBUTES_BYTES_MAX: usize = 128 << 10;
/// Topics that messages are published at whose raw readers are remembered.
pub const PUBLISHED_ROUTES_MAX: usize = 1 << 16;
/// Entities that services describe beside datastreams.
pub const ENTITIES_MAX: usize = 1_000_000;
/// Entities put in one request.
pub const ENTITIES_OF_ONE_REQUEST_MAX: usize = 4096;
/// Bytes of one entity.
pub const ENTITY_BYTES_MAX: usize = 256 << 10;
/// Bytes of all entities.
pub const ENTITIES_BYTES_MAX: usize = 512 << 20;
/// Changes of descriptions that are remembered for who follows them.
pub const JOURNAL_MAX: usize = 1 << 14;
/// Observations of the past that were withdrawn.
pub const WITHDRAWN_MAX: usize = 1_000_000;
/// Bytes of what services know of a datastream beyond its core.
pub const ABOUT_BYTES_MAX: usize = 64 << 10;
/// Topics that have a retained message.
pub const RETAINED_MAX: usize = 1_000_000;
/// Bytes of memory of all retained messages.
pub const RETAINED_BYTES_MAX: usize = 512 << 20;
/// Retained messages that expire in one hold of the hub's lock.
pub const EXPIRIES_PER_TICK: usize = 1000;
/// Bytes of a queue where memory is tight.
pub const TIGHT_QUEUE_BYTES_MAX: usize = 256 << 10;
/// Bytes that taking a message in needs whatever it holds.
pub const WORK_BYTES_OF_MESSAGE: usize = 2048;
/// Bytes that are not worth counting: of an answer, or of what a connection holds of a message that is not whole.
pub const UNCOUNTED_BYTES_MAX: usize = 4 << 10;
/// For so long a message may be on its way where memory is short.
pub const PARTIAL_TIME_MAX: Duration = Duration::from_secs(10);
/// How often queues are cut to make room, nanoseconds.
pub const SHED_NANOS_MIN: i64 = 20_000_000;
/// Deliveries of one message that a trace shows.
pub const TRACED_DELIVERIES_MAX: u32 = 16;
/// Durable consumers: sessions, shared groups, bridges.
pub const CONSUMERS_MAX: usize = 200_000;
/// Bytes of what one durable consumer remembers.
pub const CONSUMER_BYTES_MAX: usize = 1 << 20;
/// Bytes of what all durable consumers remember.
pub const CONSUMERS_BYTES_MAX: usize = 256 << 20;
/// Bytes of a durable consumer's name.
pub const CONSUMER_KEY_BYTES_MAX: usize = 1024;
/// How long what nobody waits for stays uncommitted, nanoseconds: each commit takes the processor from
/// whoever waits for a message.
pub const UNASKED_NANOS_MAX: i64 = 50_000_000;
