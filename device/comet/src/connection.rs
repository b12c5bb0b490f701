//! A connection: 16 bytes.
//!
//! What is not here is computed: the peer's address is interned ([`crate::hosts`]), what is unacknowledged
//! is regenerated from the ring or the page, the sequence number of what comes next is the first
//! unacknowledged one and the length of that.

use crate::time::Milliseconds;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Phase {
    /// Nothing: the record is free.
    Free = 0,
    /// Waits for a request, or reads one.
    Reading = 1,
    /// Sends a response that ends.
    Answering = 2,
    /// A long poll waits for a notification.
    Waiting = 3,
    /// A listener whose head is not acknowledged yet.
    Opening = 4,
    /// A listener.
    Streaming = 5,
    /// Ends: see [`Ending`].
    Ending = 6,
    /// No connection, but a registration of CoAP: see [`Observer`].
    Observing = 7,
}

/// How far an ending connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum Ending {
    /// Our FIN is to be sent.
    Fin = 0,
    /// Our FIN is sent: FIN-WAIT-1, CLOSING or LAST-ACK, by whether the peer's came.
    FinSent = 1,
    /// Our FIN is acknowledged, the peer's not here: FIN-WAIT-2.
    FinTaken = 2,
    /// A reset is to be sent.
    Reset = 3,
}

/// Who asked for a topic by CoAP, and how.
pub(crate) struct Observer {
    pub(crate) topic: u8,
    pub(crate) token: [u8; 8],
    pub(crate) token_bytes: u8,
    /// Asked with a confirmable message, and is notified with such.
    pub(crate) is_confirmable: bool,
    /// Registered; otherwise only answered.
    pub(crate) stays: bool,
}

/// The record.
#[derive(Clone, Copy)]
pub(crate) struct Connection {
    /// First sequence number that is not acknowledged (SND.UNA).
    pub(crate) una: u32,
    /// Next sequence number of the peer (RCV.NXT).
    pub(crate) received: u32,
    /// The peer's port.
    pub(crate) port: u16,
    state: u16,
    /// Where it is in what it sends: by phase, below.
    place: u16,
    /// Number of the peer's address.
    pub(crate) host: u8,
    timer: u8,
}

const _: () = assert!(size_of::<Connection>() == 16);

/// Some bits of a word.
struct Bits(u32, u32);

impl Bits {
    const fn mask(&self) -> u32 {
        (1 << self.1) - 1
    }

    #[inline(always)]
    const fn of(&self, word: u16) -> u16 {
        (word as u32 >> self.0 & self.mask()) as u16
    }

    fn set(&self, word: &mut u16, value: u16) {
        let (kept, new) = (u32::from(*word), u32::from(value));
        *word = (kept & !(self.mask() << self.0) | (new & self.mask()) << self.0) as u16;
    }
}

// The state.
const PHASE: Bits = Bits(0, 3);
const WINDOW: Bits = Bits(3, 3);
const DUPLICATES: Bits = Bits(6, 2);
const TASK: Bits = Bits(8, 5);
const FIN: Bits = Bits(13, 1);
const CLOSE: Bits = Bits(14, 1);
const DUE: Bits = Bits(15, 1);

// The place of a listener: bytes acknowledged of the oldest unit (the head, or a slot), units that were
// sent, the oldest slot.
const OFFSET: Bits = Bits(0, 8);
const SENT: Bits = Bits(8, 4);
const FIRST: Bits = Bits(12, 4);

// The place of an answer: bytes acknowledged, for a notification its slot, segments sent, HEAD.
const POSITION: Bits = Bits(0, 13);
const VALUE_POSITION: Bits = Bits(0, 9);
const SLOT: Bits = Bits(9, 4);
const FLIGHT: Bits = Bits(13, 2);
const HEAD: Bits = Bits(15, 1);

// The state of an observer; its place is the message that was sent last, its numbers are the token.
const TOKEN_BYTES: Bits = Bits(3, 4);
const AWAITS: Bits = Bits(7, 1);
const CONFIRMABLE: Bits = Bits(13, 1);
const NEWS: Bits = Bits(14, 1);

/// The place of an ending: which, and what was in flight when it was reset.
const RESET_SHIFT: u32 = 2;

/// Units that a listener may have unacknowledged.
pub(crate) const SENT_MAX: u8 = 15;
/// Duplicates that mean a loss (RFC 5681 section 3.2); from then on the connection recovers.
const RECOVERING: u16 = 3;
/// A task from here on is a status instead of a resource.
pub(crate) const STATUS: u8 = 16;
/// The bit of a listener's task that means server-sent events.
const EVENTS: u8 = 16;

impl Connection {
    pub(crate) const FREE: Self = Self {
        una: 0,
        received: 0,
        port: 0,
        state: 0,
        place: 0,
        host: 0,
        timer: 0,
    };

    pub(crate) fn new(host: u8, port: u16, una: u32, received: u32) -> Self {
        let mut connection = Self {
            una,
            received,
            port,
            host,
            ..Self::FREE
        };
        PHASE.set(&mut connection.state, Phase::Reading as u16);
        connection
    }

    pub(crate) fn phase(&self) -> Phase {
        match PHASE.of(self.state) {
            1 => Phase::Reading,
            2 => Phase::Answering,
            3 => Phase::Waiting,
            4 => Phase::Opening,
            5 => Phase::Streaming,
            6 => Phase::Ending,
            7 => Phase::Observing,
            _ => Phase::Free,
        }
    }

    /// The record of an observer that is to be sent the newest at once.
    pub(crate) fn observer(host: u8, port: u16, observer: &Observer) -> Self {
        let token = u64::from_be_bytes(observer.token);
        let mut connection = Self::new(host, port, (token >> 32) as u32, token as u32);
        connection.become_phase(Phase::Observing);
        let stays = if observer.stays { EVENTS } else { 0 };
        TASK.set(&mut connection.state, u16::from(observer.topic | stays));
        TOKEN_BYTES.set(&mut connection.state, observer.token_bytes.into());
        CONFIRMABLE.set(&mut connection.state, observer.is_confirmable.into());
        connection.set_news(true);
        connection.set_due(true);
        connection
    }

    /// The observer's token, with zeros behind it.
    pub(crate) fn token(&self) -> [u8; 8] {
        (u64::from(self.una) << 32 | u64::from(self.received)).to_be_bytes()
    }

    pub(crate) fn token_bytes(&self) -> u8 {
        TOKEN_BYTES.of(self.state) as u8
    }

    pub(crate) fn is_confirmable(&self) -> bool {
        CONFIRMABLE.of(self.state) != 0
    }

    /// Whether it is sent what comes, or is forgotten once it is answered.
    pub(crate) fn stays(&self) -> bool {
        self.is_events()
    }

    /// A confirmable message is on its way.
    pub(crate) fn awaits(&self) -> bool {
        AWAITS.of(self.state) != 0
    }

    pub(crate) fn set_awaits(&mut self, awaits: bool) {
        AWAITS.set(&mut self.state, u16::from(awaits));
    }

    /// There is something newer than what was sent.
    pub(crate) fn has_news(&self) -> bool {
        NEWS.of(self.state) != 0
    }

    pub(crate) fn set_news(&mut self, has_news: bool) {
        NEWS.set(&mut self.state, u16::from(has_news));
    }

    pub(crate) fn message_id(&self) -> u16 {
        self.place
    }

    pub(crate) fn set_message_id(&mut self, id: u16) {
        self.place = id;
    }

    /// Whether the message that was sent last has this identifier.
    pub(crate) fn is_sent(&self, id: u16) -> bool {
        self.place == id && (self.awaits() || !self.has_news())
    }

    fn become_phase(&mut self, phase: Phase) {
        PHASE.set(&mut self.state, phase as u16);
        DUPLICATES.set(&mut self.state, 0);
        self.place = 0;
    }

    /// Waits for the next request.
    pub(crate) fn read(&mut self) {
        self.become_phase(Phase::Reading);
    }

    /// Sends a response: a resource, of a topic the notification in `slot`, or a status.
    pub(crate) fn answer(&mut self, task: u8, slot: u8, is_head: bool) {
        self.become_phase(Phase::Answering);
        TASK.set(&mut self.state, u16::from(task));
        SLOT.set(&mut self.place, u16::from(slot));
        HEAD.set(&mut self.place, u16::from(is_head));
    }

    /// Waits for a notification of the topic.
    pub(crate) fn wait(&mut self, topic: u8) {
        self.become_phase(Phase::Waiting);
        TASK.set(&mut self.state, u16::from(topic));
    }

    /// Sends all notifications of the topic, from `slot` on.
    pub(crate) fn listen(&mut self, topic: u8, is_events: bool, slot: u8) {
        self.become_phase(Phase::Opening);
        let events = if is_events { EVENTS } else { 0 };
        TASK.set(&mut self.state, u16::from(topic | events));
        FIRST.set(&mut self.place, u16::from(slot));
    }

    /// The head is acknowledged.
    pub(crate) fn opened(&mut self) {
        PHASE.set(&mut self.state, Phase::Streaming as u16);
    }

    pub(crate) fn end(&mut self, ending: Ending) {
        self.become_phase(Phase::Ending);
        self.place = ending as u16;
    }

    /// Ends with resets: behind so many sequence numbers that may have arrived, then before them.
    #[inline(always)]
    pub(crate) fn reset(&mut self, in_flight: u32) {
        self.end(Ending::Reset);
        self.place |= (in_flight as u16) << RESET_SHIFT;
    }

    /// Sequence numbers that may have arrived when it was reset.
    pub(crate) fn reset_behind(&self) -> u32 {
        u32::from(self.place >> RESET_SHIFT)
    }

    pub(crate) fn ending(&self) -> Option<Ending> {
        match (self.phase(), self.place & ((1 << RESET_SHIFT) - 1)) {
            (Phase::Ending, 0) => Some(Ending::Fin),
            (Phase::Ending, 1) => Some(Ending::FinSent),
            (Phase::Ending, 2) => Some(Ending::FinTaken),
            (Phase::Ending, _) => Some(Ending::Reset),
            _ => None,
        }
    }

    /// The resource or status of an answer.
    pub(crate) fn task(&self) -> u8 {
        TASK.of(self.state) as u8
    }

    /// The topic that is waited for or listened to.
    pub(crate) fn topic(&self) -> u8 {
        self.task() & (EVENTS - 1)
    }

    pub(crate) fn is_events(&self) -> bool {
        self.task() & EVENTS != 0
    }

    /// The peer's window, bytes; rounded down to a power of two, 4096 for all above.
    #[inline(never)]
    pub(crate) fn window(&self) -> u32 {
        match WINDOW.of(self.state) {
            0 => 0,
            level => 32 << level,
        }
    }

    pub(crate) fn set_window(&mut self, window: u16) {
        let level = match window >> 6 {
            0 => 0,
            units => (units.ilog2() as u16 + 1).min(7),
        };
        WINDOW.set(&mut self.state, level);
    }

    /// Counts a duplicate acknowledgement; says whether it is the one that means a loss.
    pub(crate) fn duplicate(&mut self) -> bool {
        let duplicates = DUPLICATES.of(self.state);
        if duplicates == RECOVERING {
            return false;
        }
        DUPLICATES.set(&mut self.state, duplicates + 1);
        duplicates + 1 == RECOVERING
    }

    /// Whether something was lost and what was sent goes again.
    pub(crate) fn is_recovering(&self) -> bool {
        DUPLICATES.of(self.state) == RECOVERING
    }

    pub(crate) fn set_recovering(&mut self, is_recovering: bool) {
        let duplicates = if is_recovering { RECOVERING } else { 0 };
        DUPLICATES.set(&mut self.state, duplicates);
    }

    /// The peer's FIN was received.
    pub(crate) fn is_half_closed(&self) -> bool {
        FIN.of(self.state) != 0
    }

    pub(crate) fn half_close(&mut self) {
        FIN.set(&mut self.state, 1);
    }

    /// The connection ends with the answer.
    pub(crate) fn closes(&self) -> bool {
        CLOSE.of(self.state) != 0
    }

    pub(crate) fn set_closes(&mut self) {
        CLOSE.set(&mut self.state, 1);
    }

    /// A segment must go: an acknowledgement, or what is lost again.
    pub(crate) fn is_due(&self) -> bool {
        DUE.of(self.state) != 0
    }

    pub(crate) fn set_due(&mut self, is_due: bool) {
        DUE.set(&mut self.state, u16::from(is_due));
    }

    pub(crate) fn first(&self) -> u8 {
        FIRST.of(self.place) as u8
    }

    pub(crate) fn set_first(&mut self, slot: u8) {
        FIRST.set(&mut self.place, u16::from(slot));
    }

    pub(crate) fn sent(&self) -> u8 {
        SENT.of(self.place) as u8
    }

    pub(crate) fn set_sent(&mut self, units: u8) {
        SENT.set(&mut self.place, u16::from(units));
    }

    pub(crate) fn offset(&self) -> usize {
        usize::from(OFFSET.of(self.place))
    }

    pub(crate) fn set_offset(&mut self, bytes: usize) {
        OFFSET.set(&mut self.place, bytes as u16);
    }

    pub(crate) fn slot(&self) -> u8 {
        SLOT.of(self.place) as u8
    }

    pub(crate) fn is_head(&self) -> bool {
        HEAD.of(self.place) != 0
    }

    /// Bytes of the answer that are acknowledged; a notification's answer is short.
    pub(crate) fn position(&self, is_value: bool) -> usize {
        let bits = if is_value { VALUE_POSITION } else { POSITION };
        usize::from(bits.of(self.place))
    }

    pub(crate) fn set_position(&mut self, is_value: bool, bytes: usize) {
        let bits = if is_value { VALUE_POSITION } else { POSITION };
        bits.set(&mut self.place, bytes as u16);
    }

    /// Segments of the answer that were sent and begin at or before what is acknowledged, or behind it.
    pub(crate) fn flight(&self) -> u16 {
        FLIGHT.of(self.place)
    }

    pub(crate) fn set_flight(&mut self, segments: u16) {
        FLIGHT.set(&mut self.place, segments);
    }

    /// Times that what is unacknowledged went again, or that a silent peer was probed.
    pub(crate) fn backoff(&self) -> u8 {
        self.timer >> 5
    }

    /// Starts the timer, in units of `1 << shift` milliseconds.
    pub(crate) fn start_timer(&mut self, now: Milliseconds, shift: u32, backoff: u8) {
        self.timer = (now >> shift) as u8 & 31 | backoff << 5;
    }

    /// Units since the timer was started, up to 31; the first one may be short.
    pub(crate) fn elapsed(&self, now: Milliseconds, shift: u32) -> u8 {
        ((now >> shift) as u8).wrapping_sub(self.timer) & 31
    }

    /// For a long poll: lets the timer stand at so many units from its end.
    pub(crate) fn shift_timer(&mut self, units: u8) {
        self.timer = self.timer & 0xe0 | self.timer.wrapping_add(units) & 31;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_never_taken_for_larger_than_it_is() {
        let mut connection = Connection::FREE;
        for (window, taken) in [
            (0, 0),
            (63, 0),
            (64, 64),
            (127, 64),
            (128, 128),
            (1_072, 1_024),
            (65_535, 4_096),
        ] {
            connection.set_window(window);
            assert_eq!(connection.window(), taken, "{window}");
        }
    }

    #[test]
    fn fields_do_not_touch_each_other() {
        let mut connection = Connection::new(7, 80, 1, 2);
        connection.listen(9, true, 13);
        connection.set_sent(SENT_MAX);
        connection.set_offset(200);
        connection.set_window(300);
        connection.set_due(true);
        connection.set_recovering(true);
        assert_eq!(
            (connection.first(), connection.sent(), connection.offset()),
            (13, 15, 200)
        );
        assert_eq!((connection.topic(), connection.is_events()), (9, true));
        assert_eq!(
            (connection.window(), connection.phase()),
            (256, Phase::Opening)
        );
        assert!(connection.is_due() && connection.is_recovering());
        assert!(!connection.closes() && !connection.is_half_closed());
        connection.answer(3, 11, true);
        connection.set_position(true, 400);
        connection.set_flight(3);
        assert_eq!((connection.slot(), connection.position(true)), (11, 400));
        assert!(connection.is_head() && connection.is_due() && connection.flight() == 3);
    }

    #[test]
    fn a_timer_counts_across_the_end_of_the_clock() {
        let mut connection = Connection::FREE;
        connection.start_timer(u32::MAX - 100, 8, 2);
        assert_eq!(connection.elapsed(u32::MAX - 100, 8), 0);
        assert_eq!(connection.elapsed(1_000, 8), 4);
        assert_eq!(connection.backoff(), 2);
    }
}
