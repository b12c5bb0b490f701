//! A link that real programs use: network namespaces, a TUN device in each, a thread for each that sends.
//!
//! There is one far end and one near end, or a star of many near ones, which share the link or have one
//! each like it; near ends do not reach each other. Nothing outlives the process: namespaces have
//! no names, commands die with the thread that started
//! them, devices with their descriptors.

use crate::ledger::Ledger;
use crate::limits::STATIONS_MAX;
use crate::profile::{Duplex, Profile};
use crate::time::Nanos;
use crate::way::Way;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

mod books;
mod check;
mod conveyor;
mod edge;
mod fault;
mod netlink;
mod offload;
mod options;
mod station;
mod sys;

use books::{Books, lock};
pub use check::Check;
use conveyor::{Conveyor, Lane, Route};
pub use edge::Edge;
pub use fault::LabFault;
pub use options::{Options, Sharing};
pub use station::Station;

/// Stations and the link between them. It ends when it is dropped, with all that runs in it.
pub struct Lab {
    /// Where clients are.
    pub near: Station,
    /// Where servers are.
    pub far: Station,
    /// Further clients, of a star.
    pub more: Vec<Station>,
    profile: Profile,
    seed: u64,
    base: Nanos,
    /// Up and down, of each link that there is.
    spokes: Vec<[SharedLane; 2]>,
    books: Arc<Books>,
    stop: Arc<sys::Bell>,
    threads: Vec<JoinHandle<()>>,
}

type SharedLane = Arc<Mutex<Lane>>;

/// Takes the rights a lab needs where the user has them not: a user namespace of its own. To be called
/// before the process has any thread but the first; does nothing for root.
pub fn prepare() -> Result<(), LabFault> {
    match sys::is_privileged() {
        true => Ok(()),
        false => {
            sys::own_user_namespace().map_err(|error| LabFault::Refused("a user namespace", error))
        }
    }
}

impl Lab {
    /// The near ends: the first, and the further ones of a star.
    pub fn stations(&self) -> impl Iterator<Item = &Station> {
        std::iter::once(&self.near).chain(&self.more)
    }

    /// Joins new namespaces by a link that has been measured, and fails where it is off.
    pub fn start(profile: Profile, options: &Options) -> Result<(Self, Check), LabFault> {
        let mut lab = Self::unchecked(profile, options)?;
        let check = lab.check()?;
        match check.faults() {
            faults if faults.is_empty() => Ok((lab, check)),
            faults => Err(LabFault::Inaccurate(faults)),
        }
    }

    /// The same, whatever the link is like; only what the machine itself adds is taken off.
    pub fn unchecked(profile: Profile, options: &Options) -> Result<Self, LabFault> {
        let books = Arc::new(Books::open(options)?);
        let (near, near_tun) = station(NEAR, &profile)?;
        let (far, far_tun) = station(FAR, &profile)?;
        let stop = sys::Bell::new().map_err(|error| LabFault::Io("an event", error))?;
        let idle = Profile::named("none").unwrap_or_else(|| profile.clone());
        let mut lab = Self {
            near,
            far,
            more: Vec::new(),
            seed: options.seed,
            base: 0,
            spokes: Vec::new(),
            books,
            stop: Arc::new(stop),
            threads: Vec::new(),
            profile: idle,
        };
        let mut tuns = vec![(NEAR, near_tun)];
        tuns.extend(lab.add(options.more, &profile)?);
        lab.join(tuns, far_tun, options.sharing);
        let based = lab.unwatched(|lab| {
            lab.base = check::base(lab)?;
            lab.become_like(profile);
            Ok(())
        });
        based.map_err(|error| LabFault::Io("the first probe", error))?;
        Ok(lab)
    }

    /// Makes the further stations of a star; their numbers and devices.
    fn add(&mut self, count: usize, profile: &Profile) -> Result<Vec<(u16, sys::Tun)>, LabFault> {
        if count > STATIONS_MAX {
            let many = io::Error::other(format!("{STATIONS_MAX} are the most"));
            return Err(LabFault::Io("the stations of a star", many));
        }
        let numbers = (FAR + 1..).take(count);
        let added = numbers.map(|number| {
            let (one, tun) = station(number, profile)?;
            self.more.push(one);
            Ok((number, tun))
        });
        added.collect()
    }

    /// Lays the link, or one for each, between near devices and the far one.
    fn join(&mut self, tuns: Vec<(u16, sys::Tun)>, far: sys::Tun, sharing: Sharing) {
        let links = match sharing {
            Sharing::Each => tuns.len(),
            Sharing::Shared => 1,
        };
        self.spokes = (0..links)
            .map(|link| lanes(&self.profile, 0, self.seed_of(link)))
            .collect();
        let lane = |at: usize, way: Way| self.spokes[at.min(links - 1)][way as usize].clone();
        let up = |(at, (_, tun)): (usize, &(u16, sys::Tun))| {
            let route = Route::to(FAR, far.clone(), lane(at, Way::Up));
            (Way::Up, tun.clone(), vec![route])
        };
        let mut all: Vec<_> = tuns.iter().enumerate().map(up).collect();
        let down = |(at, (number, tun)): (usize, &(u16, sys::Tun))| {
            Route::to(*number, tun.clone(), lane(at, Way::Down))
        };
        let routes = tuns.iter().enumerate().map(down).collect();
        all.push((Way::Down, far.clone(), routes));
        for (way, input, routes) in all {
            self.convey(way, input, routes);
        }
    }

    fn convey(&mut self, way: Way, input: sys::Tun, routes: Vec<Route>) {
        let conveyor = Conveyor {
            way,
            input,
            books: self.books.clone(),
            stop: self.stop.clone(),
        };
        self.threads
            .push(std::thread::spawn(move || conveyor.run(routes)));
    }

    /// Links of a star lose and delay each by its own chance.
    fn seed_of(&self, link: usize) -> u64 {
        self.seed.wrapping_add((link as u64) << 32)
    }

    /// Measures round trip and rates as the profile has them, without its loss.
    pub fn check(&mut self) -> Result<Check, LabFault> {
        let wanted = self.profile.clone();
        let check = self.unwatched(|lab| {
            let check = check::run(lab);
            lab.become_like(wanted);
            check
        });
        check.map_err(|error| LabFault::Io("the self-check", error))
    }

    /// Does what is written down nowhere: neither counted nor captured.
    fn unwatched<T>(&mut self, deed: impl FnOnce(&mut Self) -> T) -> T {
        let capture = lock(&self.books.capture).take();
        let done = deed(self);
        *lock(&self.books.capture) = capture;
        self.forget();
        done
    }

    /// Changes the link under the packets that are on it.
    pub fn become_like(&mut self, profile: Profile) {
        for (link, spoke) in self.spokes.iter().enumerate() {
            let fresh = lanes(&profile, self.base, self.seed_of(link));
            for (lane, fresh) in spoke.iter().zip(fresh) {
                lock(lane).change(&lock(&fresh));
            }
        }
        self.profile = profile;
    }

    fn forget(&self) {
        *lock(&self.books.ledger) = Ledger::default();
    }

    /// What it is like.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What the machine's own way takes, one way, which the delay is shortened by; nanoseconds.
    pub fn base(&self) -> Nanos {
        self.base
    }

    /// What has crossed it so far.
    pub fn ledger(&self) -> Ledger {
        lock(&self.books.ledger).clone()
    }

    /// What has crossed it since the last time this was asked, which is forgotten.
    pub fn take_ledger(&self) -> Ledger {
        let mut ledger = lock(&self.books.ledger);
        let taken = ledger.clone();
        ledger.clear();
        taken
    }

    /// Begins a new stretch in the ledger; its number.
    pub fn mark(&self) -> u32 {
        lock(&self.books.ledger).mark()
    }

    /// By how much packets were late of their time: the 99th percentile, in nanoseconds.
    pub fn lateness_p99(&self) -> Nanos {
        let lanes = self.spokes.iter().flatten();
        let late = lanes.map(|lane| lock(lane).lateness.p99());
        late.max().unwrap_or(0)
    }
}

/// Number of the first near end, in addresses.
const NEAR: u16 = 1;
/// Number of the far end; those of further near ends follow.
const FAR: u16 = 2;

fn station(number: u16, profile: &Profile) -> Result<(Station, sys::Tun), LabFault> {
    Station::start(number, profile.mtu, profile.congestion.as_deref())
}

/// Half duplex: both lanes have one medium.
fn lanes(profile: &Profile, base: Nanos, seed: u64) -> [SharedLane; 2] {
    let [up, down] = Way::BOTH.map(|way| Lane::new(profile, way, base, seed));
    let down = match profile.duplex {
        Duplex::Full => down,
        Duplex::Half => down.beside(&up),
    };
    [up, down].map(|lane| Arc::new(Mutex::new(lane)))
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.stop.ring();
        for thread in self.threads.drain(..) {
            // A thread that ended by itself has nothing more to say.
            let _ended = thread.join();
        }
        if let Some(capture) = lock(&self.books.capture).take() {
            // Who wants to know whether all was written sees it by the file.
            let _as_far_as_possible = capture.end();
        }
    }
}
