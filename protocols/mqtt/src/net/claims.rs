//! Which gateway has which session, where gateways share a log.
//!
//! Three kinds of records of the log: a *claim* says whose session it is from there on (`mqtt.at/ID`), a
//! *state* what a gateway left of it and under which claim (`mqtt.of/GATEWAY/ID`), a *sign* that a gateway is
//! there (`mqtt.gateway/NAME`). The last claim counts, and the state under the latest claim.
//!
//! The decision worth arguing: no gateway writes where another does. One that was paused and goes on writes
//! its own state under its old claim, which nobody looks at any more; nothing has to be refused. So each
//! removes its own state, too, once another has left a later one; only what a gateway left that is gone is
//! removed by whoever has the session.

use super::record::{Reader, Stored, text};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use weir_model::{Cursor, Time};

const CLAIM: &str = "mqtt.at/";
const STATE: &str = "mqtt.of/";
const SIGN: &str = "mqtt.gateway/";
/// What the key of a session is where the log is this gateway's own, or was not shared like this yet.
const OWN: &str = "mqtt/";

/// A gateway is gone when this one has given so many signs, one after the other, since its last one. Counted so
/// and not by a clock, none is when the log stood still, or this gateway did.
pub(super) const SIGNS: u32 = 6;

/// What the log's records say of sessions.
pub(super) struct Claims {
    me: Arc<str>,
    world: Mutex<World>,
}

#[derive(Default)]
struct World {
    sessions: BTreeMap<Arc<str>, Claimed>,
    gateways: HashMap<Arc<str>, Sign>,
    /// How many signs this gateway has given, as the log has them.
    given: u32,
    /// Sessions that this gateway has claimed, to be looked at.
    claimed: Vec<Arc<str>>,
    /// Sessions of which more than one gateway has left something.
    doubled: BTreeSet<Arc<str>>,
}

/// When a gateway was last heard of: behind how many of this gateway's signs, and what it said.
struct Sign {
    behind: u32,
    said: Time,
}

#[derive(Default)]
struct Claimed {
    /// Whose it is, and where in the log that was said.
    holder: Option<(Arc<str>, Cursor)>,
    owner: Arc<str>,
    states: Vec<State>,
    /// Who waits for something about it.
    waiting: Vec<Waker>,
}

/// What a gateway left of a session.
#[derive(Clone)]
pub(super) struct State {
    pub(super) gateway: Arc<str>,
    pub(super) claim: Cursor,
    bytes: Bytes,
}

/// What a key names.
enum Key<'a> {
    Claim(&'a str),
    State(&'a str, &'a str),
    Sign(&'a str),
}

impl<'a> Key<'a> {
    fn read(key: &'a str) -> Option<Self> {
        if let Some(id) = key.strip_prefix(CLAIM) {
            return Some(Key::Claim(id));
        }
        if let Some(rest) = key.strip_prefix(STATE) {
            return rest.split_once('/').map(|(of, id)| Key::State(of, id));
        }
        if let Some(name) = key.strip_prefix(SIGN) {
            return Some(Key::Sign(name));
        }
        key.strip_prefix(OWN).map(|id| Key::State("", id))
    }
}

/// The key of what a gateway left of a session; of a time when gateways had no names, without.
fn state_key(gateway: &str, id: &str) -> String {
    match gateway {
        "" => own_key(id),
        gateway => format!("{STATE}{gateway}/{id}"),
    }
}

/// The key of a session's record where the log is this gateway's own.
pub(super) fn own_key(id: &str) -> String {
    format!("{OWN}{id}")
}

impl State {
    fn read(gateway: &str, bytes: &Bytes) -> Option<Self> {
        let (claim, bytes) = match gateway {
            "" => (Cursor::START, bytes.clone()),
            _ => {
                let claim = Reader { bytes }.u64()?;
                (Cursor::from_bits(claim), bytes.slice(8..))
            }
        };
        let gateway = gateway.into();
        Some(Self {
            gateway,
            claim,
            bytes,
        })
    }

    /// The session, if the record is whole.
    pub(super) fn stored(&self) -> Option<Box<Stored>> {
        Stored::read(&self.bytes).map(Box::new)
    }
}

impl Claims {
    pub(super) fn new(me: &str) -> Self {
        Self {
            me: me.into(),
            world: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A claim: its record.
    pub(super) fn claim(&self, id: &str, owner: &str) -> (String, Bytes) {
        let mut out = Vec::new();
        text(&mut out, &self.me);
        text(&mut out, owner);
        (format!("{CLAIM}{id}"), out.into())
    }

    /// What this gateway leaves of a session: its record.
    pub(super) fn state(&self, id: &str, claim: Cursor, stored: &Stored) -> (String, Bytes) {
        let mut out = claim.bits().to_le_bytes().to_vec();
        out.extend_from_slice(&stored.write());
        (state_key(&self.me, id), out.into())
    }

    /// A sign: its record.
    pub(super) fn sign(&self, now: Time) -> (String, Bytes) {
        let said = Bytes::copy_from_slice(&now.nanos().to_le_bytes());
        (format!("{SIGN}{}", self.me), said)
    }

    /// All records of a session that is over; where it is another gateway's, what this one has left of it.
    pub(super) fn keys_of(&self, id: &str) -> Vec<String> {
        let world = self.lock();
        let of = world.sessions.get(id);
        let Some(of) = of.filter(|of| of.is_held_by(&self.me)) else {
            return vec![state_key(&self.me, id)];
        };
        let states = of.states.iter().map(|of| state_key(&of.gateway, id));
        states.chain([format!("{CLAIM}{id}")]).collect()
    }

    /// Says whether no gateway has the session.
    pub(super) fn is_nobodys(&self, id: &str) -> bool {
        let world = self.lock();
        world.sessions.get(id).is_none_or(|of| of.holder.is_none())
    }

    /// Takes a record; gives back the session that another gateway has from there on.
    pub(super) fn take(&self, at: Cursor, key: &str, bytes: &Bytes) -> Option<Arc<str>> {
        let mut world = self.lock();
        match Key::read(key)? {
            Key::Claim(id) => world.take_claim(&self.me, at, id, bytes),
            Key::State(gateway, id) => {
                world.take_state(gateway, id, bytes);
                None
            }
            Key::Sign(name) => {
                world.take_sign(&self.me, name, bytes);
                None
            }
        }
    }

    /// Says whether this is the gateway of that name.
    pub(super) fn is_me(&self, gateway: &str) -> bool {
        *gateway == *self.me
    }

    /// Says whether the log knows of a session of this client.
    pub(super) fn is_known(&self, id: &str) -> bool {
        self.lock().sessions.contains_key(id)
    }

    /// Says whether the session is another principal's.
    pub(super) fn is_anothers(&self, id: &str, owner: &str) -> bool {
        let world = self.lock();
        let claimed = |of: &&Claimed| of.holder.is_some();
        let of = world.sessions.get(id).filter(claimed);
        of.is_some_and(|of| *of.owner != *owner)
    }

    /// Where this gateway claimed the session, if no other has since.
    pub(super) fn held_since(&self, id: &str) -> Option<Cursor> {
        let world = self.lock();
        let (holder, since) = world.sessions.get(id)?.holder.as_ref()?;
        (**holder == *self.me).then_some(*since)
    }

    /// What is left of a session that this gateway has claimed, once the one before has let it go or is
    /// gone.
    pub(super) fn poll_left(&self, id: &str, cx: &mut Context<'_>) -> Poll<Option<State>> {
        let mut world = self.lock();
        let Some(latest) = world.latest(id) else {
            return Poll::Ready(None);
        };
        let is_mine = *latest.gateway == *self.me;
        let is_left = || latest.stored().is_none_or(|of| of.left.is_some());
        if is_mine || self.is_gone(&world, &latest.gateway) || is_left() {
            return Poll::Ready(Some(latest));
        }
        if let Some(of) = world.sessions.get_mut(id) {
            of.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// The same without waiting.
    pub(super) fn latest(&self, id: &str) -> Option<State> {
        self.lock().latest(id)
    }

    /// Nobody here goes on with a session that was claimed: it is looked after.
    pub(super) fn abandoned(&self, id: &Arc<str>) {
        self.lock().claimed.push(id.clone());
    }

    /// When a gateway said last that it is there.
    pub(super) fn last_sign(&self, gateway: &str) -> Option<Time> {
        self.lock().gateways.get(gateway).map(|sign| sign.said)
    }

    fn is_gone(&self, world: &World, gateway: &str) -> bool {
        let behind = world.gateways.get(gateway).map_or(0, |sign| sign.behind);
        *gateway != *self.me && world.given - behind >= SIGNS
    }

    /// Keys of states of a session that no gateway will look at any more, as who has it has left the latest,
    /// and that are this one's to remove.
    fn superseded(&self, world: &World, id: &str) -> Vec<String> {
        let latest = world.latest(id).map(|of| of.gateway);
        let of = world.sessions.get(id).zip(latest);
        let Some((of, latest)) = of.filter(|(of, latest)| of.is_held_by(latest)) else {
            return Vec::new();
        };
        let is_my_part = |of: &&State| {
            if *latest == *self.me {
                *of.gateway != *self.me && self.is_gone(world, &of.gateway)
            } else {
                *of.gateway == *self.me
            }
        };
        let states = of.states.iter().filter(is_my_part);
        states.map(|of| state_key(&of.gateway, id)).collect()
    }

    /// Sessions whose gateway is gone, where this one is the first by name of those that are not: client
    /// identifiers and principals.
    pub(super) fn orphans(&self) -> Vec<(Arc<str>, Arc<str>)> {
        let world = self.lock();
        let mut others = world.gateways.keys();
        if others.any(|name| **name < *self.me && !self.is_gone(&world, name)) {
            return Vec::new();
        }
        let is_orphan = |of: &Claimed| match &of.holder {
            Some((holder, _)) => self.is_gone(&world, holder),
            None => !of.states.is_empty() && self.is_gone(&world, ""),
        };
        let all = world.sessions.iter().filter(|(_, of)| is_orphan(of));
        all.map(|(id, of)| (id.clone(), of.owner_of())).collect()
    }

    /// All sessions that this gateway has.
    pub(super) fn mine(&self) -> Vec<Arc<str>> {
        let world = self.lock();
        let all = world.sessions.iter();
        let mine = all.filter(|(_, of)| of.is_held_by(&self.me));
        mine.map(|(id, _)| id.clone()).collect()
    }

    /// Sessions that this gateway has claimed since the last time.
    pub(super) fn take_claimed(&self) -> Vec<Arc<str>> {
        std::mem::take(&mut self.lock().claimed)
    }

    /// Keys of records that are of no use any more, of now.
    pub(super) fn take_stale(&self) -> Vec<String> {
        let mut world = self.lock();
        let doubled = std::mem::take(&mut world.doubled);
        let keys = doubled.iter().map(|id| self.superseded(&world, id));
        let mut stale: Vec<String> = keys.flatten().collect();
        // Those of others may be theirs to remove, or nobody's yet.
        let is_doubled = |id: &Arc<str>| world.sessions.get(id).is_some_and(Claimed::is_doubled);
        world.doubled = doubled.into_iter().filter(is_doubled).collect();
        // A gateway that is gone and has nothing any more.
        let held = |name: &str| {
            let mut all = world.sessions.values();
            all.any(|of| of.is_held_by(name) || of.states.iter().any(|of| *of.gateway == *name))
        };
        let names = world.gateways.keys();
        let idle = names.filter(|name| self.is_gone(&world, name) && !held(name));
        stale.extend(idle.map(|name| format!("{SIGN}{name}")));
        stale
    }
}

impl Claimed {
    fn is_held_by(&self, name: &str) -> bool {
        self.holder
            .as_ref()
            .is_some_and(|(holder, _)| **holder == *name)
    }

    /// The principal, who is in the state where nobody has claimed it yet.
    fn owner_of(&self) -> Arc<str> {
        match (&self.holder, self.states.first().and_then(State::stored)) {
            (None, Some(stored)) => stored.owner.into(),
            _ => self.owner.clone(),
        }
    }

    fn is_doubled(&self) -> bool {
        self.states.len() > 1
    }

    fn wake(&mut self) {
        std::mem::take(&mut self.waiting)
            .into_iter()
            .for_each(Waker::wake);
    }
}

impl World {
    fn latest(&self, id: &str) -> Option<State> {
        let states = self.sessions.get(id)?.states.iter();
        states.max_by_key(|of| of.claim).cloned()
    }

    fn take_claim(&mut self, me: &str, at: Cursor, id: &str, bytes: &Bytes) -> Option<Arc<str>> {
        let id: Arc<str> = id.into();
        let of = self.sessions.entry(id.clone()).or_default();
        of.wake();
        let mut from = Reader { bytes };
        let Some((holder, owner)) = from.text().zip(from.text()) else {
            // Its last holder has ended it; whoever has claimed it since claims it again.
            if of.is_held_by(me) {
                self.claimed.push(id.clone());
            }
            of.holder = None;
            self.tidy(&id);
            return None;
        };
        of.owner = owner.into();
        of.holder = Some((holder.as_str().into(), at));
        if holder == me {
            self.claimed.push(id);
            return None;
        }
        Some(id)
    }

    fn take_state(&mut self, gateway: &str, id: &str, bytes: &Bytes) {
        let id: Arc<str> = id.into();
        let of = self.sessions.entry(id.clone()).or_default();
        of.wake();
        of.states.retain(|of| *of.gateway != *gateway);
        of.states.extend(State::read(gateway, bytes));
        if of.is_doubled() {
            self.doubled.insert(id.clone());
        }
        self.tidy(&id);
    }

    /// Forgets a session of which nothing is there.
    fn tidy(&mut self, id: &str) {
        let nothing = |of: &Claimed| of.holder.is_none() && of.states.is_empty();
        if self.sessions.get(id).is_some_and(nothing) {
            self.sessions.remove(id);
        }
    }

    fn take_sign(&mut self, me: &str, name: &str, bytes: &Bytes) {
        self.given += u32::from(name == me);
        let Some(said) = (Reader { bytes }).u64() else {
            self.gateways.remove(name);
            return;
        };
        let said = Time::from_nanos(said.cast_signed());
        let behind = self.given;
        self.gateways.insert(name.into(), Sign { behind, said });
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::session;

    fn at(sequence: u64) -> Cursor {
        Cursor::new(1, sequence)
    }

    fn stored(left: bool) -> Stored {
        Stored {
            owner: "ann".into(),
            expiry_secs: 9,
            left: left.then(|| Time::from_nanos(1)),
            subscriptions: Vec::new(),
            state: session::State::default(),
            will: None,
            connection: Cursor::START,
            receipts: Vec::new(),
            claim: Cursor::START,
            put_off: None,
            doubtful: Cursor::START,
        }
    }

    /// Gateways `a`, `b` and `c`, which all take the same records.
    struct Trio([Claims; 3], u64);

    impl Trio {
        fn new() -> Self {
            Self(["a", "b", "c"].map(Claims::new), 0)
        }

        /// Says whom the record costs the session.
        fn log(&mut self, (key, bytes): (String, Bytes)) -> Vec<bool> {
            self.1 += 1;
            let take = |of: &Claims| of.take(at(self.1), &key, &bytes).is_some();
            self.0.iter().map(take).collect()
        }

        fn claim(&mut self, of: usize) -> Cursor {
            self.log(self.0[of].claim("x", "ann"));
            at(self.1)
        }

        fn leave(&mut self, of: usize, claim: Cursor, left: bool) {
            self.log(self.0[of].state("x", claim, &stored(left)));
        }

        fn latest(&self) -> Vec<String> {
            let name = |of: &Claims| of.latest("x").unwrap().gateway.to_string();
            self.0.iter().map(name).collect()
        }
    }

    #[test]
    fn the_later_claim_has_the_session() {
        let mut trio = Trio::new();
        let first = trio.claim(0);
        trio.leave(0, first, false);
        let lost = trio.log(trio.0[1].claim("x", "ann"));
        assert_eq!(lost, [true, false, true]);
        let second = trio.0[1].held_since("x").unwrap();
        assert_eq!(trio.0[0].held_since("x"), None);
        trio.leave(1, second, false);
        // What the first writes late, paused meanwhile, changes nothing.
        trio.leave(0, first, true);
        assert_eq!(trio.latest(), ["b"; 3]);
        // And it removes that itself.
        assert!(trio.0[1].take_stale().is_empty());
        assert_eq!(trio.0[0].take_stale(), ["mqtt.of/a/x"]);
    }

    #[test]
    fn what_a_gateway_left_stays_until_the_next_leaves_something() {
        let mut trio = Trio::new();
        for of in [1, 0] {
            let claim = trio.claim(of);
            trio.leave(of, claim, true);
        }
        // The second has it again, and what it left before is older than what the first did.
        let claim = trio.claim(1);
        trio.leave(0, at(3), true);
        assert!(trio.0.iter().all(|of| of.take_stale().is_empty()));
        assert_eq!(trio.latest(), ["a"; 3]);
        trio.leave(1, claim, false);
        assert_eq!(trio.0[0].take_stale(), ["mqtt.of/a/x"]);
    }

    #[test]
    fn a_gateway_goes_on_with_the_latest_state_of_a_session() {
        let before = ["a", "b"].map(Claims::new);
        let claims = Claims::new("b");
        // As a start gives them: by key, and without their places.
        for (key, bytes) in [
            before[1].claim("x", "ann"),
            before[0].state("x", at(3), &stored(true)),
            before[1].state("x", at(1), &stored(true)),
        ] {
            claims.take(Cursor::START, &key, &bytes);
        }
        assert!(claims.take_stale().is_empty());
        assert_eq!(*claims.latest("x").unwrap().gateway, *"a");
    }

    #[test]
    fn what_is_left_of_a_gone_gateway_the_next_one_removes() {
        let mut trio = Trio::new();
        let first = trio.claim(0);
        trio.leave(0, first, false);
        let second = trio.claim(1);
        trio.leave(1, second, false);
        for _ in 0..SIGNS {
            assert!(trio.0[1].take_stale().is_empty());
            trio.log(trio.0[1].sign(Time::from_nanos(7)));
        }
        assert_eq!(trio.0[1].take_stale(), ["mqtt.of/a/x"]);
    }

    #[test]
    fn who_claims_waits_until_the_one_before_has_let_go_or_is_gone() {
        let mut trio = Trio::new();
        let mut cx = Context::from_waker(Waker::noop());
        let first = trio.claim(0);
        trio.leave(0, first, false);
        trio.claim(1);
        assert!(trio.0[1].poll_left("x", &mut cx).is_pending());
        for _ in 0..SIGNS {
            trio.log(trio.0[1].sign(Time::from_nanos(7)));
        }
        assert!(trio.0[1].poll_left("x", &mut cx).is_ready());
        trio.log(trio.0[0].sign(Time::from_nanos(8)));
        assert!(trio.0[1].poll_left("x", &mut cx).is_pending());
        trio.leave(0, first, true);
        assert!(trio.0[1].poll_left("x", &mut cx).is_ready());
    }

    #[test]
    fn the_first_of_those_there_looks_after_what_is_left() {
        let mut trio = Trio::new();
        let claim = trio.claim(2);
        trio.leave(2, claim, false);
        for round in 0..SIGNS {
            let orphans: Vec<_> = trio.0.iter().map(|of| of.orphans().len()).collect();
            assert_eq!(orphans, [0, 0, 0], "{round}");
            trio.log(trio.0[1].sign(Time::from_nanos(7)));
            trio.log(trio.0[0].sign(Time::from_nanos(7)));
        }
        let orphans: Vec<_> = trio.0.iter().map(|of| of.orphans().len()).collect();
        assert_eq!(orphans, [1, 0, 0]);
        let [(id, owner)] = &trio.0[0].orphans()[..] else {
            panic!("one session");
        };
        assert_eq!((&**id, &**owner), ("x", "ann"));
        // A gateway that has given no sign for as long knows nothing of the others, and looks after nobody.
        assert!(trio.0[2].orphans().is_empty());
    }

    #[test]
    fn a_session_of_another_user_is_not_to_be_had() {
        let mut trio = Trio::new();
        let claim = trio.claim(0);
        trio.leave(0, claim, true);
        assert!(trio.0[1].is_anothers("x", "bob") && !trio.0[1].is_anothers("x", "ann"));
        for key in trio.0[0].keys_of("x") {
            trio.log((key, Bytes::new()));
        }
        assert!(trio.0.iter().all(|of| !of.is_known("x")));
    }

    #[test]
    fn a_record_from_before_names_is_a_session_of_nobody() {
        let mut trio = Trio::new();
        trio.log((own_key("x"), stored(false).write()));
        assert_eq!(trio.latest(), [""; 3]);
        assert!(trio.0.iter().all(|of| of.is_nobodys("x")));
        let claim = trio.claim(1);
        trio.leave(1, claim, true);
        assert_eq!(trio.latest(), ["b"; 3]);
        for _ in 0..SIGNS {
            trio.log(trio.0[1].sign(Time::from_nanos(7)));
        }
        assert_eq!(trio.0[1].take_stale(), ["mqtt/x"]);
    }
}
