//! An end: how a program is started there, how it is reached, what crossed the link meanwhile.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;

use weir_link::{Count, Lab, Ledger, Line, Station};

use crate::targets::configuration::{configuration_of, name_of};
use weir_bench_model::configuration::Starts;

/// Where a program is started.
#[derive(Clone, Default)]
pub enum End {
    /// On the machine as it is.
    #[default]
    Local,
    /// Where the load and browsers are.
    Near(Arc<Lab>),
    /// Where targets are.
    Far(Arc<Lab>),
}

/// What crossed a link during a measurement.
#[derive(Clone, Debug)]
pub struct Crossed(Ledger);

/// A program that will start at an end. It is a [`Command`] but for where it starts.
#[derive(Debug)]
pub struct Launch {
    command: Command,
    end: End,
    starts: Starts,
}

impl End {
    fn station(&self) -> Option<&Station> {
        match self {
            End::Local => None,
            End::Near(lab) => Some(&lab.near),
            End::Far(lab) => Some(&lab.far),
        }
    }

    fn lab(&self) -> Option<&Lab> {
        match self {
            End::Local => None,
            End::Near(lab) | End::Far(lab) => Some(lab),
        }
    }

    /// The address at which a program there is reached from the other end.
    pub fn host(&self) -> Ipv4Addr {
        self.station().map_or(Ipv4Addr::LOCALHOST, Station::address)
    }

    /// A connection from there, its loopback included; it stays there whoever uses it.
    pub fn connect(&self, to: SocketAddr) -> io::Result<TcpStream> {
        match self.station() {
            None => TcpStream::connect(to),
            Some(station) => station.within(move || TcpStream::connect(to))?,
        }
    }

    /// The same, and it will be told again.
    pub fn crossed_so_far(&self) -> Option<Crossed> {
        self.lab().map(|lab| Crossed(lab.ledger()))
    }

    /// What has crossed the link since this was last asked; nothing where there is none.
    pub fn crossed(&self) -> Option<Crossed> {
        self.lab().map(|lab| Crossed(lab.take_ledger()))
    }
}

impl fmt::Debug for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let link = self.lab().map(|lab| lab.profile().name.as_str());
        write!(f, "{} of {link:?}", self.host())
    }
}

impl Crossed {
    /// Everything, both ways.
    pub fn all(&self) -> Count {
        self.total(|_| true)
    }

    /// The lines that are wanted: by flow, phase and way.
    pub fn total(&self, wanted: impl Fn(&Line) -> bool) -> Count {
        self.0.total(wanted)
    }
}

impl Launch {
    /// A command that starts at an end of a link, bound to the bench.
    pub fn new(command: Command, end: &End, starts: &Starts) -> Self {
        Self {
            command,
            end: end.clone(),
            starts: starts.clone(),
        }
    }

    /// Takes down with what it will start, in a folder that was made for it.
    pub fn note(&self, folder: &Path) {
        self.note_as(&name_of(folder), folder);
    }

    /// The same by a name that is not the folder's.
    pub fn note_as(&self, name: &str, folder: &Path) {
        let configuration = configuration_of(&self.command, folder);
        self.starts.add(name.into(), configuration);
    }

    /// Where it will start.
    pub fn end(&self) -> &End {
        &self.end
    }

    /// Starts it.
    pub fn spawn(mut self) -> io::Result<Child> {
        match self.end.station() {
            None => self.command.spawn(),
            Some(station) => station.spawn(self.command),
        }
    }
}

impl Deref for Launch {
    type Target = Command;

    fn deref(&self) -> &Command {
        &self.command
    }
}

impl DerefMut for Launch {
    fn deref_mut(&mut self) -> &mut Command {
        &mut self.command
    }
}
