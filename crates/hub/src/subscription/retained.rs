//! Retained messages, handed to a subscriber first.

use crate::message::Item;
use crate::selection;
use crate::subscription::Subscription;
use crate::subscription::snapshot::Piece;
use weir_model::Cursor;

impl Subscription {
    /// Some retained messages with cursors up to `due`, of topics behind `upto`. Those replaced since then
    /// come live.
    pub(crate) fn retained(&mut self, due: Cursor, upto: Option<&str>) -> Piece {
        let (hub, group) = (self.hub.clone(), self.group.clone());
        let core = hub.core();
        let (found, upto) = core.retained.page(&group.interest.filters, upto);
        let old = found.into_iter().filter(|message| message.cursor <= due);
        let items = old.filter_map(|message| {
            let item = selection::project(message, &group)?;
            Some(Item {
                retained: true,
                ..item
            })
        });
        let items: Vec<Item> = items.collect();
        drop(core);
        let next = self.hand_over(items);
        Piece { next, upto }
    }
}
