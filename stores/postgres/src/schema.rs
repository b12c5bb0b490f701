//! The tables, made where they are not there.

use crate::line::Session;
use tokio_postgres::Error;

/// Number of `schema.sql`.
const VERSION: i32 = 1;
/// The lock of whoever makes tables: `weir` in ASCII.
const LOCK: &str = "SELECT pg_advisory_xact_lock(2003134834)";
const TABLES: &str = include_str!("schema.sql");

/// Makes the tables, once, however many gateways start; says why the database cannot be used otherwise.
pub(crate) async fn ensure(session: &mut Session) -> Result<Result<(), String>, Error> {
    if let Some(problem) = unfit(session).await? {
        return Ok(Err(problem));
    }
    session.client.batch_execute("BEGIN").await?;
    session.client.batch_execute(LOCK).await?;
    let found = version(session).await?;
    if found.is_none() {
        let note = format!("INSERT INTO weir.version VALUES ({VERSION})");
        session.client.batch_execute(TABLES).await?;
        session.client.batch_execute(&note).await?;
    }
    session.client.batch_execute("COMMIT").await?;
    Ok(match found {
        Some(found) if found > VERSION => Err(format!(
            "its tables are of version {found}, made by a later weir; this one knows {VERSION}"
        )),
        _ => Ok(()),
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
