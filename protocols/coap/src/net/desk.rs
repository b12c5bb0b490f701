//! What requests come to: asked of services, waited for, and told again where they are observed.
//!
//! What it deliberately does not do: bytes and sockets. Datagrams and streams drive the same desk over
//! their machines.

mod asking;
mod observing;

use super::known::{Known, may_be_known};
use super::nudge::Nudges;
use super::shared::Shared;
use super::translate::{code_of, message_of};
use super::watch::{Changes, Key, Seen, Watch, Watching, is_resume, missed, readable};
use crate::session::{ExchangeId, Incoming, ObservationId};
use crate::wire::{Code, Message, Number, path_of};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::task::{Context as Task, Poll, Waker};
use weir_binding::{Answer, Identity, Outcome, Pending, Response, Tally};
use weir_hub::Principal;
use weir_sansio::{Duration, Instant};

/// A machine that takes answers.
pub(super) trait Machine {
    /// Answers a request.
    fn respond(
        &mut self,
        now: Instant,
        exchange: ExchangeId,
        message: Message,
        observe: bool,
    ) -> Option<ObservationId>;

    /// Tells an observer.
    fn notify(&mut self, now: Instant, observation: ObservationId, message: Message);

    /// Says whether notifications may be made, or would only pile up.
    fn is_writable(&self) -> bool;
}

/// Who asks.
pub(super) enum Who {
    /// Its keys told.
    Known(Principal),
    /// A credential in the request may tell.
    Unknown {
        /// Whether it is on this machine.
        local: bool,
    },
}

/// A request that is being answered.
struct Asked {
    exchange: ExchangeId,
    message: Message,
    /// How it is watched, where it is observed.
    watching: Option<Watching>,
    /// Whether what it missed is told first, and it is watched from there on.
    resumes: bool,
}

enum Work {
    Check(Outcome<Result<Principal, String>>, Box<Asked>),
    Answer(Box<dyn Pending>, Box<Asked>, Principal, &'static str),
    Delayed(Message, Box<Asked>),
    Watch(Box<Watch>),
}

struct Waiting {
    work: Work,
    waker: Waker,
    deadline: Option<Instant>,
}

/// What is under way at a socket.
pub(super) struct Desk {
    shared: Shared,
    tally: Arc<Tally>,
    credential: Option<String>,
    waiting: Slab<Waiting>,
    watches: BTreeMap<ObservationId, usize>,
    sources: BTreeMap<Key, usize>,
    deadlines: BTreeSet<(Instant, usize)>,
    nudges: Arc<Nudges>,
    held: Vec<usize>,
    known: Known,
}

/// Between two looks at a resource of the plugtests that changes by itself.
const TICK: Duration = Duration::from_secs(5);

impl Desk {
    /// A desk; `credential` is what was presented when the link was opened.
    pub(super) fn new(shared: Shared, scheme: &'static str, credential: Option<String>) -> Self {
        Self {
            tally: shared.context.tally("coap", scheme),
            shared,
            credential,
            waiting: Slab::new(),
            watches: BTreeMap::new(),
            sources: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            nudges: Arc::default(),
            held: Vec::new(),
            known: Known::default(),
        }
    }

    /// When to be polled again though nothing moved.
    pub(super) fn deadline(&self) -> Instant {
        let first = self.deadlines.first();
        first.map_or(Instant::NEVER, |(at, _)| *at)
    }

    /// Has a request answered.
    pub(super) fn ask<A>(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        incoming: Incoming<A>,
        who: Who,
    ) {
        let Incoming {
            exchange,
            message,
            observe,
            ..
        } = incoming;
        let mut asked = Asked {
            exchange,
            message,
            watching: None,
            resumes: false,
        };
        if let Some(plugtest) = self.shared.plugtest.clone()
            && let path = path_of(&asked.message.options)
            && plugtest.holds(&path)
        {
            let answer = plugtest.answer(&path, &asked.message);
            if observe && asked.message.code == Code::GET {
                let version = plugtest.version(&path);
                asked.watching = version.map(|version| self.watch_plugtest(&asked, version));
            }
            return match plugtest.delay(&path) {
                None => self.answered(machine, now, asked, answer, None),
                Some(delay) => {
                    let work = Work::Delayed(answer, Box::new(asked));
                    self.wait(work, Some(now + delay));
                }
            };
        }
        if !observe {
            asked.message.options.remove(Number::OBSERVE);
        }
        match who {
            Who::Known(principal) => self.call(machine, now, asked, principal),
            Who::Unknown { local } => self.identify(machine, now, asked, local),
        }
    }

    fn identify(&mut self, machine: &mut impl Machine, now: Instant, asked: Asked, local: bool) {
        let token = token_of(&asked.message);
        let credential = token.as_deref().or(self.credential.as_deref());
        match self.shared.context.principal(credential, local) {
            Identity::Known(Ok(principal)) => self.call(machine, now, asked, principal),
            Identity::Known(Err(reason)) => self.refuse(machine, now, &asked, 401, &reason),
            Identity::Checking(outcome) => {
                let number = self.wait(Work::Check(outcome, Box::new(asked)), None);
                self.nudges.add(number);
            }
            Identity::Busy => {
                let reason = "too many credentials wait to be checked: try again";
                self.refuse(machine, now, &asked, 503, reason);
            }
        }
    }

    fn refuse(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        asked: &Asked,
        status: u16,
        reason: &str,
    ) {
        let mut message = Message::diagnostic(code_of(asked.message.code, status), reason);
        if message.code == Code::SERVICE_UNAVAILABLE {
            message.options.push_uint(Number::MAX_AGE, 1);
        }
        machine.respond(now, asked.exchange, message, false);
    }

    /// Asks what holds the path.
    fn call(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        mut asked: Asked,
        principal: Principal,
    ) {
        if principal.standing.is_revoked() {
            let reason = "the rights of this key were withdrawn or have expired";
            return self.refuse(machine, now, &asked, 401, reason);
        }
        let head = self.shared.context.hub().positions().0;
        let known = self.known.find(&asked.message, &principal, head);
        if let (Some((service, answer)), None) = (known, observe_of(&asked.message)) {
            self.shared.context.answered(service, 200);
            machine.respond(now, asked.exchange, answer, false);
            return;
        }
        if let Some(answer) = self.own(&asked.message, &principal) {
            machine.respond(now, asked.exchange, answer, false);
            return;
        }
        if let Some(refused) = self.unfulfilled(&asked.message, &principal) {
            machine.respond(now, asked.exchange, refused, false);
            return;
        }
        if observe_of(&asked.message) == Some(0) {
            asked.resumes = is_resume(&asked.message);
            asked.watching = if asked.resumes {
                None
            } else {
                self.watching(&asked.message, &principal)
            };
        }
        if let Some(message) = self.beginning(asked.watching.as_ref()) {
            return self.answered(machine, now, asked, message, Some(principal));
        }
        let read = if asked.resumes {
            missed(&asked.message)
        } else {
            asked.message.clone()
        };
        match self.ask_service(&read, &principal) {
            Err(refused) => {
                machine.respond(now, asked.exchange, refused, false);
            }
            Ok((Answer::Now(response), service)) => {
                self.note(&asked.message, service, &response);
                let keep = response.status == 200 && may_be_known(&asked.message);
                if !keep {
                    return self.conclude(machine, now, asked, response, principal);
                }
                let message = message_of(&asked.message, response);
                let answer = (service, message.clone());
                self.known.keep(&asked.message, &principal, head, answer);
                self.answered(machine, now, asked, message, Some(principal));
            }
            Ok((Answer::Later(pending), service)) => {
                let deadline = pending.patience().map(|patience| now + patience);
                let work = Work::Answer(pending, Box::new(asked), principal, service);
                let number = self.wait(work, deadline);
                self.nudges.add(number);
            }
            Ok(_) => {
                let reason = "what never ends is asked for with Observe here";
                self.refuse(machine, now, &asked, 400, reason);
            }
        }
    }

    /// Sends the answer to a request, and goes on to watch what it observes.
    fn answered(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        asked: Asked,
        message: Message,
        principal: Option<Principal>,
    ) {
        let Asked {
            exchange,
            message: request,
            watching,
            resumes: _,
        } = asked;
        let watched = watching.is_some();
        let Some(observation) = machine.respond(now, exchange, message, watched) else {
            return;
        };
        let number = match watching {
            Some(Watching::Own(key, changes)) => {
                Some(self.watch(now, Watch::new(key, &request, principal, changes)))
            }
            Some(Watching::Shared(key)) => match self.sources.get(&key) {
                Some(&number) => Some(number),
                // It ended while this was answered: begun again.
                None => principal.and_then(|principal| {
                    let changes = self.changes(&request, &principal)?;
                    let watch = Watch::new(Some(key), &request, Some(principal), changes);
                    Some(self.watch(now, watch))
                }),
            },
            None => None,
        };
        let watch = number.and_then(|number| self.waiting.get_mut(number));
        match (number, watch.map(|waiting| &mut waiting.work)) {
            (Some(number), Some(Work::Watch(watch))) => {
                watch.observers.insert(observation);
                self.watches.insert(observation, number);
                self.nudges.add(number);
            }
            _ => machine.notify(now, observation, over()),
        }
    }

    /// Begins to watch a resource; what begins while another of the same key is watched is its own.
    fn watch(&mut self, now: Instant, mut watch: Watch) -> usize {
        watch.key = watch.key.filter(|key| !self.sources.contains_key(key));
        let key = watch.key.clone();
        let deadline = matches!(watch.changes, Changes::Plugtest(_)).then(|| now + TICK);
        let number = self.wait(Work::Watch(Box::new(watch)), deadline);
        self.sources.extend(key.map(|key| (key, number)));
        number
    }

    fn wait(&mut self, work: Work, deadline: Option<Instant>) -> usize {
        let entry = self.waiting.vacant_entry();
        let number = entry.key();
        let waker = self.nudges.waker(number);
        entry.insert(Waiting {
            work,
            waker,
            deadline,
        });
        self.deadlines.extend(deadline.map(|at| (at, number)));
        number
    }

    fn set_deadline(&mut self, number: usize, deadline: Option<Instant>) {
        if let Some(waiting) = self.waiting.get_mut(number) {
            let before = std::mem::replace(&mut waiting.deadline, deadline);
            before.map(|at| self.deadlines.remove(&(at, number)));
            self.deadlines.extend(deadline.map(|at| (at, number)));
        }
    }

    /// An observation ended; nobody's resource is not watched on.
    pub(super) fn ended(&mut self, observation: ObservationId) {
        let Some(number) = self.watches.remove(&observation) else {
            return;
        };
        let waiting = self.waiting.get_mut(number);
        let Some(Work::Watch(watch)) = waiting.map(|waiting| &mut waiting.work) else {
            return;
        };
        watch.observers.remove(&observation);
        if watch.observers.is_empty() {
            if let Some(key) = watch.key.take() {
                self.sources.remove(&key);
            }
            self.take_out(number);
        }
    }

    /// The connection is over, and with it what its peer waits for.
    pub(super) fn hang_up(&mut self) {
        self.waiting.clear();
        self.watches.clear();
        self.sources.clear();
        self.deadlines.clear();
    }

    /// Goes on with what can go on; says whether anything did.
    pub(super) fn poll(
        &mut self,
        cx: &mut Task<'_>,
        machine: &mut impl Machine,
        now: Instant,
    ) -> bool {
        if machine.is_writable() {
            let held = std::mem::take(&mut self.held);
            held.into_iter().for_each(|number| self.nudges.add(number));
        }
        let mut moved = self.expire(machine, now);
        for number in self.nudges.take(cx.waker()) {
            if self.waiting.contains(number) {
                moved = true;
                self.go_on(machine, now, number);
            }
        }
        moved
    }

    fn expire(&mut self, machine: &mut impl Machine, now: Instant) -> bool {
        let mut moved = false;
        while let Some(&(at, number)) = self.deadlines.first() {
            if at > now {
                break;
            }
            moved = true;
            self.set_deadline(number, None);
            let due = self.waiting.get(number).map(|waiting| &waiting.work);
            if matches!(due, Some(Work::Watch(_))) {
                self.set_deadline(number, Some(now + TICK));
                self.go_on(machine, now, number);
            } else if let Some(due) = self.waiting.try_remove(number) {
                self.time_is_up(machine, now, due.work);
            }
        }
        moved
    }

    fn time_is_up(&mut self, machine: &mut impl Machine, now: Instant, work: Work) {
        match work {
            Work::Delayed(message, asked) => {
                self.answered(machine, now, *asked, message, None);
            }
            Work::Answer(mut pending, asked, principal, service) => {
                let response = pending.expire();
                self.note(&asked.message, service, &response);
                self.conclude(machine, now, *asked, response, principal);
            }
            Work::Check(..) | Work::Watch(_) => {}
        }
    }

    fn go_on(&mut self, machine: &mut impl Machine, now: Instant, number: usize) {
        let Some(waiting) = self.waiting.get_mut(number) else {
            return;
        };
        let waker = waiting.waker.clone();
        let mut cx = Task::from_waker(&waker);
        match &mut waiting.work {
            Work::Check(outcome, _) => {
                if let Poll::Ready(who) = outcome.poll(&mut cx) {
                    self.checked(machine, now, number, who);
                }
            }
            Work::Answer(pending, ..) => {
                if let Poll::Ready(response) = pending.poll(&mut cx) {
                    self.ready(machine, now, number, response);
                }
            }
            Work::Delayed(..) => {}
            Work::Watch(_) if !machine.is_writable() => self.held.push(number),
            Work::Watch(_) => self.look(&mut cx, machine, now, number),
        }
    }

    fn take_out(&mut self, number: usize) -> Option<Work> {
        self.set_deadline(number, None);
        self.waiting.try_remove(number).map(|waiting| waiting.work)
    }

    fn checked(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        number: usize,
        who: Option<Result<Principal, String>>,
    ) {
        let Some(Work::Check(_, asked)) = self.take_out(number) else {
            return;
        };
        match who {
            Some(Ok(principal)) => self.call(machine, now, *asked, principal),
            Some(Err(reason)) => self.refuse(machine, now, &asked, 401, &reason),
            None => {
                let reason = "the credential's check broke off: try again";
                self.refuse(machine, now, &asked, 500, reason);
            }
        }
    }

    fn ready(
        &mut self,
        machine: &mut impl Machine,
        now: Instant,
        number: usize,
        response: Response,
    ) {
        if let Some(Work::Answer(_, asked, principal, service)) = self.take_out(number) {
            self.note(&asked.message, service, &response);
            self.conclude(machine, now, *asked, response, principal);
        }
    }

    /// Looks whether what is observed changed, and tells what it is now.
    fn look(&mut self, cx: &mut Task<'_>, machine: &mut impl Machine, now: Instant, number: usize) {
        let Some(Work::Watch(watch)) = self.waiting.get_mut(number).map(|entry| &mut entry.work)
        else {
            return;
        };
        let request = watch.request.clone();
        let told = match watch.poll(cx, self.shared.plugtest.as_deref()) {
            Seen::Nothing => return,
            Seen::Ended => over(),
            Seen::Message(message) => message,
            Seen::Read(response) => message_of(&request, response),
            Seen::Changed => {
                let read = readable(&request);
                let Some(principal) = watch.principal.clone() else {
                    return;
                };
                match self.ask_service(&read, &principal) {
                    Err(refused) => refused,
                    Ok((Answer::Now(response), _)) => message_of(&request, response),
                    Ok((Answer::Later(pending), _)) => return self.read_later(number, pending),
                    Ok(_) => return,
                }
            }
        };
        let observers: Vec<_> = watch_of(&self.waiting, number)
            .map(|watch| watch.observers.iter().copied().collect())
            .unwrap_or_default();
        self.tally.send(observers.len() as u64);
        for observation in observers {
            machine.notify(now, observation, told.clone());
        }
    }

    fn read_later(&mut self, number: usize, pending: Box<dyn Pending>) {
        if let Some(Work::Watch(watch)) = self.waiting.get_mut(number).map(|entry| &mut entry.work)
        {
            watch.reading = Some(pending);
            self.nudges.add(number);
        }
    }
}

/// The token that a request names, as HTTP has it.
fn token_of(request: &Message) -> Option<String> {
    let mut query = request.options.all(Number::URI_QUERY);
    let token = query.find_map(|pair| pair.strip_prefix(b"access_token="))?;
    let token = std::str::from_utf8(token).unwrap_or_default();
    Some(format!("Bearer {token}"))
}

fn observe_of(request: &Message) -> Option<u32> {
    request.options.uint(Number::OBSERVE)
}

fn watch_of(waiting: &Slab<Waiting>, number: usize) -> Option<&Watch> {
    match &waiting.get(number)?.work {
        Work::Watch(watch) => Some(watch),
        _ => None,
    }
}

/// What an observer is told last.
fn over() -> Message {
    let mut message = Message::new(Code::SERVICE_UNAVAILABLE);
    message.options.push_uint(Number::MAX_AGE, 1);
    message
}
