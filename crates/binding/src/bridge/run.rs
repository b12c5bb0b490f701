//! One bridge, one connection after the other, for as long as the gateway runs.

use super::{Login, Told};
use crate::LocalFuture;
use std::future::poll_fn;
use std::io;
use weir_carrier::Stream;
use weir_carrier::backoff::Backoff;
use weir_carrier::clock::{now, pause, within};
use weir_carrier::driver::{Driven, Driver};
use weir_model::Cursor;
use weir_sansio::{Duration, Instant};

/// How long a connection may take until it is there.
const OPEN_TIME_MAX: Duration = Duration::from_secs(20);
/// A connection that lasted so long was a good one, and so is one that has got something out.
const GOOD_TIME: Duration = Duration::from_secs(10);
/// How long the record may lag behind what was confirmed: so much may go out twice after a crash.
const RECORD_TIME: Duration = Duration::from_secs(1);
/// How soon the log is asked again that could take nothing.
const BUSY_TIME: Duration = Duration::from_millis(5);
/// So many records behind, the bridge's own state is told again, by which its position moves.
const BEHIND_MAX: u64 = 10_000;
/// Bytes that may wait for the socket before nothing more is read.
pub const UNSENT_BYTES_MAX: usize = 256 << 10;

/// Why a connection is over, with how the broker of a protocol refuses.
#[derive(Debug, PartialEq, Eq)]
pub enum End<R> {
    /// As a sentence.
    Lost(String),
    /// The same of one that was open, and may be over for the sake of a message.
    Broken(String),
    /// Before there was an answer.
    Unanswered,
    /// The broker refuses.
    Refused(R),
    /// The gateway is stopping.
    Stopping,
}

impl<R> End<R> {
    /// Of a connection that broke off.
    pub fn broken_off(was_open: bool, sentence: &str) -> Self {
        match was_open {
            true => End::Broken(format!("the connection is lost: {sentence}")),
            false => End::Unanswered,
        }
    }
}

/// A bridge of a protocol.
pub trait Bridge {
    /// How its broker refuses.
    type Refused;
    /// One connection of it.
    type Running<'b>: Running<End = End<Self::Refused>>
    where
        Self: 'b;

    /// Where it tells how it is.
    fn told(&mut self) -> &mut Told;

    /// The broker, for people.
    fn shown(&self) -> &str;

    /// The longest wait between two attempts.
    fn retry_max(&self) -> Duration;

    /// Up to where its messages are out.
    fn reached(&self) -> Cursor;

    /// Has on disk what must be there before a connection is.
    fn foresee(&mut self) -> LocalFuture<'_, Result<(), End<Self::Refused>>> {
        Box::pin(std::future::ready(Ok(())))
    }

    /// Opens a stream.
    fn open(&self) -> LocalFuture<'_, io::Result<Stream>>;

    /// A connection that begins.
    fn running(&mut self) -> Self::Running<'_>;

    /// Says whether another version of the protocol is to be tried at once.
    fn tries_another(&mut self, end: &End<Self::Refused>) -> bool;

    /// The broker may come back as another version of itself.
    fn forget_version(&mut self);

    /// What people are told where there was no answer.
    fn unanswered(&self) -> String;

    /// What people are told where the broker refuses.
    fn refused(&self, why: Self::Refused) -> String;
}

/// One connection of a bridge.
pub trait Running: Driven {
    /// Whether the broker granted all.
    fn was_open(&self) -> bool;

    /// Where connections always end over the same message, that is not to hold up the others.
    fn over(&mut self, end: &Self::End);
}

/// Whose login it is, for people.
pub fn who(login: Option<&Login>) -> String {
    match login {
        Some((user, _)) => format!("user `{user}`"),
        None => "a client without user and password".into(),
    }
}

/// Runs a bridge until the gateway stops.
pub async fn run<B: Bridge>(mut bridge: B) {
    bridge.told().state(false);
    let mut backoff = Backoff::new(bridge.retry_max());
    loop {
        let (began, before) = (now(), bridge.reached());
        let end = connect(&mut bridge).await;
        let reached = bridge.reached();
        if now().since(began) >= GOOD_TIME || reached > before {
            backoff.reset();
        }
        if matches!(end, End::Stopping) {
            return;
        }
        if bridge.tries_another(&end) {
            continue;
        }
        bridge.told().measure(reached);
        let sentence = match end {
            End::Lost(sentence) | End::Broken(sentence) => sentence,
            End::Unanswered => bridge.unanswered(),
            End::Refused(why) => bridge.refused(why),
            End::Stopping => return,
        };
        let wait = backoff.wait();
        bridge.told().lost(&sentence, wait);
        pause(wait).await;
    }
}

/// One connection, from its opening to its end.
async fn connect<B: Bridge>(bridge: &mut B) -> End<B::Refused> {
    if let Err(end) = bridge.foresee().await {
        return end;
    }
    let opened = within(OPEN_TIME_MAX, bridge.open()).await;
    let tuned = match opened {
        Some(opened) => opened.and_then(|stream| stream.tune().map(|()| stream)),
        None => Err(io::Error::new(io::ErrorKind::TimedOut, "no answer")),
    };
    let stream = match tuned {
        Ok(stream) => stream,
        Err(error) => {
            let shown = bridge.shown();
            return End::Lost(format!("cannot connect to {shown}: {error}"));
        }
    };
    let mut driver = Driver::new(stream, bridge.running());
    let end = poll_fn(|cx| driver.poll(cx)).await;
    driver.protocol.over(&end);
    let was_open = driver.protocol.was_open();
    drop(driver);
    if was_open {
        bridge.told().state(false);
        bridge.forget_version();
    }
    end
}

/// What is due of a connection by the clock.
pub struct Ticks {
    retry: Instant,
    record_at: Instant,
}

impl Default for Ticks {
    fn default() -> Self {
        Self {
            retry: Instant::NEVER,
            record_at: now() + RECORD_TIME,
        }
    }
}

impl Ticks {
    /// The log could take nothing: it is asked again soon.
    pub fn busy(&mut self) {
        self.retry = now() + BUSY_TIME;
    }

    /// Whether it is to be asked again.
    pub fn is_busy(&self) -> bool {
        self.retry != Instant::NEVER
    }

    /// The record was written.
    pub fn recorded(&mut self) {
        self.record_at = now() + RECORD_TIME;
    }

    /// When something is due.
    pub fn deadline(&self) -> Instant {
        self.retry.min(self.record_at)
    }

    /// Says whether the record is to be written by now; who has waited for the log has waited.
    pub fn is_record_due(&mut self, now: Instant) -> bool {
        if now >= self.retry {
            self.retry = Instant::NEVER;
        }
        let is_due = now >= self.record_at;
        if is_due {
            self.record_at = now + RECORD_TIME;
        }
        is_due
    }
}

impl Told {
    /// Tells how far it is; far behind, its own state is told again while there is a connection.
    pub fn progress(&self, reached: Cursor, is_open: bool) {
        if self.measure(reached) > BEHIND_MAX && is_open {
            self.state(true);
        }
    }
}
