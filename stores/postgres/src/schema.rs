//! The tables, made where they are not there and carried over where an earlier weir made them.

use crate::line::Session;
use tokio_postgres::Error;

/// What makes the tables of each version of those before, from nothing on.
const STEPS: [&str; 3] = [
    include_str!("schema-1.sql"),
    include_str!("schema-2.sql"),
    include_str!("schema-3.sql"),
];
/// The lock of whoever makes tables: `weir` in ASCII.
const LOCK: &str = "SELECT pg_advisory_xact_lock(2003134834)";

/// Makes the tables, once, however many gateways start; says why the database cannot be used otherwise.
pub(crate) async fn ensure(session: &mut Session) -> Result<Result<(), String>, Error> {
    if let Some(problem) = unfit(session).await? {
        return Ok(Err(problem));
    }
    session.client.batch_execute("BEGIN").await?;
    session.client.batch_execute(LOCK).await?;
    let found = version(session).await?.unwrap_or_default();
    for (made, step) in (1..).zip(STEPS).skip(found.max(0) as usize) {
        let note = format!("INSERT INTO weir.version VALUES ({made})");
        session.client.batch_execute(step).await?;
        session.client.batch_execute(&note).await?;
    }
    session.client.batch_execute("COMMIT").await?;
    let known = STEPS.len() as i32;
    Ok(if found > known {
        Err(format!(
            "its tables are of version {found}, made by a later weir; this one knows {known}"
        ))
    } else {
        Ok(())
    })
}

/// Why this database cannot keep text as it is.
async fn unfit(session: &mut Session) -> Result<Option<String>, Error> {
    let said = session.client.query_one("SHOW server_encoding", &[]);
    let encoding: String = said.await?.try_get(0)?;
    Ok((encoding != "UTF8").then(|| {
        format!("its encoding is {encoding}; make one WITH ENCODING 'UTF8' TEMPLATE template0")
    }))
}

/// The version of the tables that are there.
async fn version(session: &mut Session) -> Result<Option<i32>, Error> {
    let there = "SELECT to_regclass('weir.version') IS NOT NULL";
    let there: bool = session.client.query_one(there, &[]).await?.try_get(0)?;
    if !there {
        return Ok(None);
    }
    let number = "SELECT max(number) FROM weir.version";
    session.client.query_one(number, &[]).await?.try_get(0)
}
