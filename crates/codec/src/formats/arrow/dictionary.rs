//! The distinct names of a column, in the order in which datastreams have them.

use crate::inline::Inline;
use alloc::collections::BTreeMap;
use weir_model::Batch;
use weir_model::batch::{Naming, StreamView};

use super::columns::Column;

/// Names that are looked through one by one; those beyond have a search tree.
const NAMES_SHORT: usize = 64;
const NONE: i32 = -1;

/// A column's names, and which one each datastream has.
pub(super) struct Dictionary<'b> {
    names: Inline<&'b str, NAMES_SHORT>,
    beyond: BTreeMap<&'b str, i32>,
    of_stream: Inline<i32, NAMES_SHORT>,
}

impl<'b> Dictionary<'b> {
    pub(super) fn new(batch: &'b Batch, column: Column) -> Self {
        let mut dictionary = Self {
            names: Inline::default(),
            beyond: BTreeMap::new(),
            of_stream: Inline::default(),
        };
        for index in 0..batch.stream_count() {
            let name = name_of(&batch.stream(index), column);
            let number = name.map_or(NONE, |name| dictionary.number(name));
            dictionary.of_stream.push(number);
        }
        dictionary
    }

    fn number(&mut self, name: &'b str) -> i32 {
        let short = self.names.len().min(NAMES_SHORT);
        let found = (0..short).find(|&index| self.names.get(index) == Some(name));
        if let Some(index) = found {
            return index as i32;
        }
        let new = self.names.len() as i32;
        if short == NAMES_SHORT {
            let number = *self.beyond.entry(name).or_insert(new);
            if number != new {
                return number;
            }
        }
        self.names.push(name);
        new
    }

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    /// The name with this number.
    pub(super) fn name(&self, index: usize) -> &'b str {
        self.names.get(index).unwrap_or_default()
    }

    /// The number of a datastream's name, if it has one.
    pub(super) fn of_stream(&self, index: usize) -> Option<i32> {
        self.of_stream.get(index).filter(|&number| number != NONE)
    }
}

fn name_of<'b>(stream: &StreamView<'b>, column: Column) -> Option<&'b str> {
    match column {
        Column::Topic => Some(stream.topic).filter(|_| stream.naming != Naming::Sent),
        Column::Unit => stream.unit,
        Column::Type => stream.property,
        _ => stream.sensor,
    }
}
