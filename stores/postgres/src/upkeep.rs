//! Dropping what is past its keeping or was forgotten, little by little, by one gateway at a time.

use crate::limits::{DROP_ROWS, DROPS_MAX};
use crate::line::Session;
use tokio_postgres::{Error, Row};

/// The lock of whoever drops rows: `weir` in ASCII and one more.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(2003134835)";
const FORGOTTEN: &str = "WITH gone AS (
         DELETE FROM weir.observation WHERE ctid = ANY (ARRAY(
             SELECT o.ctid FROM weir.forgotten f JOIN weir.observation o ON o.datastream = f.id LIMIT $1))
         RETURNING 1)
     SELECT count(*) FROM gone";
const DONE: &str = "DELETE FROM weir.forgotten f
     WHERE NOT EXISTS (SELECT FROM weir.observation o WHERE o.datastream = f.id)";
const OLD: &str = "WITH gone AS (
         DELETE FROM weir.observation WHERE ctid = ANY (ARRAY(
             SELECT o.ctid FROM weir.datastream d
             CROSS JOIN LATERAL (
                 SELECT o.ctid FROM weir.observation o
                 WHERE o.datastream = d.id AND o.time < $2 ORDER BY o.time LIMIT $1) o
             LIMIT $1))
         RETURNING 1)
     SELECT count(*) FROM gone";

/// Drops rows of forgotten datastreams and those of before a time, as many as one call may.
pub(crate) async fn drop_rows(session: &mut Session, oldest: Option<i64>) -> Result<(), Error> {
    for _ in 0..DROPS_MAX {
        session.client.batch_execute("BEGIN").await?;
        let dropped = if is_alone(session).await? {
            drop_some(session, oldest).await?
        } else {
            0
        };
        session.client.batch_execute("COMMIT").await?;
        if dropped < DROP_ROWS {
            break;
        }
    }
    Ok(())
}

async fn is_alone(session: &mut Session) -> Result<bool, Error> {
    let rows = session.query(LOCK, &[]).await?;
    rows.first().map_or(Ok(false), |row| row.try_get(0))
}

/// Says how many it dropped at most of either kind.
async fn drop_some(session: &mut Session, oldest: Option<i64>) -> Result<i64, Error> {
    let mut dropped = count(&session.query(FORGOTTEN, &[&DROP_ROWS]).await?)?;
    if dropped < DROP_ROWS {
        session.execute(DONE, &[]).await?;
    }
    if let Some(oldest) = oldest {
        let old = count(&session.query(OLD, &[&DROP_ROWS, &oldest]).await?)?;
        dropped = dropped.max(old);
    }
    Ok(dropped)
}

fn count(rows: &[Row]) -> Result<i64, Error> {
    rows.first().map_or(Ok(0), |row| row.try_get(0))
}
