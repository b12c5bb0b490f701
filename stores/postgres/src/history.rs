//! The store as the hub sees it.

use crate::buffer::Buffer;
use crate::driver::Driver;
use crate::limits::{
    ANSWER_WAIT, CONNECT, CONNECT_PAUSE, NEWEST_TOPICS, READERS, SCAN_ROWS, TRANSACTION_CHUNKS,
};
use crate::line::{Line, Pool, Session, is_lost};
use crate::origin::{self, Origin};
use crate::read::{self, Asked};
use crate::take_over::{self, TakeFault};
use crate::target::Target;
use crate::windows::{self, Spans};
use crate::write::{self, Numbers};
use crate::{latest, schema, spans, upkeep};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;
use tokio_postgres::{Error, Row};
use weir_model::{Batch, Cursor, Datastream, Observation, Time};
use weir_storage::{Aggregate, Extent, History, HistoryFault, Page, Range, Token, WindowPage};

/// What an owner decides about the history.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the database is.
    pub target: Target,
    /// Age of an observation, by its own time, after which it is dropped.
    pub retention_age: Duration,
    /// Bytes of rows that wait while the server is away; beyond, the log is read again later.
    pub buffer_bytes_max: usize,
    /// How long the opening waits for a server that cannot be reached yet.
    pub wait: Duration,
}

/// Observations of the past in a database, which other gateways of the same log may feed too.
pub struct PostgresHistory {
    buffer: Mutex<Buffer>,
    buffer_bytes_max: usize,
    /// One writes at a time.
    writing: Mutex<()>,
    writer: Arc<Writer>,
    readers: Arc<Pool>,
    driver: Driver,
    target: Target,
    retention_age: Duration,
    /// Damages that were found at the start.
    damage: u64,
}

struct Writer {
    line: Line,
    numbers: AsyncMutex<Numbers>,
}

const PROGRESS: &str = "SELECT cursor FROM weir.progress";

impl PostgresHistory {
    /// Opens the history of a log, or begins one; waits for the server for a while.
    pub fn open(options: Options, log: &Origin) -> Result<Self, String> {
        let driver = Driver::start().map_err(|error| format!("no thread: {error}"))?;
        let target = options.target.clone();
        let (written, damage) = {
            let (target, log, wait) = (target.clone(), log.clone(), options.wait);
            let within = wait + CONNECT + ANSWER_WAIT;
            let opened = driver.run(within, move || async move {
                open(&target, &log, wait)
                    .await
                    .map_err(HistoryFault::Failed)
            });
            opened.map_err(|fault| match fault {
                HistoryFault::Failed(problem) => problem,
                fault => fault.to_string(),
            })?
        };
        let writer = Writer {
            line: Line::new(target.clone()),
            numbers: AsyncMutex::default(),
        };
        Ok(Self {
            buffer: Mutex::new(Buffer::behind(written)),
            buffer_bytes_max: options.buffer_bytes_max,
            writing: Mutex::new(()),
            writer: Arc::new(writer),
            readers: Pool::new(&target, READERS),
            driver,
            target,
            retention_age: options.retention_age,
            damage,
        })
    }

    /// Takes all that another store has of the same log into a database that has nothing yet, with what is known of
    /// its datastreams; says how many observations that were, and meanwhile how many so far.
    pub fn take_over(
        &self,
        from: Arc<dyn History>,
        known: BTreeMap<String, Datastream>,
        told: impl Fn(u64) + Send + Sync + 'static,
    ) -> Result<u64, String> {
        let target = self.target.clone();
        let taken = self.driver.run(Duration::MAX, move || async move {
            let mut session = Session::begin(&target)
                .await
                .map_err(|e| target.fault(&e))?;
            let taken = take_over::take_over(&mut session, (&*from, &known), &told).await;
            taken.map_err(|fault| match fault {
                TakeFault::Database(error) => target.fault(&error),
                TakeFault::Store(fault) => fault,
                TakeFault::Refused(why) => HistoryFault::Failed(why),
            })
        });
        let taken = taken.map_err(|fault| match fault {
            HistoryFault::Failed(problem) => problem,
            fault => fault.to_string(),
        })?;
        Ok(taken)
    }

    fn buffer(&self) -> MutexGuard<'_, Buffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all that waits.
    fn flush(&self) -> Result<(), HistoryFault> {
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let (due, written) = {
                let mut buffer = self.buffer();
                (buffer.due(TRANSACTION_CHUNKS), buffer.written())
            };
            if due.is_empty() {
                return Ok(());
            }
            let writer = self.writer.clone();
            let upto = self.driver.run(ANSWER_WAIT, move || async move {
                let write = async |session: &mut Session| {
                    let mut numbers = writer.numbers.lock().await;
                    write::write(session, &mut numbers, &due, written).await
                };
                writer.line.with(write).await
            })?;
            if upto < written {
                return Err(self.gone_back(upto, written));
            }
            self.buffer().wrote(upto);
        }
    }

    /// What was written is no longer waited for here, so the gap must not be written over.
    fn gone_back(&self, upto: Cursor, written: Cursor) -> HistoryFault {
        HistoryFault::Failed(format!(
            "PostgreSQL at {} has gone back to {upto} and had all up to {written}: it was restored, or lost what it \
             had confirmed; a gateway that is started again feeds it from the log",
            self.target.place()
        ))
    }

    /// Writes what waits where it is of these topics, so that a question finds it.
    fn flush_of(&self, topics: &[&str]) -> Result<(), HistoryFault> {
        let concerns = self.buffer().concerns(topics);
        if concerns { self.flush() } else { Ok(()) }
    }

    /// Asks by a connection that reads.
    fn ask<T: Send + 'static>(
        &self,
        question: impl AsyncFn(&mut Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, HistoryFault> {
        let reader = self.readers.take();
        self.driver.run(ANSWER_WAIT, move || async move {
            reader.line().with(question).await
        })
    }

    fn rows(&self, query: &Range<'_>) -> Result<Page, HistoryFault> {
        let after = Token::of(query)?;
        let asked = Asked::of(query, after.as_ref());
        let rows =
            self.ask(async move |session: &mut Session| read::rows(session, &asked).await)?;
        read::page(&self.target, query, after.as_ref(), &rows)
    }

    fn windows(&self, query: &Range<'_>, aggregate: Aggregate) -> Result<Page, HistoryFault> {
        let after = Token::of(query)?;
        let page = || WindowPage::new(query, aggregate, after.as_ref());
        let hides = query.hidden.is_some_and(|hidden| !hidden.is_empty());
        if hides || query.units.is_some_and(|units| !units.is_empty()) {
            return self.counted_here(query, page());
        }
        match self.counted_there(query, aggregate, page())? {
            Some(page) => Ok(page),
            None => self.counted_here(query, page()),
        }
    }

    /// Windows that the database makes; `None` where it cannot.
    fn counted_there(
        &self,
        query: &Range<'_>,
        aggregate: Aggregate,
        mut page: WindowPage<'_>,
    ) -> Result<Option<Page>, HistoryFault> {
        let mut spans = Spans::of(query, aggregate, page.from());
        loop {
            let span = spans.clone();
            let rows =
                self.ask(async move |session: &mut Session| windows::rows(session, &span).await)?;
            let Some(rows) = rows else {
                return Ok(None);
            };
            for row in &rows {
                let (begin, place, number) = self.window(row)?;
                if page.put(begin, place, number) {
                    return Ok(Some(page.cut()));
                }
            }
            if !spans.advance() {
                return Ok(Some(page.finish()));
            }
        }
    }

    fn window(&self, row: &Row) -> Result<(i64, usize, f64), HistoryFault> {
        let read = || -> Result<_, Error> {
            let place: i64 = row.try_get(1)?;
            Ok((row.try_get(0)?, place as usize - 1, row.try_get(2)?))
        };
        read().map_err(|error| self.target.fault(&error))
    }

    /// Windows of rows that are all read here.
    fn counted_here(
        &self,
        query: &Range<'_>,
        mut page: WindowPage<'_>,
    ) -> Result<Page, HistoryFault> {
        let mut token = None;
        loop {
            let rows = self.rows(&Range {
                from: Time::from_nanos(page.from()),
                limit: SCAN_ROWS,
                page: token.as_deref(),
                aggregate: None,
                hidden: None,
                units: None,
                ..query.clone()
            })?;
            for row in rows.batch.rows() {
                let topic = query.topics.binary_search(&row.topic);
                let (Ok(topic), Some(time)) = (topic, row.time) else {
                    continue;
                };
                let made = (row.value, row.description);
                if page.offer(topic, time.nanos(), made, || row)? {
                    return Ok(page.cut());
                }
            }
            token = rows.next;
            if token.is_none() {
                return Ok(page.finish());
            }
        }
    }

    fn extent_of(&self, topic: &str) -> Result<Option<Extent>, HistoryFault> {
        self.flush_of(&[topic])?;
        let topic = topic.to_owned();
        self.ask(async move |session: &mut Session| latest::extent(session, &topic).await)
    }
}

/// Newest times, the beginning of time where there is no row.
fn known(newest: Vec<Option<Time>>) -> Vec<Option<Time>> {
    let known = |time: Option<Time>| Some(time.unwrap_or(Time::from_nanos(i64::MIN)));
    newest.into_iter().map(known).collect()
}

/// Comes to the server, makes the tables, sees that they are of this log, and says what the database has of it, and how
/// many damages were found meanwhile.
async fn open(target: &Target, log: &Origin, wait: Duration) -> Result<(Cursor, u64), String> {
    let failed = |error: Error| target.sentence(&error);
    let refused = |problem: String| format!("PostgreSQL at {}: {problem}", target.place());
    let mut session = reached(target, wait).await.map_err(failed)?;
    let made = schema::ensure(&mut session).await.map_err(failed)?;
    made.map_err(refused)?;
    let kept = |error: std::io::Error| format!("which log the history is of: {error}");
    let own = origin::of_log(&mut session, log).await;
    let own = own.map_err(failed)?.map_err(kept)?;
    let named = origin::of_database(&mut session, &own.name).await;
    let named = named.map_err(failed)?;
    if named != own.name {
        return Err(refused(log.refusal(&named)));
    }
    let written = write::progress(&mut session, PROGRESS).await;
    Ok((written.map_err(failed)?, u64::from(own.was_damaged)))
}

/// A connection, once the server can be reached; what it refuses is refused at once.
async fn reached(target: &Target, wait: Duration) -> Result<Session, Error> {
    let until = Instant::now() + wait;
    loop {
        match Session::begin(target).await {
            Err(error) if is_lost(&error) && Instant::now() < until => {
                tokio::time::sleep(CONNECT_PAUSE).await;
            }
            done => return done,
        }
    }
}

impl History for PostgresHistory {
    fn apply(&self, cursor: Cursor, arrival: Time, batch: &Batch) -> Result<(), HistoryFault> {
        let is_due = {
            let mut buffer = self.buffer();
            if cursor <= buffer.seen() {
                return Ok(());
            }
            if buffer.bytes() < self.buffer_bytes_max {
                buffer.take(cursor, arrival, batch)?;
                buffer.is_due()
            } else {
                drop(buffer);
                self.flush()?;
                return self.apply(cursor, arrival, batch);
            }
        };
        if is_due {
            // Where the server is away, the rows wait; `maintain` says so.
            let _later = self.flush();
        }
        Ok(())
    }

    fn forget(&self, cursor: Cursor, topic: &str) -> Result<(), HistoryFault> {
        let mut buffer = self.buffer();
        if cursor > buffer.seen() {
            buffer.forget(cursor, topic);
        }
        Ok(())
    }

    fn advance(&self, cursor: Cursor) {
        self.buffer().advance(cursor);
    }

    fn applied(&self) -> Cursor {
        self.buffer().written()
    }

    fn latest(&self, visit: &mut dyn FnMut(Cursor, &Observation<'_>)) -> Result<(), HistoryFault> {
        let mut behind = i32::MIN;
        loop {
            let rows =
                self.ask(async move |session: &mut Session| latest::rows(session, behind).await)?;
            if rows.is_empty() {
                return Ok(());
            }
            for row in &rows {
                let number = latest::visit(row, visit);
                behind = number.map_err(|error| self.target.fault(&error))?;
            }
        }
    }

    fn newest(&self, topic: &str) -> Option<Time> {
        let extent = self.extent_of(topic).ok()?;
        Some(extent.map_or(Time::from_nanos(i64::MIN), |extent| extent.last))
    }

    fn newest_of(&self, topics: &[&str]) -> Vec<Option<Time>> {
        let asked = topics.chunks(NEWEST_TOPICS).map(|part| {
            let topics: Vec<_> = part.iter().map(|topic| (*topic).to_owned()).collect();
            let question =
                async move |session: &mut Session| latest::newest(session, &topics).await;
            let found = self.flush().and_then(|()| self.ask(question));
            found.map_or_else(|_| vec![None; part.len()], known)
        });
        asked.flatten().collect()
    }

    fn read(&self, query: &Range<'_>) -> Result<Page, HistoryFault> {
        self.flush_of(query.topics)?;
        match query.aggregate {
            Some(aggregate) => self.windows(query, aggregate),
            None => self.rows(query),
        }
    }

    fn extent(&self, topic: &str) -> Option<Extent> {
        self.extent_of(topic).ok()?
    }

    fn extents(&self, topic: &str) -> Result<Vec<(u8, Extent)>, HistoryFault> {
        self.flush_of(&[topic])?;
        let topic = topic.to_owned();
        self.ask(async move |session: &mut Session| latest::extents(session, &topic).await)
    }

    fn damage(&self) -> u64 {
        self.damage
    }

    fn maintain(&self, now: Time) -> Result<(), HistoryFault> {
        self.flush()?;
        let age = i64::try_from(self.retention_age.as_nanos()).ok();
        let oldest = age.map(|age| now.plus_nanos(-age).nanos());
        let writer = self.writer.clone();
        self.driver.run(ANSWER_WAIT, move || async move {
            let drop_rows = async |session: &mut Session| upkeep::drop_rows(session, oldest).await;
            writer.line.with(drop_rows).await?;
            let count = async |session: &mut Session| spans::count(session).await;
            writer.line.with(count).await
        })
    }
}
