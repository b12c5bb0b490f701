//! Items of a node that were published already (XEP-0060 section 6.5), page by page (XEP-0059).
//!
//! What is read is the log, since an item is a message with its cursor; observations older than the log are
//! asked for by `GET /history`. A request looks at a bounded stretch of the log, and says how to go on.

use super::answer::{Asked, Refusal};
use super::event::{self, gap_element};
use super::node::Wanted;
use crate::limits::{ITEMS_MAX, PAGE_BYTES_MAX, RECORDS_PER_REQUEST_MAX};
use crate::names::{PAGES, PUBSUB};
use crate::xml::{Element, escape};
use std::collections::VecDeque;
use std::task::{Context, Poll};
use weir_binding::Gateway;
use weir_codec::Format;
use weir_hub::{
    Fault, Gap, GapReason, Item, Latest, Message, Next, Principal, Shape, Since, Subscribe,
    Subscription,
};
use weir_model::Cursor;

/// Which items are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Which {
    /// So many of the newest, before a cursor where there is one.
    Newest(usize, Option<Cursor>),
    /// So many from the beginning on: the first page, as whoever pages asks for it.
    First(usize),
    /// So many after a cursor.
    After(usize, Cursor),
    /// This one.
    One(Cursor),
}

impl Which {
    /// Reads what `<items>` asks for, and the page that is asked for with it.
    // [XEP0060-6.5-1] [XEP0060-6.5-2]
    pub(super) fn read(items: &Element, page: Option<&Element>) -> Result<Self, Refusal> {
        let cursor = |text: &str| {
            let parsed = text.trim().parse::<Cursor>();
            parsed
                .map_err(|_| Refusal::new("cancel", "item-not-found", format!("no item `{text}`")))
        };
        if let Some(item) = items.find(PUBSUB, "item") {
            return Ok(Self::One(cursor(item.attribute("id").unwrap_or_default())?));
        }
        let number = |text: Option<String>| match text {
            None => Ok::<usize, Refusal>(ITEMS_MAX),
            Some(text) => {
                let parsed = text.trim().parse::<usize>().ok();
                let number =
                    parsed.ok_or_else(|| Refusal::bad(format!("`{text}` is no number")))?;
                Ok(number.min(ITEMS_MAX))
            }
        };
        let wanted = number(items.attribute("max_items").map(str::to_owned))?;
        let of_page = |name| {
            page.and_then(|page| page.find(PAGES, name))
                .map(Element::own_text)
        };
        let wanted = wanted.min(number(of_page("max"))?);
        // [XEP0059-2.2-1] [XEP0059-2.3-1]
        match (of_page("after"), of_page("before")) {
            // A page that begins nowhere is the first; without any page, the newest are meant.
            (None, None) if page.is_some() => Ok(Self::First(wanted)),
            (Some(after), _) => Ok(Self::After(wanted, cursor(&after)?)),
            (None, Some(before)) if !before.trim().is_empty() => {
                Ok(Self::Newest(wanted, Some(cursor(&before)?)))
            }
            _ => Ok(Self::Newest(wanted, None)),
        }
    }
}

/// One request, being read.
pub(super) struct Fetch {
    asked: Asked,
    wanted: Wanted,
    format: &'static Format,
    which: Which,
    principal: Principal,
    source: Box<Subscription>,
    /// Where reading ends.
    until: Cursor,
    items: VecDeque<Item>,
    /// Whether there are more in the direction in which it is read.
    more: bool,
    gap: Option<Gap>,
}

fn moved_back(cursor: Cursor, records: u64) -> Cursor {
    Cursor::new(cursor.epoch(), cursor.sequence().saturating_sub(records))
}

impl Fetch {
    pub(super) fn open(
        gateway: &dyn Gateway,
        principal: Principal,
        asked: Asked,
        wanted: Wanted,
        format: &'static Format,
        which: Which,
    ) -> Result<Self, Fault> {
        let head = gateway.hub().positions().0;
        let (from, until) = match which {
            Which::First(_) => (Cursor::new(head.epoch(), 0), head),
            Which::After(_, cursor) => (cursor, head),
            Which::One(cursor) => (moved_back(cursor, 1), cursor),
            Which::Newest(_, before) => {
                let until = before.map_or(head, |before| moved_back(before, 1));
                (moved_back(until, RECORDS_PER_REQUEST_MAX), until)
            }
        };
        let mut subscribe = Subscribe::new(vec![wanted.filter.clone()], Shape::Items);
        subscribe.since = Since::Cursor(from);
        subscribe.raw = wanted.format.is_none();
        let caller = gateway.hub().caller(gateway.now(), &principal)?;
        let source = caller.subscribe(subscribe)?;
        Ok(Self {
            asked,
            wanted,
            format,
            which,
            principal,
            source,
            until,
            items: VecDeque::new(),
            more: false,
            gap: None,
        })
    }

    /// The answer, once it is read.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, gateway: &dyn Gateway) -> Poll<String> {
        loop {
            let next = match self.source.poll_next(cx) {
                Poll::Ready(Ok(next)) => next,
                Poll::Ready(Err(fault)) => {
                    return Poll::Ready(self.asked.error(&Refusal::from(fault)));
                }
                Poll::Pending if self.source.is_live() => break,
                Poll::Pending => return Poll::Pending,
            };
            match next {
                Next::Items(items, cursor) => {
                    if self.take(&items) || cursor >= self.until {
                        break;
                    }
                }
                Next::Gap(gap, _) => {
                    if matches!(self.which, Which::After(..)) && gap.reason != GapReason::Policy {
                        self.gap = self.gap.or(Some(gap));
                    }
                }
                Next::Bytes(..) | Next::Unframed(..) => {}
                Next::Ended(_) => break,
            }
        }
        Poll::Ready(self.answer(gateway))
    }

    /// Keeps what is meant; says whether it has all.
    fn take(&mut self, items: &[Item]) -> bool {
        for item in items {
            let cursor = item.message.cursor;
            if cursor > self.until {
                return true;
            }
            match self.which {
                Which::One(wanted) if cursor == wanted => self.items.push_back(item.clone()),
                Which::One(_) => {}
                Which::First(count) | Which::After(count, _) if self.items.len() >= count => {
                    self.more = true;
                    return true;
                }
                Which::First(_) | Which::After(..) => self.items.push_back(item.clone()),
                Which::Newest(count, _) => {
                    self.items.push_back(item.clone());
                    if self.items.len() > count {
                        self.items.pop_front();
                        self.more = true;
                    }
                }
            }
        }
        false
    }

    /// The last value stands where the log as far as it was read holds no message.
    fn latest(&mut self, gateway: &dyn Gateway) {
        let filters = [self.wanted.filter.clone()];
        let caller = gateway.hub().caller(gateway.now(), &self.principal);
        let latest = caller.and_then(|caller| caller.latest(&filters));
        if let Ok(Latest { batch, newest, .. }) = latest
            && !batch.is_empty()
        {
            let content = weir_hub::Content::Observations {
                batch,
                format: self.format,
            };
            let topic = self.wanted.filter.as_str().into();
            let message = Message::new(newest, gateway.now(), topic, content);
            self.items.push_back(Item::all(message.into()));
        }
    }

    fn answer(&mut self, gateway: &dyn Gateway) -> String {
        if matches!(self.which, Which::Newest(_, None)) && self.items.is_empty() {
            self.latest(gateway);
        }
        if matches!(self.which, Which::One(_)) && self.items.is_empty() {
            let text = format!("no such item of `{}` in the log", self.wanted.node);
            return self
                .asked
                .error(&Refusal::new("cancel", "item-not-found", text));
        }
        let mut inner = String::new();
        inner.push_str("<pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='");
        escape(&self.wanted.node, &mut inner);
        inner.push_str("'>");
        self.fit().iter().for_each(|item| inner.push_str(item));
        inner.push_str("</items>");
        self.page(&mut inner);
        if let Some(gap) = &self.gap {
            gap_element(&self.wanted.node, gap, &mut inner);
        }
        inner.push_str("</pubsub>");
        self.asked.result_with(&inner)
    }

    /// The items as XML, of which those stay that a stanza has room for: the newest, or the first after a cursor.
    // [XEP0060-6.5-3]
    fn fit(&mut self) -> VecDeque<String> {
        let newest = matches!(self.which, Which::Newest(..));
        let (mut kept, mut texts, mut bytes) = (VecDeque::new(), VecDeque::new(), 0);
        let next = |items: &mut VecDeque<Item>| {
            if newest {
                items.pop_back()
            } else {
                items.pop_front()
            }
        };
        while let Some(item) = next(&mut self.items) {
            let told = event::items(&self.wanted, self.format, &item);
            let mut text: String = told.into_iter().map(|one| one.item).collect();
            if text.len() > PAGE_BYTES_MAX {
                text = event::without_payload(&item);
            }
            bytes += text.len();
            if bytes > PAGE_BYTES_MAX && !kept.is_empty() {
                self.more = true;
                break;
            }
            if newest {
                (kept.push_front(item), texts.push_front(text))
            } else {
                (kept.push_back(item), texts.push_back(text))
            };
        }
        self.items = kept;
        texts
    }

    /// Where the next page begins (XEP-0059 section 2.2).
    // [XEP0059-2.2-1]
    fn page(&self, out: &mut String) {
        let (Some(first), Some(last)) = (self.items.front(), self.items.back()) else {
            return;
        };
        let (first, last) = (first.message.cursor, last.message.cursor);
        let complete = if self.more { "" } else { " complete='true'" };
        out.push_str(&format!(
            "<set xmlns='http://jabber.org/protocol/rsm'{complete}><first>{first}</first><last>{last}</last></set>"
        ));
    }
}
