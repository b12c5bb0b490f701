//! QEMU with a board's image; it ends when this program does.

use crate::limits::HIDDEN_BYTES;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::fmt;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A board that QEMU has.
#[derive(Clone, Copy, Debug)]
pub struct Emulated {
    /// Name of the image in `device/firmware/src/bin`.
    pub name: &'static str,
    /// QEMU's name of it.
    pub machine: &'static str,
    /// Cargo's target.
    pub target: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// All boards.
pub const BOARDS: [Emulated; 3] = [
    Emulated {
        name: "lm3s811",
        machine: "lm3s811evb",
        target: "thumbv7m-none-eabi",
        about: "Cortex-M3, 8 KB of RAM",
    },
    Emulated {
        name: "mps2",
        machine: "mps2-an385",
        target: "thumbv7m-none-eabi",
        about: "Cortex-M3; its serial port holds the processor back as a real one does: for timing",
    },
    Emulated {
        name: "microbit",
        machine: "microbit",
        target: "thumbv6m-none-eabi",
        about: "Cortex-M0, 16 KB of RAM",
    },
];

/// The board whose image is a client.
pub const CLIENT: Emulated = Emulated {
    name: "client",
    machine: "mps2-an385",
    target: "thumbv7m-none-eabi",
    about: "Cortex-M3; sends packets to a server and measures their round trips",
};

/// The same without a TCP of its own, behind a modem.
pub const BEHIND_MODEM: Emulated = Emulated {
    name: "modem",
    about: "Cortex-M3; the same behind a modem that is told what to do by AT commands",
    ..CLIENT
};

/// A board by its name.
pub fn by_name(name: &str) -> Option<&'static Emulated> {
    BOARDS.iter().find(|board| board.name == name)
}

impl Emulated {
    /// Where `make firmware` puts its image, below the project's folder.
    pub fn image(&self) -> PathBuf {
        [
            "device",
            "firmware",
            "target",
            self.target,
            "release",
            self.name,
        ]
        .iter()
        .collect()
    }
}

/// Why there is no board.
#[derive(Debug)]
pub enum Fault {
    /// No image at this place.
    Image(PathBuf),
    /// QEMU does not start.
    Emulator(io::Error),
    /// The line cannot be made.
    Line(io::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(path) => {
                write!(f, "{}: no image; `make firmware` builds it", path.display())
            }
            Self::Emulator(error) => write!(
                f,
                "qemu-system-arm: {error}; Debian and Ubuntu have it: apt-get install \
                 --no-install-recommends qemu-system-arm"
            ),
            Self::Line(error) => write!(f, "the serial line: {error}"),
        }
    }
}

/// A running board; it ends with this value.
pub struct Emulator {
    child: Child,
}

impl Emulator {
    /// Starts the image; its serial line too. With a socket of QEMU's own protocol (QMP) where `monitor` says.
    pub fn start(
        board: &Emulated,
        image: &Path,
        monitor: Option<&Path>,
    ) -> Result<(Self, UnixStream), Fault> {
        if !image.is_file() {
            return Err(Fault::Image(image.to_owned()));
        }
        let (line, theirs) = UnixStream::pair().map_err(Fault::Line)?;
        prepare(&theirs).map_err(Fault::Line)?;
        let mut command = Command::new("setpriv");
        // An emulator whose line nobody reads would run on, and take a processor.
        command.args(["--pdeathsig", "KILL", "--", "qemu-system-arm"]);
        command.args(["-M", board.machine, "-display", "none", "-monitor", "none"]);
        command
            .arg("-chardev")
            .arg(format!("socket,id=line,fd={}", theirs.as_raw_fd()));
        command
            .args(["-serial", "chardev:line", "-kernel"])
            .arg(image);
        if let Some(path) = monitor {
            command
                .arg("-qmp")
                .arg(format!("unix:{},server=on,wait=off", path.display()));
        }
        command.stdin(Stdio::null());
        let child = command.spawn().map_err(Fault::Emulator)?;
        Ok((Self { child }, line))
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _killed = self.child.kill();
        let _ended = self.child.wait();
    }
}

/// Bounds what is under way unseen, and lets the emulator inherit it.
fn prepare(theirs: &UnixStream) -> io::Result<()> {
    set_socket_send_buffer_size(theirs, HIDDEN_BYTES)?;
    Ok(fcntl_setfd(theirs, FdFlags::empty())?)
}
