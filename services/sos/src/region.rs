//! Where on Earth what is wanted lies: what all spatial filters of a request leave.

use crate::exception::Exception;
use crate::limits::{SPATIAL_CORNERS, SPATIAL_FILTERS_MAX};
use crate::spatial::Spatial;
use weir_model::Place;

/// Spatial filters, all of which are to hold; everywhere where there are none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Region(Vec<Spatial>);

impl Region {
    /// Leaves what another filter leaves, too.
    pub(crate) fn narrow(&mut self, parameter: &str, filter: Spatial) -> Result<(), Exception> {
        if self.0.len() == SPATIAL_FILTERS_MAX {
            return Err(Exception::invalid(parameter, "too many spatial filters"));
        }
        self.0.push(filter);
        Ok(())
    }

    pub(crate) fn is_everywhere(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it has a place; what has none is nowhere but everywhere.
    pub(crate) fn has(&self, place: Option<Place>) -> bool {
        let within = |place| self.0.iter().all(|filter| filter.holds(place));
        self.is_everywhere() || place.is_some_and(within)
    }

    /// Observations for which one may count whose place is looked up here.
    pub(crate) fn cost(&self) -> usize {
        let corners: usize = self.0.iter().map(Spatial::corners).sum();
        1 + corners / SPATIAL_CORNERS
    }
}

/// The last place that was looked up: what does not move is looked up once.
#[derive(Default)]
pub(crate) struct LookedUp {
    last: Option<(Option<Place>, bool)>,
    /// How often another place was looked up.
    pub(crate) count: usize,
}

impl LookedUp {
    /// Whether a region has a place.
    pub(crate) fn has(&mut self, region: &Region, place: Option<Place>) -> bool {
        match self.last {
            Some((last, has)) if last == place => has,
            _ => {
                self.count += 1;
                let has = region.has(place);
                self.last = Some((place, has));
                has
            }
        }
    }
}
