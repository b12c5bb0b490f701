//! What a peer may cost; reaching a limit refuses its request, with the limit named, and ends its stream only before
//! there are stanzas.

/// Bytes of one stanza, and of what stands before the first (RFC 6120 section 13.12 asks for such a limit,
/// of 10,000 bytes at least).
pub const STANZA_BYTES_MAX: usize = 1 << 20;
/// Bytes of one stanza that the component sends: less than what a server takes of one (Prosody 512 KiB), which ends the
/// stream of all users where there are more.
pub const SENT_BYTES_MAX: usize = 500_000;
/// Bytes of one item that a subscriber is sent: what is around it has room in the stanza.
pub const SENT_ITEM_BYTES_MAX: usize = 400_000;
/// Bytes of the items of one answer: the rest is asked for by a next page. A message that alone has more is told
/// without its payloads.
pub const PAGE_BYTES_MAX: usize = 450_000;
/// Bytes of an address (RFC 7622 section 3.1).
pub const JID_BYTES_MAX: usize = 3071;
/// Elements that are open at once within a stanza.
pub const DEPTH_MAX: u32 = 128;
/// Tags, attributes and texts of one stanza.
pub const NODES_MAX: u64 = 100_000;
/// Attributes of one element.
pub const ATTRIBUTES_MAX: u32 = 256;
/// Iterations of PBKDF2 that a server may ask for (RFC 5802 section 5.1): some seconds of a processor.
pub const ITERATIONS_MAX: u32 = 1_000_000;
/// Stanzas that wait for their acknowledgement (XEP-0198); with more, one is asked for before the next.
pub const UNACKNOWLEDGED_MAX: usize = 1024;
/// Subscriptions of XMPP users to the gateway's nodes.
pub const SUBSCRIPTIONS_MAX: usize = 4096;
/// Subscriptions of one user.
pub const SUBSCRIPTIONS_OF_ONE_MAX: usize = 256;
/// Items of one answer.
pub const ITEMS_MAX: usize = 100;
/// Records of the log that one request for items may look at.
pub const RECORDS_PER_REQUEST_MAX: u64 = 20_000;
/// Nodes of one answer of service discovery.
pub const NODES_PER_PAGE_MAX: usize = 200;
/// Bytes that may wait for the socket before nothing more is taken from the log.
pub const UNSENT_BYTES_MAX: usize = 256 << 10;
/// Publications, and subscriptions and other changes, whose place on disk is awaited at once.
pub const PENDING_MAX: usize = 4096;
/// Requests for items that are read at once.
pub const FETCHES_MAX: usize = 64;
