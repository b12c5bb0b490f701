//! Which log a database is the history of: one that was fed by another's would take nothing new for old.
//!
//! The decision worth arguing: a log that gateways share is known by its name (its cursors tell one of that name
//! from another), and a gateway's own log by a number that a database gave it, kept beside the log.

use crate::line::Session;
use std::io;
use std::sync::Arc;
use tokio_postgres::Error;
use weir_disk::{Disk, read_full};

/// The log that feeds a history.
#[derive(Clone)]
pub enum Origin {
    /// One that several gateways append to, by its name.
    Shared(String),
    /// The gateway's own, by a file in this folder.
    Own(Arc<dyn Disk>),
}

/// Name of the file, and what it is called until it is whole.
const FILE: &str = "postgres.log";
const NEW: &str = "postgres.log.new";
/// More than a name may have.
const NAME_BYTES_MAX: usize = 256;

impl Origin {
    /// The name of the log; `None` where it has none yet.
    pub(crate) fn name(&self) -> io::Result<Option<String>> {
        match self {
            Origin::Shared(name) => Ok(Some(name.clone())),
            Origin::Own(disk) => read(&**disk),
        }
    }

    /// Remembers the name that the database gave.
    pub(crate) fn keep(&self, name: &str) -> io::Result<()> {
        match self {
            Origin::Shared(_) => Ok(()),
            Origin::Own(disk) => write(&**disk, name),
        }
    }

    /// Where a gateway's own log has its name.
    fn place(&self) -> String {
        match self {
            Origin::Shared(name) => name.clone(),
            Origin::Own(disk) => format!("{}/{FILE}", disk.place()),
        }
    }

    /// The sentence for a database that another log feeds.
    pub(crate) fn refusal(&self, of_database: &str) -> String {
        format!(
            "it holds the history of another log ({of_database}); give each gateway a database of its own, or one \
             log to all (bus.url); {} says which log this one has",
            self.place()
        )
    }
}

fn read(disk: &dyn Disk) -> io::Result<Option<String>> {
    let file = match disk.open(FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = vec![0; NAME_BYTES_MAX];
    let count = read_full(&*file, &mut bytes, 0)?;
    bytes.truncate(count);
    let name = String::from_utf8(bytes).map_err(io::Error::other)?;
    Ok(Some(name.trim_end().to_owned()))
}

fn write(disk: &dyn Disk, name: &str) -> io::Result<()> {
    let file = disk.create(NEW)?;
    file.write_all_at(format!("{name}\n").as_bytes(), 0)?;
    file.sync_data()?;
    disk.rename(NEW, FILE)?;
    disk.sync_dir()
}

/// The name of this log, which the database gives to one that has none yet. It is kept here before the database
/// is claimed by it, so that of two logs without a name one gets it.
pub(crate) async fn of_log(
    session: &mut Session,
    log: &Origin,
) -> Result<io::Result<String>, Error> {
    let name = match log.name() {
        Ok(Some(name)) => return Ok(Ok(name)),
        Err(error) => return Ok(Err(error)),
        Ok(None) => session.query("SELECT gen_random_uuid()::text", &[]).await?,
    };
    let name: String = name
        .first()
        .map_or(Ok(String::new()), |row| row.try_get(0))?;
    Ok(log.keep(&name).map(|()| name))
}

/// The name of the log whose history the database holds: this one's, where it held none.
pub(crate) async fn of_database(session: &mut Session, own: &str) -> Result<String, Error> {
    let claim = "UPDATE weir.progress SET log = $1 WHERE log IS NULL";
    session.execute(claim, &[&own]).await?;
    let found = session.query("SELECT log FROM weir.progress", &[]).await?;
    found
        .first()
        .map_or(Ok(String::new()), |row| row.try_get(0))
}
