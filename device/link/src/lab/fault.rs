//! Why there is no lab.

use std::{fmt, io};

/// Why there is no lab.
#[derive(Debug)]
pub enum LabFault {
    /// This system does not let this user make namespaces or TUN devices.
    Refused(&'static str, io::Error),
    /// A step of the way failed.
    Io(&'static str, io::Error),
    /// The link is not what it should be: which figure, in words.
    Inaccurate(Vec<String>),
}

impl fmt::Display for LabFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabFault::Refused(what, error) => write!(
                f,
                "this system does not allow {what} ({error}): run as root, or allow user namespaces \
                 (sysctl kernel.unprivileged_userns_clone=1) and writing to /dev/net/tun"
            ),
            LabFault::Io(what, error) => write!(f, "{what}: {error}"),
            LabFault::Inaccurate(figures) => write!(
                f,
                "the link is not what it should be on this machine now: {}",
                figures.join("; ")
            ),
        }
    }
}

impl std::error::Error for LabFault {}
