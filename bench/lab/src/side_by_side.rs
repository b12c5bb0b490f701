//! Cells that wait: over links whose round trip takes many milliseconds, several run at once.
//!
//! Each has namespaces, a link and servers of its own; all they share are the processors and the disk. So one
//! more is let in only while the processors have been idle enough ([`SIDE_BY_SIDE_SHARE_MORE`]), how busy they
//! were beside each cell is one of its figures (`machine_busy`), and a cell is marked beside which they were busier
//! than [`SIDE_BY_SIDE_SHARE_MAX`]. What it deliberately does not do: run cells at once whose times are those of
//! the processors. The decision worth arguing: a link of one's own is measured while others are in use; where it
//! comes out wrong the machine is full, and no more are let in.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use weir_link::Profile;

use crate::alone::{Alone, Found, Numbered, Turns};
use crate::link::Links;
use weir_bench_model::cell::LOCAL;
use weir_bench_model::limits::{
    SIDE_BY_SIDE_BITS_MAX, SIDE_BY_SIDE_LOOK_MS, SIDE_BY_SIDE_MAX, SIDE_BY_SIDE_RTT_NS_MIN,
    SIDE_BY_SIDE_SHARE_MAX, SIDE_BY_SIDE_SHARE_MORE,
};
use weir_bench_model::process::Processors;
use weir_bench_model::results::{CellResult, Run, single};

/// Whether cells on a link wait for it, or for a serial line before it, rather than compute; and measuring one
/// such link takes little from those in use.
pub fn waits(link: &str, has_serial_line: bool) -> bool {
    let profile = (link != LOCAL).then(|| Profile::read(link).ok()).flatten();
    profile.is_some_and(|it| {
        let is_long = it.up.delay + it.down.delay >= SIDE_BY_SIDE_RTT_NS_MIN;
        let rates = [&it.up, &it.down].map(|way| way.rate.mean().unwrap_or(f64::INFINITY));
        let is_slow = rates.into_iter().all(|bits| bits <= SIDE_BY_SIDE_BITS_MAX);
        (is_long || has_serial_line) && is_slow
    })
}

/// Adds to a cell's results how busy the processors were meanwhile, and says where it was too much.
pub fn mark(results: &mut [CellResult], share: f64) {
    for result in results.iter_mut().filter(|it| !it.metrics.is_empty()) {
        result.metrics.push(single("machine_busy", "1", share));
        if share > SIDE_BY_SIDE_SHARE_MAX {
            result.remarks.push(format!(
                "the processors were busy {:.0} % of the time, more than the {:.0} % that cells \
                 side by side may take",
                100.0 * share,
                100.0 * SIDE_BY_SIDE_SHARE_MAX
            ));
        }
    }
}

/// Measures cells, as many at once as the processors bear.
pub fn run<C: Alone>(turns: &Turns<'_>, cells: Vec<Numbered<'_, C>>, run: &mut Run) {
    let queue = Queue::of(cells);
    thread::scope(|scope| {
        while queue.has_room_for_one_more() {
            scope.spawn(|| lane(turns, &queue));
        }
    });
    for found in queue.into_found() {
        run.add(found);
    }
}

/// Takes one cell after the other, each link made once; ends when none is left, or when a link cannot be had
/// beside those that are in use.
fn lane<C: Alone>(turns: &Turns<'_>, queue: &Queue<'_, C>) {
    let mut links = Links::new(turns.order);
    while let Some(cell) = queue.next() {
        let is_kept = turns.order.journal.has(&cell.1.name());
        let ends = (!is_kept).then(|| links.ends(turns.order.settings, &cell.1.link()));
        if ends.is_some_and(|ends| ends.is_err()) && queue.is_full_with(cell) {
            return;
        }
        for found in turns.measure(&[cell], &mut links) {
            queue.put(found);
        }
    }
    queue.leave();
}

/// The cells to be measured, and what was found.
struct Queue<'a, C> {
    state: Mutex<State<'a, C>>,
    changed: Condvar,
}

struct State<'a, C> {
    cells: VecDeque<Numbered<'a, C>>,
    found: Vec<Found>,
    lanes: usize,
    lanes_max: usize,
}

impl<'a, C> Queue<'a, C> {
    fn of(cells: Vec<Numbered<'a, C>>) -> Self {
        let state = State {
            cells: cells.into(),
            found: Vec::new(),
            lanes: 0,
            lanes_max: SIDE_BY_SIDE_MAX,
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State<'a, C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until one more lane may begin, which then counts; false: no cell is left to begin.
    fn has_room_for_one_more(&self) -> bool {
        loop {
            let before = Processors::now();
            let mut state = self.state();
            if state.cells.is_empty() && state.lanes == 0 {
                return false;
            }
            if state.lanes > 0 {
                let look = Duration::from_millis(SIDE_BY_SIDE_LOOK_MS);
                let waited = self.changed.wait_timeout(state, look);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let share = Processors::now().share_since(before);
            if state.has_room(share) {
                state.lanes += 1;
                return true;
            }
        }
    }

    fn next(&self) -> Option<Numbered<'a, C>> {
        self.state().cells.pop_front()
    }

    fn put(&self, found: Found) {
        self.state().found.push(found);
    }

    fn leave(&self) {
        self.state().lanes -= 1;
        self.changed.notify_all();
    }

    /// Whether others run beside which no further link is to be had: they will take the cell, too.
    fn is_full_with(&self, cell: Numbered<'a, C>) -> bool {
        let mut state = self.state();
        if state.lanes < 2 {
            return false;
        }
        state.cells.push_front(cell);
        state.lanes -= 1;
        state.lanes_max = state.lanes;
        self.changed.notify_all();
        true
    }

    fn into_found(self) -> Vec<Found> {
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).found
    }
}

impl<C> State<'_, C> {
    /// Whether one more may begin where the processors have been so busy.
    fn has_room(&self, share: f64) -> bool {
        let is_calm = self.lanes == 0 || share < SIDE_BY_SIDE_SHARE_MORE;
        !self.cells.is_empty() && self.lanes < self.lanes_max && is_calm
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const CELLS: [&str; 3] = ["a", "b", "c"];

    fn queue() -> Queue<'static, &'static str> {
        Queue::of(CELLS.iter().enumerate().collect())
    }

    #[test]
    fn cells_wait_over_long_links_and_compute_over_short_ones() {
        let waiting = |link| waits(link, false);
        assert_eq!(["isp", "cellular", "wifi", "3g"].map(waiting), [true; 4]);
        assert_eq!(
            ["local", "lan", "wlan", "no such link"].map(waiting),
            [false; 4]
        );
        assert_eq!(
            [LOCAL, "lan", "wlan", "isp"].map(|it| waits(it, true)),
            [false, false, true, true]
        );
    }

    #[test]
    fn one_more_is_let_in_while_processors_are_idle_and_cells_are_left() {
        let queue = queue();
        assert!(queue.has_room_for_one_more());
        let mut state = queue.state();
        assert!(state.has_room(0.1) && !state.has_room(0.5));
        state.lanes = SIDE_BY_SIDE_MAX;
        assert!(!state.has_room(0.0));
        state.lanes = 0;
        assert!(
            state.has_room(1.0),
            "one runs however busy others keep the machine"
        );
        state.cells.clear();
        assert!(!state.has_room(0.0));
    }

    #[test]
    fn who_finds_no_link_leaves_its_cell_to_those_who_have_one_and_the_last_keeps_it() {
        let queue = queue();
        queue.state().lanes = 2;
        let cell = queue.next().unwrap();
        assert!(queue.is_full_with(cell));
        let cell = queue.next().unwrap();
        assert_eq!(*cell.1, "a");
        assert!(!queue.is_full_with(cell));
        let state = queue.state();
        assert_eq!((state.lanes, state.lanes_max, state.cells.len()), (1, 1, 2));
    }

    #[test]
    fn a_cell_beside_which_the_processors_were_too_busy_is_marked() {
        let measured = || CellResult {
            metrics: vec![single("rtt", "us", 31e3)],
            ..CellResult::default()
        };
        let mut results = [measured(), CellResult::default()];
        mark(&mut results, 0.2);
        assert!(results[0].remarks.is_empty());
        assert_eq!(
            results[0].metric("machine_busy").unwrap().estimate.mean,
            0.2
        );
        mark(&mut results, 0.7);
        assert!(
            results[0].remarks[0].contains("busy 70 %"),
            "{:?}",
            results[0].remarks
        );
        assert!(results[1].metrics.is_empty() && results[1].remarks.is_empty());
    }
}
