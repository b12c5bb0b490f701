//! Where a page of entities ended, as `$skiptoken` carries it to the next one; also a page of observations in another
//! order than that of time.
//!
//! It names the entity that was last, so that what others make or delete before it in the meantime neither repeats
//! nor hides any, and where that one itself is deleted, identifiers say what lay behind it. The decision worth arguing:
//! in another order (`$orderby`) how many there were says so then, which is wrong by those that were deleted before it
//! besides; its keys would be exact, and would have to be carried along.

use crate::fault::{Fault, Result};
use crate::id::Id;
use crate::node::Node;
use crate::view::View;
use weir_model::percent;

/// The end of a page within all that a query finds.
pub(crate) struct Ended {
    /// Entities up to the last one, with it.
    pub(crate) count: usize,
    pub(crate) last: Id,
}

impl Ended {
    /// Reads a token that [`Ended::next`] wrote.
    pub(crate) fn parse(token: &str) -> Result<Self> {
        let parts = token.split_once('.');
        let ended = parts.and_then(|(count, last)| {
            Some(Self {
                count: count.parse().ok().filter(|&count| count > 0)?,
                last: Id::of_text(last),
            })
        });
        ended.ok_or_else(|| Fault::bad("$skiptoken is none of this query"))
    }

    /// The option that leads on behind the first `count` of these.
    pub(crate) fn next(nodes: &[Node<'_>], count: usize, view: &View) -> Option<String> {
        let last = nodes.get(count.checked_sub(1)?)?.id(view);
        Some(Self { count, last }.print())
    }

    /// The option that leads on behind this.
    pub(crate) fn print(&self) -> String {
        let last = percent::encode(&self.last.to_string(), b":-_~");
        format!("$skiptoken={}.{last}", self.count)
    }

    /// How many of what is found now lie before the next page.
    pub(crate) fn begin(&self, nodes: &[Node<'_>], view: &View) -> usize {
        let is_last = |node: &Node<'_>| node.id(view) == self.last;
        match nodes.iter().position(is_last) {
            None if nodes.is_sorted_by_key(|node| node.id(view)) => {
                let came_before = |node: &&Node<'_>| node.id(view) < self.last;
                nodes.iter().filter(came_before).count()
            }
            index => self.behind(index),
        }
    }

    /// The same, where it is known where the last one is now, if it is.
    pub(crate) fn behind(&self, last: Option<usize>) -> usize {
        last.map_or(self.count - 1, |index| index + 1)
    }
}
