//! One connection, made when it is needed and made again when it has ended.

use crate::limits::{CONNECT_PAUSE, SESSION};
use crate::target::Target;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::sync::Mutex;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};
use weir_storage::HistoryFault;

/// A value of a statement.
pub(crate) type Value<'a> = &'a (dyn ToSql + Sync);

/// A connection that one at a time uses.
pub(crate) struct Line {
    pub(crate) target: Target,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    session: Option<Session>,
    /// When none could be made, and why.
    failed: Option<(Instant, HistoryFault)>,
}

impl Line {
    pub(crate) fn new(target: Target) -> Self {
        Self {
            target,
            idle: Mutex::default(),
        }
    }

    /// Works with the connection. What meets one that has ended meanwhile is begun again with a new one, so it
    /// may be done twice; after any other error the connection is given up.
    pub(crate) async fn with<T>(
        &self,
        work: impl AsyncFn(&mut Session) -> Result<T, Error>,
    ) -> Result<T, HistoryFault> {
        let mut idle = self.idle.lock().await;
        loop {
            let known = idle.session.take();
            let is_fresh = known.is_none();
            let mut session = match known {
                Some(session) => session,
                None => self.connect(&mut idle).await?,
            };
            match work(&mut session).await {
                Ok(done) => {
                    idle.session = Some(session);
                    return Ok(done);
                }
                Err(error) if !is_fresh && is_lost(&error) => {}
                Err(error) => return Err(self.target.fault(&error)),
            }
        }
    }

    /// Says at once why there is none where that was found out just now.
    async fn connect(&self, idle: &mut Idle) -> Result<Session, HistoryFault> {
        if let Some((when, fault)) = &idle.failed
            && when.elapsed() < CONNECT_PAUSE
        {
            return Err(fault.clone());
        }
        let connected = Session::begin(&self.target).await;
        connected.map_err(|error| {
            let fault = self.target.fault(&error);
            idle.failed = Some((Instant::now(), fault.clone()));
            fault
        })
    }
}

/// Some connections, of which each question takes one that is idle, as long as there is one.
///
/// They are taken in their order, so that there are no more than were needed at once.
pub(crate) struct Pool {
    lines: Vec<(Line, AtomicUsize)>,
}

/// A connection of a pool, in use until this is dropped.
pub(crate) struct Taken {
    pool: Arc<Pool>,
    at: usize,
}

impl Pool {
    pub(crate) fn new(target: &Target, count: usize) -> Arc<Self> {
        let line = |_| (Line::new(target.clone()), AtomicUsize::new(0));
        Arc::new(Self {
            lines: (0..count.max(1)).map(line).collect(),
        })
    }

    /// One that the fewest wait for.
    pub(crate) fn take(self: &Arc<Self>) -> Taken {
        let waiting = |at: &usize| self.lines[*at].1.load(Ordering::Relaxed);
        let at = (0..self.lines.len()).min_by_key(waiting).unwrap_or(0);
        self.lines[at].1.fetch_add(1, Ordering::Relaxed);
        Taken {
            pool: self.clone(),
            at,
        }
    }
}

impl Taken {
    pub(crate) fn line(&self) -> &Line {
        &self.pool.lines[self.at].0
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.pool.lines[self.at].1.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Says whether the connection has ended, or never was: all that is no answer of the server, and its farewells
/// (class 57 of its codes).
pub(crate) fn is_lost(error: &Error) -> bool {
    error
        .code()
        .is_none_or(|code| code.code().starts_with("57P"))
}

/// A connection with the statements that it has prepared.
pub(crate) struct Session {
    pub(crate) client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Session {
    pub(crate) async fn begin(target: &Target) -> Result<Self, Error> {
        let client = target.connect().await?;
        client.batch_execute(SESSION).await?;
        Ok(Self {
            client,
            statements: HashMap::new(),
        })
    }

    /// A statement, prepared when it is first used.
    pub(crate) async fn statement(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    /// The rows of a statement.
    pub(crate) async fn query(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<Vec<Row>, Error> {
        let statement = self.statement(sql).await?;
        self.client.query(&statement, values).await
    }

    /// The number of rows that a statement has changed.
    pub(crate) async fn execute(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
    ) -> Result<u64, Error> {
        let statement = self.statement(sql).await?;
        self.client.execute(&statement, values).await
    }
}
