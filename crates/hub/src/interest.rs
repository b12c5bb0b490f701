//! What a subscriber wants, how it is handed over, and how it ends.

use crate::access::Grants;
use crate::condition::Condition;
use crate::framing::{Framing, FramingKey};
use std::sync::Arc;
use weir_codec::Format;
use weir_model::{Batch, Filter};
use weir_storage::aggregate::{Aggregate, Function};
use weir_storage::units::{Converted, InUnit, converted};

/// What happens to a subscriber that is slower than its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Policy {
    /// It gets the newest value of each datastream instead of all.
    Conflate,
    /// It misses the oldest messages and is told how many.
    #[default]
    DropOldest,
    /// It is disconnected, and may resume by its cursor.
    Disconnect,
}

impl Policy {
    /// Every policy with its name on the wire.
    pub const ALL: &'static [(&'static str, Policy)] = &[
        ("conflate", Policy::Conflate),
        ("drop-oldest", Policy::DropOldest),
        ("disconnect", Policy::Disconnect),
    ];
}

/// Why a subscription is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was slower than its messages under [`Policy::Disconnect`].
    TooSlow,
    /// The hub stops.
    Stopping,
    /// Its principal's rights were withdrawn or have expired.
    Revoked,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ending::TooSlow => "too slow for policy=disconnect: resume by the last cursor",
            Ending::Stopping => "the gateway is stopping",
            Ending::Revoked => "the rights that it began with were withdrawn or have expired",
        })
    }
}

/// What a subscriber wants to be handed.
#[derive(Clone)]
pub enum Shape {
    /// Messages in a format, framed: bytes that all share.
    Framed(&'static Format, Arc<dyn Framing>),
    /// The messages themselves, as published.
    Items,
}

/// What a group's subscribers have in common.
#[derive(Clone)]
pub struct Interest {
    /// Topic filters, sorted.
    pub filters: Arc<[Filter]>,
    /// What they may read.
    pub grants: Arc<Grants>,
    /// Condition on results.
    pub condition: Option<Condition>,
    /// One observation a window instead of all.
    pub aggregate: Option<Aggregate>,
    /// In which unit; conditions and windows look at that of their datastream where none is named.
    pub unit: InUnit,
    /// What they are handed.
    pub shape: Shape,
    /// Whether they get messages as published: see [`crate::Subscribe::raw`].
    pub raw: bool,
}

/// What tells a group from every other; the condition by its text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GroupKey {
    filters: Arc<[Filter]>,
    grants: Arc<Grants>,
    condition: Option<String>,
    aggregate: Option<Aggregate>,
    unit: InUnit,
    shape: Option<(&'static str, FramingKey)>,
    raw: bool,
}

impl Interest {
    /// Whether what its subscribers get is made of numbers of one unit.
    pub(crate) fn is_of_a_unit(&self) -> bool {
        let function = self.aggregate.map(|aggregate| aggregate.function);
        function.is_some_and(Function::is_of_a_unit)
    }

    /// Whether the unit that is asked for is that of what its subscribers get: how many there are is of none.
    fn is_named(&self) -> bool {
        let function = self.aggregate.map(|aggregate| aggregate.function);
        matches!(self.unit, InUnit::Named(_)) && function != Some(Function::Count)
    }

    /// Whether its subscribers get nothing of a datastream whose numbers cannot be converted.
    pub(crate) fn is_strict(&self) -> bool {
        self.condition.is_some() || self.is_of_a_unit() || self.is_named()
    }

    /// Whether what its subscribers get is converted, and not only compared.
    pub(crate) fn is_converted(&self) -> bool {
        self.is_of_a_unit() || matches!(self.unit, InUnit::Own | InUnit::Named(_))
    }

    /// Rows as conditions and windows look at them, where that is not as they are.
    #[inline]
    pub(crate) fn converted(&self, batch: &Batch) -> Option<Converted> {
        let unit = match &self.unit {
            InUnit::AsMade if self.condition.is_none() && !self.is_of_a_unit() => return None,
            InUnit::AsMade => &InUnit::Own,
            unit => unit,
        };
        converted(batch, unit)
    }

    pub(crate) fn key(&self) -> GroupKey {
        GroupKey {
            filters: self.filters.clone(),
            grants: self.grants.clone(),
            condition: self
                .condition
                .as_ref()
                .map(|condition| format!("{condition:?}")),
            aggregate: self.aggregate,
            unit: self.unit.clone(),
            shape: match &self.shape {
                Shape::Framed(format, framing) => Some((format.name, framing.key())),
                Shape::Items => None,
            },
            raw: self.raw,
        }
    }
}
