//! The few calls of the system that have no safe form.
#![allow(
    unsafe_code,
    reason = "devices, namespaces and priorities are had by raw calls; each says why it is sound"
)]

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, geteuid, getgid, getuid, pidfd_open,
    pidfd_send_signal, set_parent_process_death_signal, waitid,
};
use rustix::thread::{UnshareFlags, set_current_timer_slack, unshare_unsafe};
use std::fs;
use std::io;
use std::net::UdpSocket;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::Arc;

/// A TUN device, never blocking. Before each frame stands a header that says how to cut it, and no other
/// (`IFF_VNET_HDR`, `IFF_NO_PI`): see `super::offload`.
#[derive(Clone, Debug)]
pub(super) struct Tun(Arc<OwnedFd>);

/// `struct ifreq` as `TUNSETIFF` reads it.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: u16,
    rest: [u8; 22],
}

/// `TUNSETIFF`: `_IOW('T', 202, int)`.
const TUNSETIFF: rustix::ioctl::Opcode = 0x4004_54ca;
const IFF_TUN: u16 = 1;
const IFF_NO_PI: u16 = 0x1000;
const IFF_VNET_HDR: u16 = 0x4000;
/// `TUNSETOFFLOAD`: `_IOW('T', 208, unsigned int)`, whose argument is the number itself.
const TUNSETOFFLOAD: rustix::ioctl::Opcode = 0x4004_54d0;
/// Checksums, and what TCP of IPv4 and IPv6 wrote at once: `TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6`.
const STREAMS: usize = 0x07;
/// What UDP did: `TUN_F_USO4`, `TUN_F_USO6`.
const DATAGRAMS: usize = 0x60;

impl Tun {
    /// Makes a device of this name in the network namespace of the calling thread.
    pub(super) fn open(name: &str) -> io::Result<Self> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let device = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
        let mut request = InterfaceRequest {
            name: [0; 16],
            flags: IFF_TUN | IFF_NO_PI | IFF_VNET_HDR,
            rest: [0; 22],
        };
        let length = name.len().min(request.name.len() - 1);
        request.name[..length].copy_from_slice(&name.as_bytes()[..length]);
        // SAFETY: TUNSETIFF reads and writes one `struct ifreq`, which has these 40 bytes on Linux.
        unsafe {
            let update = rustix::ioctl::Updater::<TUNSETIFF, InterfaceRequest>::new(&mut request);
            rustix::ioctl::ioctl(&device, update)?;
        }
        let device = Self(Arc::new(device));
        // What the system does not hand over uncut it cuts itself: slower, and the same packets.
        let _as_far_as_it_goes = device
            .take_uncut(STREAMS | DATAGRAMS)
            .or_else(|_| device.take_uncut(STREAMS));
        Ok(device)
    }

    /// Lets the system hand over what a wire would have: cut, with its checksum.
    pub(super) fn take_cut(&self) -> io::Result<()> {
        self.take_uncut(0)
    }

    /// Lets the system hand over what need not be cut for it.
    fn take_uncut(&self, what: usize) -> io::Result<()> {
        // SAFETY: TUNSETOFFLOAD takes its argument by value and refuses what it does not know.
        unsafe {
            let offload = rustix::ioctl::IntegerSetter::<TUNSETOFFLOAD>::new_usize(what);
            rustix::ioctl::ioctl(&*self.0, offload)?;
        }
        Ok(())
    }

    /// The length of a header and a frame, or nothing where there is none now.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        match rustix::io::read(&*self.0, buffer) {
            Ok(length) => Ok(Some(length)),
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands a header and a frame over.
    pub(super) fn write(&self, frame: &[u8]) -> io::Result<()> {
        rustix::io::write(&*self.0, frame)?;
        Ok(())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Lets a socket of UDP send many payloads of this size at once (udp(7), `UDP_SEGMENT`); whether it may.
pub(super) fn send_many(socket: &UdpSocket, payload_bytes: usize) -> bool {
    set_udp(socket, UDP_SEGMENT, payload_bytes as libc::c_int)
}

/// Lets a socket of UDP take many payloads at once (udp(7), `UDP_GRO`), and many before it does.
pub(super) fn take_many(socket: &UdpSocket) {
    // What is refused shows in the rate.
    let _one_by_one = set_udp(socket, UDP_GRO, 1);
    let _as_the_system_has_it = set_socket_recv_buffer_size_force(socket, RECEIVE_BYTES);
}

const UDP_SEGMENT: libc::c_int = 103;
const UDP_GRO: libc::c_int = 104;
/// What a receiver may fall behind by: 60 ms at 1 Gbit/s.
const RECEIVE_BYTES: usize = 8 << 20;

fn set_udp(socket: &UdpSocket, option: libc::c_int, value: libc::c_int) -> bool {
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the option is read from a number of this length that lives through the call.
    let done = unsafe {
        let value = std::ptr::from_ref(&value).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_UDP, option, value, length)
    };
    done == 0
}

/// Rung once, heard by all who poll it.
#[derive(Debug)]
pub(super) struct Bell(OwnedFd);

impl Bell {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC)?))
    }

    pub(super) fn ring(&self) {
        // A counter of 64 bits takes one more.
        let _always_room = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(super) fn is_privileged() -> bool {
    geteuid().is_root()
}

/// Moves the process into a user namespace in which it has every right over networks it makes, as the
/// user it is.
pub(super) fn own_user_namespace() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    // SAFETY: descriptors are not unshared, which alone is unsound.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))
}

/// Moves the calling thread into a network namespace of its own.
pub(super) fn own_network() -> io::Result<()> {
    // SAFETY: descriptors are not unshared, which alone is unsound.
    unsafe { unshare_unsafe(UnshareFlags::NEWNET) }?;
    Ok(())
}

/// Wakes the calling thread when it asked to be woken, as far as the system lets it.
pub(super) fn be_punctual() {
    // What is refused shows in the lateness.
    let _slack = set_current_timer_slack(NonZeroU64::new(1));
    let priority = libc::sched_param { sched_priority: 50 };
    // SAFETY: a policy of the calling thread is set from a struct that lives through the call.
    let _refused = unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &priority) };
}

/// Starts a program as the first of a process namespace, so that all it starts ends when it does, and
/// lets it end when the calling thread does, which must be one of its own.
pub(super) fn start_family(mut command: Command) -> io::Result<Child> {
    // SAFETY: descriptors are not unshared, which alone is unsound.
    unsafe { unshare_unsafe(UnshareFlags::NEWPID) }?;
    let in_child = || set_parent_process_death_signal(Some(Signal::KILL)).map_err(io::Error::from);
    // SAFETY: between fork and exec there is this one call of the system, and nothing is allocated.
    unsafe { command.pre_exec(in_child) };
    command.spawn()
}

/// A program that was started, by a descriptor that never comes to mean another.
pub(super) struct Program(OwnedFd);

impl Program {
    pub(super) fn of(child: &Child) -> io::Result<Self> {
        let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let id = id.ok_or(io::ErrorKind::NotFound)?;
        Ok(Self(pidfd_open(id, PidfdFlags::empty())?))
    }

    /// Ends it, if it has not by itself.
    pub(super) fn end(&self) {
        let _gone_already = pidfd_send_signal(&self.0, Signal::KILL);
    }
}

/// Returns once a child has ended, and leaves it to whoever waits for it.
pub(super) fn outlast(child: u32) {
    let Some(child) = i32::try_from(child).ok().and_then(Pid::from_raw) else {
        return;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(child), options) {}
}
