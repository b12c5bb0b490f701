//! Schedules of faults by seed: a hub with its log and its history on simulated disks, publishers that try
//! again under their keys, and a client that resumes by cursor. What is held against them:
//!
//! - nothing acknowledged is missing from history, and nothing is there twice or out of order;
//! - the client has every number once and in order, or was told of a gap in between.
//!
//! A seed draws the steps, the operations at which disks fail, and what a crash leaves. The thread that syncs
//! the log runs beside, so the same seed may meet another instant. `WEIR_SCHEDULES` says how many (100), and
//! `WEIR_SEED` the first (0).
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test, whose length the environment may say"
)]

#[path = "../house/mod.rs"]
mod house;
mod machine;
mod people;

use machine::Machine;
use people::{Client, Publisher};
use std::io::Write as _;

const STEPS: u64 = 80;
const TOPICS: u64 = 3;

/// SplitMix64.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// What all schedules came to.
#[derive(Default, Debug)]
struct Tally {
    faults: u64,
    acknowledged: u64,
    delivered: u64,
    gaps: u64,
}

fn schedule(seed: u64, tally: &mut Tally) {
    let mut chance = Chance(seed);
    let mut machine = Machine::new(&mut chance);
    let mut publishers: Vec<_> = (0..TOPICS).map(Publisher::new).collect();
    let (mut client, mut refused) = (Client::default(), None);
    for _ in 0..STEPS {
        match chance.below(10) {
            0..4 => {
                // Whoever was refused tries again first: keys are known for as long as the log has them.
                let other = chance.below(TOPICS) as usize;
                let at = refused.take().unwrap_or(other);
                let count = 1 + chance.below(8);
                let dies = chance.below(6) == 0;
                let all = publishers[at].publish(&machine, count, || {
                    if dies {
                        machine.dies();
                    }
                    client.takes(&machine);
                });
                if !all {
                    refused = Some(at);
                    tally.faults += 1;
                    machine.goes_down(&mut chance);
                }
            }
            4..6 => client.takes(&machine),
            6 => machine.feeds(),
            7 => machine.maintains(),
            8 => machine.is_hurt(&mut chance),
            _ => {
                tally.faults += 1;
                machine.goes_down(&mut chance);
            }
        }
    }
    machine.is_well(&mut chance);
    for publisher in &mut publishers {
        assert!(
            publisher.publish(&machine, 1, || ()),
            "seed {seed}: refused at rest"
        );
    }
    client.takes(&machine);
    for publisher in &publishers {
        publisher.check(&machine, seed);
        client.check(publisher, seed);
        tally.acknowledged += publisher.next;
    }
    tally.delivered += client.delivered;
    tally.gaps += client.gaps;
}

fn said(name: &str, otherwise: u64) -> u64 {
    let said = std::env::var(name).ok();
    said.map_or(otherwise, |said| said.parse().unwrap())
}

#[test]
fn nothing_acknowledged_is_lost_whatever_the_disks_do() {
    let (first, count) = (said("WEIR_SEED", 0), said("WEIR_SCHEDULES", 100));
    let mut tally = Tally::default();
    (first..first + count).for_each(|seed| schedule(seed, &mut tally));
    // A test's own output is not shown where it passes; how much was tried is.
    let mut out = std::io::stderr();
    writeln!(out, "tried {count} schedules from seed {first}: {tally:?}").unwrap();
    assert!(
        tally.faults >= count && tally.gaps > 0,
        "too little went wrong: {tally:?}"
    );
}
