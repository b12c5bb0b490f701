//! What a thread keeps of one message for the next: making string tables, grammars and buffers costs
//! more than writing or reading a short message with them.
//!
//! It deliberately keeps nothing where there is no `std`, and so no threads: each message then makes
//! its own.

use super::{ExiEmit, ExiPull};
use alloc::boxed::Box;

/// Kinds of messages that are told apart.
pub(crate) const KINDS: usize = 8;

/// What a message may be whose coder is worth keeping: what a larger one needed would be held for good.
const BYTES_MAX: usize = 1 << 20;
const OBSERVATIONS_MAX: usize = 10_000;

/// The size of a message, written and read; compressed, neither number says the other.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) bytes: usize,
    pub(crate) observations: usize,
}

impl Size {
    fn is_small(self) -> bool {
        self.bytes <= BYTES_MAX && self.observations <= OBSERVATIONS_MAX
    }
}

/// Gives what writes messages of a kind, if there is one.
pub(crate) fn take_emit(kind: usize) -> Option<Box<ExiEmit>> {
    thread::EMITS
        .try_with(|kept| kept[kind].take())
        .ok()
        .flatten()
}

/// Keeps what wrote a message, if it was a small one.
pub(crate) fn keep_emit(kind: usize, emit: Box<ExiEmit>, of: Size) {
    if of.is_small() {
        let _gone = thread::EMITS.try_with(|kept| kept[kind].set(Some(emit)));
    }
}

/// Gives what reads messages of a kind, if there is one.
pub(crate) fn take_pull(kind: usize) -> Option<ExiPull<'static>> {
    thread::PULLS
        .try_with(|kept| kept[kind].take())
        .ok()
        .flatten()
}

/// Keeps what read a message, if it was a small one; what a bomb needed is not to be asked for here.
pub(crate) fn keep_pull(kind: usize, pull: ExiPull<'_>, of: Size) {
    if of.is_small() {
        let pull = pull.restart(&[]);
        let _gone = thread::PULLS.try_with(|kept| kept[kind].set(Some(pull)));
    }
}

#[cfg(not(target_os = "none"))]
mod thread {
    extern crate std;

    use super::{Box, ExiEmit, ExiPull, KINDS};
    use core::cell::Cell;

    std::thread_local! {
        pub(super) static EMITS: [Cell<Option<Box<ExiEmit>>>; KINDS] =
            const { [const { Cell::new(None) }; KINDS] };
        pub(super) static PULLS: [Cell<Option<ExiPull<'static>>>; KINDS] =
            const { [const { Cell::new(None) }; KINDS] };
    }
}

#[cfg(target_os = "none")]
mod thread {
    use super::{Box, ExiEmit, ExiPull, KINDS};
    use core::cell::Cell;
    use core::marker::PhantomData;

    /// What nothing is ever kept in.
    pub(super) struct Nothing<T>(PhantomData<fn() -> T>);

    pub(super) static EMITS: Nothing<Box<ExiEmit>> = Nothing(PhantomData);
    pub(super) static PULLS: Nothing<ExiPull<'static>> = Nothing(PhantomData);

    impl<T> Nothing<T> {
        /// Shows what a thread would have kept.
        pub(super) fn try_with<R>(
            &self,
            look: impl FnOnce(&[Cell<Option<T>>; KINDS]) -> R,
        ) -> Result<R, ()> {
            Ok(look(&[const { Cell::new(None) }; KINDS]))
        }
    }
}
