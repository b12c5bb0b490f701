//! Datagrams on their way between a socket and an endpoint: opened before, closed behind.
//!
//! What it deliberately does not do: exchanges. The decision worth arguing: a request that is repeated gets
//! the very bytes that answered it, from here; asked again, the endpoint might do it again.

use super::context::Context;
use super::header::{Header, PartialIv};
use super::numbers::Numbers;
use super::protect::{Binding, Fault};
use super::replay::Window;
use super::table::Table;
use super::{ContextId, OSCORE, Remote};
use crate::limits::{SECURED_OBSERVATIONS, SECURED_REQUESTS, SECURED_UNACKNOWLEDGED};
use crate::wire::{
    Code, Datagram, Kind, Message, Number, Token, parse_datagram, write_datagram, write_empty,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of an Echo of ours (RFC 9175 section 2.2.1).
const ECHO_BYTES: usize = 8;

/// A context in use.
#[derive(Debug)]
struct Entry {
    keys: Context,
    /// What of the peer was taken; none before it has shown that it is no replay of an earlier run.
    window: Mutex<Option<Window>>,
    /// What a peer must send back to show that; drawn anew in each run.
    echo: [u8; ECHO_BYTES],
}

/// All contexts of a process: shared by its sockets, since a peer may come to any of them.
#[derive(Debug)]
pub struct Contexts {
    entries: Vec<Entry>,
    /// Places of the entries by the peer's identifier.
    by_peer: BTreeMap<Vec<u8>, Vec<u32>>,
    numbers: Arc<Numbers>,
}

impl Contexts {
    /// These keys, each with what its peer must send back; `numbers` is the row of ours.
    pub fn new(keys: Vec<(Context, [u8; ECHO_BYTES])>, numbers: Arc<Numbers>) -> Self {
        let entry = |(keys, echo)| Entry {
            keys,
            window: Mutex::new(None),
            echo,
        };
        let entries: Vec<_> = keys.into_iter().map(entry).collect();
        let mut by_peer = BTreeMap::<_, Vec<_>>::new();
        for (place, entry) in (0..).zip(&entries) {
            let peer = entry.keys.peer_id().to_vec();
            by_peer.entry(peer).or_default().push(place);
        }
        Self {
            entries,
            by_peer,
            numbers,
        }
    }

    fn get(&self, id: ContextId) -> Option<&Entry> {
        self.entries.get(id.0 as usize)
    }

    /// The keys that a request names (RFC 8613 section 8.2 step 2).
    fn find(&self, header: &Header<'_>) -> Option<ContextId> {
        let places = self.by_peer.get(header.kid?)?;
        let fits = |place: &&u32| {
            let entry = self.get(ContextId(**place));
            let named = header.kid_context;
            named.is_none() || entry.is_some_and(|entry| entry.keys.id_context() == named)
        };
        places.iter().find(fits).copied().map(ContextId)
    }

    fn draw(&self) -> Option<PartialIv> {
        PartialIv::new(self.numbers.draw()?)
    }
}

/// What a datagram came to.
#[derive(Debug)]
pub enum Opened<A> {
    /// For the endpoint, as if it had come so from this peer.
    Taken(Remote<A>, Vec<u8>),
    /// For the endpoint, as it is, from this peer.
    Untouched(Remote<A>),
    /// Not for the endpoint; this goes back.
    Answer(Vec<u8>),
    /// Not for the endpoint, and not answered.
    Dropped,
}

/// A request that its responses are bound to.
#[derive(Clone, Debug)]
struct Bound {
    context: ContextId,
    binding: Binding,
    /// Its Message ID.
    id: u16,
    /// What answered it, as it left.
    answer: Option<Vec<u8>>,
    /// The request's own number may close one response.
    unused: bool,
}

/// A request of ours.
#[derive(Clone, Debug)]
struct Asked {
    context: ContextId,
    binding: Binding,
    /// What was told of it.
    told: Window,
    /// It as it left, to be sent again.
    sent: (u16, Message),
}

/// What one socket keeps of its secured peers.
#[derive(Debug)]
pub struct Guard<A> {
    contexts: Arc<Contexts>,
    requests: Table<(A, Token), Bound>,
    observations: Table<(A, Token), Bound>,
    calls: Table<(A, Token), Asked>,
    unacknowledged: Table<(A, u16), ContextId>,
    next_id: u16,
}

impl<A: Ord + Copy> Guard<A> {
    /// A guard with these contexts.
    pub fn new(contexts: Arc<Contexts>) -> Self {
        Self {
            contexts,
            requests: Table::new(SECURED_REQUESTS),
            observations: Table::new(SECURED_OBSERVATIONS),
            calls: Table::new(SECURED_REQUESTS),
            unacknowledged: Table::new(SECURED_UNACKNOWLEDGED),
            next_id: 0,
        }
    }

    /// Opens what came.
    pub fn open(&mut self, from: A, bytes: &[u8]) -> Opened<A> {
        let Ok(datagram) = parse_datagram(bytes) else {
            return Opened::Untouched(Remote::plain(from));
        };
        if datagram.code == Code::EMPTY {
            return Opened::Untouched(self.of_empty(from, &datagram));
        }
        let mut options = datagram.options.iter();
        let Some(option) = options.find(|option| option.number == OSCORE) else {
            return self.in_the_clear(from, &datagram);
        };
        let opened = if datagram.code.is_request() {
            self.open_request(from, &datagram, option.value)
        } else {
            self.open_response(from, &datagram, option.value)
        };
        opened.unwrap_or_else(|fault| refused(&datagram, fault))
    }

    /// Acknowledgements and resets are nobody's secret: they belong to what was sent.
    fn of_empty(&mut self, address: A, datagram: &Datagram<'_>) -> Remote<A> {
        let context = match datagram.kind {
            Kind::Acknowledgement | Kind::Reset => {
                self.unacknowledged.touch((address, datagram.id)).copied()
            }
            _ => None,
        };
        Remote { address, context }
    }

    /// A response in the clear to a request that was closed is believed only where it says that the
    /// request could not be opened (RFC 8613 section 8.4).
    // [RFC8613-8.4-2]
    fn in_the_clear(&mut self, address: A, datagram: &Datagram<'_>) -> Opened<A> {
        if datagram.code.is_request() {
            return Opened::Untouched(Remote::plain(address));
        }
        let Some(asked) = self.calls.touch((address, datagram.token)) else {
            return Opened::Untouched(Remote::plain(address));
        };
        let context = Some(asked.context);
        let told = matches!(
            datagram.code,
            Code::BAD_REQUEST | Code::UNAUTHORIZED | Code::BAD_OPTION
        );
        if told {
            Opened::Untouched(Remote { address, context })
        } else {
            Opened::Dropped
        }
    }

    // [RFC8613-8.2-1] [RFC8613-8.2-2] [RFC8613-8.2-3]
    fn open_request(
        &mut self,
        address: A,
        datagram: &Datagram<'_>,
        value: &[u8],
    ) -> Result<Opened<A>, Fault> {
        let header = Header::parse(value).ok_or(Fault::Malformed)?;
        if header.piv.is_none() || header.kid.is_none() {
            return Err(Fault::Malformed);
        }
        let contexts = self.contexts.clone();
        let id = contexts.find(&header).ok_or(Fault::Unknown)?;
        let entry = contexts.get(id).ok_or(Fault::Unknown)?;
        let (message, binding) = entry.keys.open_request(&datagram.to_message(), &header)?;
        let remote = Remote {
            address,
            context: Some(id),
        };
        match entry.take(&message, &binding) {
            Arrived::New => self.bind(remote, id, &message, binding, datagram.id),
            Arrived::Before => return self.again(address, datagram, &binding),
            Arrived::Unproved => return Ok(self.challenge(&contexts, entry, datagram, &binding)),
        }
        Ok(Opened::Taken(remote, written(datagram, &message)))
    }

    /// A request that came before: repeated, it is answered as it was, or not yet; else it is a replay.
    // [RFC8613-7.4-2]
    fn again(
        &mut self,
        address: A,
        datagram: &Datagram<'_>,
        binding: &Binding,
    ) -> Result<Opened<A>, Fault> {
        let bound = self.bound((address, datagram.token));
        let same = |bound: &&mut Bound| bound.id == datagram.id && bound.binding == *binding;
        let bound = bound.filter(same).ok_or(Fault::Replay)?;
        let answer = bound.answer.clone().map(Opened::Answer);
        Ok(answer.unwrap_or(Opened::Dropped))
    }

    fn bind(
        &mut self,
        remote: Remote<A>,
        context: ContextId,
        message: &Message,
        binding: Binding,
        id: u16,
    ) {
        let observes = message.options.uint(Number::OBSERVE) == Some(0);
        let bound = Bound {
            context,
            binding,
            id,
            answer: None,
            // Notifications follow: each has a number of its own, the first too.
            unused: !observes,
        };
        let key = (remote.address, message.token);
        self.observations.remove(key);
        if observes {
            self.observations.put(key, bound)
        } else {
            self.requests.put(key, bound)
        }
    }

    /// The first request of a run is answered with something to send back (RFC 8613 appendix B.1.2).
    // [RFC8613-7.5-1]
    fn challenge(
        &mut self,
        contexts: &Contexts,
        entry: &Entry,
        datagram: &Datagram<'_>,
        binding: &Binding,
    ) -> Opened<A> {
        let mut answer = Message::new(Code::UNAUTHORIZED);
        answer.token = datagram.token;
        answer.options.push(Number::ECHO, &entry.echo);
        let closed = contexts.draw().and_then(|piv| {
            let closed = entry.keys.close_response(&answer, binding, Some(piv));
            closed.map(|closed| self.answer(datagram, &closed))
        });
        closed.map_or(Opened::Dropped, Opened::Answer)
    }

    fn answer(&mut self, datagram: &Datagram<'_>, message: &Message) -> Vec<u8> {
        let mut out = Vec::new();
        let (kind, id) = match datagram.kind {
            Kind::Confirmable => (Kind::Acknowledgement, datagram.id),
            _ => {
                self.next_id = self.next_id.wrapping_add(1);
                (Kind::NonConfirmable, self.next_id)
            }
        };
        write_datagram(kind, id, message, &mut out);
        out
    }

    fn open_response(
        &mut self,
        address: A,
        datagram: &Datagram<'_>,
        value: &[u8],
    ) -> Result<Opened<A>, Fault> {
        let contexts = self.contexts.clone();
        let call = self.calls.touch((address, datagram.token));
        let asked = call.ok_or(Fault::Unknown)?;
        let entry = contexts.get(asked.context).ok_or(Fault::Unknown)?;
        let header = Header::parse(value).ok_or(Fault::Malformed)?;
        let outer = datagram.to_message();
        let (binding, told) = (&asked.binding, &mut asked.told);
        let message = entry.keys.open_response(&outer, &header, binding, told)?;
        let remote = Remote {
            address,
            context: Some(asked.context),
        };
        Ok(Opened::Taken(remote, written(datagram, &message)))
    }

    /// Closes what an endpoint sends; none where it cannot be closed and must not leave.
    pub fn close(&mut self, to: Remote<A>, bytes: &[u8]) -> Option<Vec<u8>> {
        let id = to.context?;
        let datagram = parse_datagram(bytes).ok()?;
        if datagram.kind == Kind::Confirmable {
            self.unacknowledged.put((to.address, datagram.id), id);
        }
        if datagram.code == Code::EMPTY {
            return Some(bytes.to_vec());
        }
        let contexts = self.contexts.clone();
        let entry = contexts.get(id)?;
        let message = datagram.to_message();
        let key = (to.address, datagram.token);
        let closed = if datagram.code.is_request() {
            self.close_request(&contexts, id, entry, datagram.id, (to.address, &message))
        } else {
            self.close_response(&contexts, id, entry, key, &message)
        };
        let closed = written(&datagram, &closed?);
        if datagram.kind == Kind::Acknowledgement
            && let Some(bound) = self.bound(key)
        {
            bound.answer = Some(closed.clone());
        }
        Some(closed)
    }

    /// The request that a response of ours answers.
    fn bound(&mut self, key: (A, Token)) -> Option<&mut Bound> {
        if self.observations.holds(key) {
            self.observations.touch(key)
        } else {
            self.requests.touch(key)
        }
    }

    /// A message that is sent again is the same message, whose answer may be on its way.
    fn close_request(
        &mut self,
        contexts: &Contexts,
        context: ContextId,
        entry: &Entry,
        id: u16,
        (to, message): (A, &Message),
    ) -> Option<Message> {
        let key = (to, message.token);
        if let Some(asked) = self.calls.touch(key)
            && asked.sent.0 == id
        {
            return Some(asked.sent.1.clone());
        }
        let (closed, binding) = entry.keys.close_request(message, contexts.draw()?)?;
        let asked = Asked {
            context,
            binding,
            told: Window::default(),
            sent: (id, closed.clone()),
        };
        self.calls.put(key, asked);
        Some(closed)
    }

    // [RFC8613-8.3-1] [RFC8613-5.2-2]
    fn close_response(
        &mut self,
        contexts: &Contexts,
        context: ContextId,
        entry: &Entry,
        key: (A, Token),
        message: &Message,
    ) -> Option<Message> {
        let bound = self.bound(key)?;
        if bound.context != context {
            return None;
        }
        let own = if std::mem::take(&mut bound.unused) {
            None
        } else {
            Some(contexts.draw()?)
        };
        entry.keys.close_response(message, &bound.binding, own)
    }
}

/// What is known of a request by its number.
enum Arrived {
    New,
    Before,
    /// It may be of an earlier run.
    Unproved,
}

impl Entry {
    // [RFC8613-7.4-1] [RFC8613-7.5-2]
    fn take(&self, message: &Message, binding: &Binding) -> Arrived {
        let sequence = binding.sequence();
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *window {
            Some(window) => {
                if window.take(sequence) {
                    Arrived::New
                } else {
                    Arrived::Before
                }
            }
            None => {
                let sent_back = message.options.first(Number::ECHO) == Some(&self.echo);
                if !sent_back {
                    return Arrived::Unproved;
                }
                *window = Some(Window::after(sequence));
                Arrived::New
            }
        }
    }
}

/// The same message to the message layer, with other contents.
fn written(datagram: &Datagram<'_>, message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    write_datagram(datagram.kind, datagram.id, message, &mut out);
    out
}

/// What cannot be opened is answered in the clear, where it is a request that wants an answer; a response
/// is rejected.
fn refused<A>(datagram: &Datagram<'_>, fault: Fault) -> Opened<A> {
    let mut out = Vec::new();
    match (datagram.kind, datagram.code.is_request()) {
        (Kind::Confirmable, true) => {
            let mut answer = fault.answer();
            answer.token = datagram.token;
            write_datagram(Kind::Acknowledgement, datagram.id, &answer, &mut out);
        }
        (Kind::Confirmable, false) => write_empty(Kind::Reset, datagram.id, &mut out),
        _ => return Opened::Dropped,
    }
    Opened::Answer(out)
}
