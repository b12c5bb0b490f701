//! One end of the link: a network namespace, and the thread that lives in it.

use super::fault::LabFault;
use super::netlink::Netlink;
use super::sys::{self, Tun};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError, mpsc};

/// Name of the device in each end.
const DEVICE: &str = "weir0";
const LOOPBACK: u32 = 1;
/// Packets that the device holds for us; short, so that it is no queue beside the link's own, and long
/// enough for what comes in while the thread that reads sleeps.
const DEVICE_QUEUE: u32 = 1_000;
/// Bytes of a packet that a link with IPv6 has to carry (RFC 8200, section 5); one that does not has IPv4 alone.
const IPV6_MTU_MIN: u32 = 1_280;
const CONGESTION: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

type Job = Box<dyn FnOnce() + Send>;

/// An end. What runs in it sees its loopback and the link, and nothing else.
pub struct Station {
    address: Ipv4Addr,
    address6: Ipv6Addr,
    congestion: String,
    jobs: mpsc::Sender<Job>,
    /// The programs started within.
    programs: Mutex<Vec<sys::Program>>,
}

impl Drop for Station {
    fn drop(&mut self) {
        let programs = self.programs.get_mut();
        let programs = programs.unwrap_or_else(PoisonError::into_inner);
        programs.iter().for_each(sys::Program::end);
    }
}

impl Station {
    /// Makes the end of this number: 10.77.0.0 + N and fd77::N.
    pub(super) fn start(
        number: u16,
        mtu: u32,
        congestion: Option<&str>,
    ) -> Result<(Self, Tun), LabFault> {
        let [high, low] = number.to_be_bytes();
        let address = Ipv4Addr::new(10, 77, high, low);
        let address6 = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, number);
        let (jobs, due) = mpsc::channel::<Job>();
        let (tell, told) = mpsc::channel();
        let addresses = [IpAddr::V4(address), IpAddr::V6(address6)];
        let wanted = congestion.map(str::to_owned);
        std::thread::spawn(move || {
            let made = furnish(addresses, mtu, wanted.as_deref());
            let stays = made.is_ok();
            // Who asked waits for this.
            let _heard = tell.send(made);
            if stays {
                due.into_iter().for_each(|job| job());
            }
        });
        let gone = || io::Error::other("the thread of an end is gone");
        let made = told.recv().map_err(|_| LabFault::Io("an end", gone()))?;
        let (tun, congestion) = made?;
        let station = Self {
            address,
            address6,
            congestion,
            jobs,
            programs: Mutex::default(),
        };
        Ok((station, tun))
    }

    /// Its address of IPv4.
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Its address of IPv6.
    pub fn address6(&self) -> Ipv6Addr {
        self.address6
    }

    /// TCP's congestion control in force there.
    pub fn congestion(&self) -> &str {
        &self.congestion
    }

    /// Does something within: sockets opened by it belong to the end for good, wherever they go.
    pub fn within<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let (tell, told) = mpsc::channel();
        let job: Job = Box::new(move || {
            // Who asked waits for this.
            let _heard = tell.send(work());
        });
        let gone = "the thread of an end is gone";
        self.jobs.send(job).map_err(|_| io::Error::other(gone))?;
        told.recv().map_err(|_| io::Error::other(gone))
    }

    /// Starts a program within; it ends with the lab, and with it all that it started.
    pub fn spawn(&self, command: Command) -> io::Result<Child> {
        let child = self.within(move || {
            let (tell, told) = mpsc::channel();
            // It has the end's network, and lives as long as the program: see `sys::start_family`.
            std::thread::spawn(move || {
                let child = sys::start_family(command);
                let id = child.as_ref().map_or(0, Child::id);
                // Who asked waits for this.
                let _heard = tell.send(child);
                sys::outlast(id);
            });
            told.recv().map_err(io::Error::other)?
        })??;
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        programs.push(sys::Program::of(&child)?);
        Ok(child)
    }
}

/// Everything a namespace needs: its device, what congestion control it has.
fn furnish(
    addresses: [IpAddr; 2],
    mtu: u32,
    congestion: Option<&str>,
) -> Result<(Tun, String), LabFault> {
    sys::own_network().map_err(|error| LabFault::Refused("a network namespace", error))?;
    let tun = Tun::open(DEVICE).map_err(|error| LabFault::Refused("a TUN device", error))?;
    quiet();
    let wire = || -> io::Result<()> {
        let netlink = Netlink::open()?;
        netlink.up(LOOPBACK, None)?;
        let index = netlink.index(DEVICE)?;
        netlink.up(index, Some((mtu, DEVICE_QUEUE)))?;
        for address in addresses {
            if address.is_ipv6() && mtu < IPV6_MTU_MIN {
                continue;
            }
            let prefix = if address.is_ipv4() { 16 } else { 64 };
            netlink.address(index, address, prefix)?;
            netlink.default_route(index, address)?;
        }
        Ok(())
    };
    wire().map_err(|error| LabFault::Io("the device of an end", error))?;
    Ok((tun, set_congestion(congestion)?))
}

/// No router solicitations nor addresses that nobody asked for: they would be counted.
fn quiet() {
    for (key, value) in [
        ("accept_ra", "0"),
        ("router_solicitations", "0"),
        ("addr_gen_mode", "1"),
    ] {
        let path = format!("/proc/sys/net/ipv6/conf/{DEVICE}/{key}");
        // A kernel without IPv6 has no such file and nothing to keep quiet.
        let _as_far_as_possible = std::fs::write(path, value);
    }
}

/// Sets it where it is asked for, and says which is in force.
fn set_congestion(wanted: Option<&str>) -> Result<String, LabFault> {
    if let Some(wanted) = wanted {
        std::fs::write(CONGESTION, wanted).map_err(|error| {
            let hint = format!(
                "{error}; `{wanted}` must be among \
                 /proc/sys/net/ipv4/tcp_allowed_congestion_control of the machine"
            );
            LabFault::Io("setting the congestion control", io::Error::other(hint))
        })?;
    }
    let read = std::fs::read_to_string(CONGESTION);
    let read = read.map_err(|error| LabFault::Io("reading the congestion control", error))?;
    Ok(read.trim().to_owned())
}
