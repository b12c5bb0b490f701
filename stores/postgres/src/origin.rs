//! Which log a database is the history of: one that was fed by another's would take nothing new for old.
//!
//! The decision worth arguing: a log that gateways share is known by its name (its cursors tell one of that name
//! from another), and a gateway's own log by a number that a database gave it, kept beside the log. Where that is
//! damaged and yet nearly the one that the database has, it was that: two numbers of 122 random bits do not look
//! alike. It is put aside and written anew; what looks like nothing is refused, and stays where it is.

use crate::line::Session;
use std::io;
use std::sync::Arc;
use tokio_postgres::Error;
use weir_disk::{Disk, aside, read_full};

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
/// Of the 36 bytes of a name, so many agree in no two that were drawn.
const ALIKE_MIN: usize = 24;

/// What is known here of the log's name.
enum OwnFile {
    /// It has none yet.
    None,
    Named(String),
    /// What the file holds, which no database gave.
    Damaged(Vec<u8>),
}

impl Origin {
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

/// The name of a log.
pub(crate) struct Name {
    pub(crate) name: String,
    /// Whether it had to be written anew.
    pub(crate) was_damaged: bool,
}

impl Name {
    fn whole(name: String) -> Self {
        Self {
            name,
            was_damaged: false,
        }
    }
}

impl OwnFile {
    fn read(disk: &dyn Disk) -> io::Result<Self> {
        let file = match disk.open(FILE) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::None),
            Err(error) => return Err(error),
        };
        let mut bytes = vec![0; NAME_BYTES_MAX];
        let count = read_full(&*file, &mut bytes, 0)?;
        bytes.truncate(count);
        let name = std::str::from_utf8(&bytes).map(str::trim_end);
        Ok(match name {
            Ok(name) if is_drawn(name) => Self::Named(name.to_owned()),
            _ => Self::Damaged(bytes),
        })
    }

    /// Whether it is a name but for some damage.
    fn is_nearly(&self, name: &str) -> bool {
        let bytes = match self {
            Self::None => return false,
            Self::Named(own) => own.as_bytes(),
            Self::Damaged(bytes) => bytes,
        };
        let agree = bytes.iter().zip(name.as_bytes()).filter(|(a, b)| a == b);
        agree.count() >= ALIKE_MIN
    }
}

/// Whether a text is as the database draws names: a UUID.
fn is_drawn(name: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    name.len() == 36 && name.bytes().enumerate().all(fits)
}

fn write(disk: &dyn Disk, name: &str) -> io::Result<()> {
    let file = disk.create(NEW)?;
    file.write_all_at(format!("{name}\n").as_bytes(), 0)?;
    file.sync_data()?;
    disk.rename(NEW, FILE)?;
    disk.sync_dir()
}

/// Writes a damaged name anew, what was there put aside.
fn mend(disk: &dyn Disk, name: String) -> io::Result<Name> {
    let kept = aside::copy_file(disk, FILE, "name")?;
    write(disk, &name)?;
    let place = disk.place();
    tracing::error!(%place, "{FILE} is DAMAGED: kept as {kept}, and written anew: {name}");
    Ok(Name {
        name,
        was_damaged: true,
    })
}

/// Why a log is not known by its file.
fn damaged(disk: &dyn Disk, of_database: &str) -> io::Error {
    io::Error::other(format!(
        "{}/{FILE} is damaged, and is left as it is: it is no name of a log. The database holds the \
         history of {of_database}; where that is this gateway's, write this name there, else name \
         another database",
        disk.place()
    ))
}

/// The name of this log, which the database gives to one that has none yet. It is kept here before the database
/// is claimed by it, so that of two logs without a name one gets it.
pub(crate) async fn of_log(session: &mut Session, log: &Origin) -> Result<io::Result<Name>, Error> {
    let disk = match log {
        Origin::Shared(name) => return Ok(Ok(Name::whole(name.clone()))),
        Origin::Own(disk) => &**disk,
    };
    let own = match OwnFile::read(disk) {
        Ok(own) => own,
        Err(error) => return Ok(Err(error)),
    };
    match (known(session).await?, &own) {
        (Some(known), OwnFile::Named(name)) if known == *name => Ok(Ok(Name::whole(known))),
        (Some(known), _) if own.is_nearly(&known) => Ok(mend(disk, known)),
        (Some(known), OwnFile::Damaged(_)) => Ok(Err(damaged(disk, &known))),
        (_, OwnFile::Named(name)) => Ok(Ok(Name::whole(name.clone()))),
        // It is nobody's history yet.
        (None, OwnFile::Damaged(_)) => Ok(mend(disk, drawn(session).await?)),
        (_, OwnFile::None) => {
            let name = drawn(session).await?;
            Ok(write(disk, &name).map(|()| Name::whole(name)))
        }
    }
}

/// A name that no other log has.
async fn drawn(session: &mut Session) -> Result<String, Error> {
    let drawn = session.query("SELECT gen_random_uuid()::text", &[]).await?;
    drawn
        .first()
        .map_or(Ok(String::new()), |row| row.try_get(0))
}

/// The name of the log whose history the database holds, if it holds one.
async fn known(session: &mut Session) -> Result<Option<String>, Error> {
    let found = session.query("SELECT log FROM weir.progress", &[]).await?;
    found.first().map_or(Ok(None), |row| row.try_get(0))
}

/// The name of the log whose history the database holds: this one's, where it held none.
pub(crate) async fn of_database(session: &mut Session, own: &str) -> Result<String, Error> {
    let claim = "UPDATE weir.progress SET log = $1 WHERE log IS NULL";
    session.execute(claim, &[&own]).await?;
    Ok(known(session).await?.unwrap_or_default())
}
