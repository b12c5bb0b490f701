//! Requests that are under way: the few that did not fit one segment, and only as far as they were read.

use crate::Milliseconds;
use crate::limits::{PARTIAL_REQUESTS, REQUEST_MS_MAX};
use crate::request::Request;

/// Places for them; a connection has one only while a request of its is torn.
pub(crate) struct Partial {
    places: [Option<Place>; PARTIAL_REQUESTS],
}

#[derive(Clone, Copy)]
struct Place {
    connection: u16,
    /// When the request began, in units of 256 ms.
    began: u16,
    request: Request,
}

impl Partial {
    pub(crate) const fn new() -> Self {
        Self {
            places: [None; PARTIAL_REQUESTS],
        }
    }

    /// What was read of the connection's request.
    pub(crate) fn request(&self, connection: usize) -> Option<Request> {
        self.of(connection).map(|place| place.request)
    }

    fn of(&self, connection: usize) -> Option<&Place> {
        let mut places = self.places.iter().flatten();
        places.find(|place| usize::from(place.connection) == connection)
    }

    /// Keeps what was read; says whether there was a place.
    pub(crate) fn keep(&mut self, connection: usize, now: Milliseconds, request: Request) -> bool {
        let began = self
            .of(connection)
            .map_or((now >> 8) as u16, |place| place.began);
        self.forget(connection);
        let Some(place) = self.places.iter_mut().find(|place| place.is_none()) else {
            return false;
        };
        *place = Some(Place {
            connection: connection as u16,
            began,
            request,
        });
        true
    }

    pub(crate) fn forget(&mut self, connection: usize) {
        for place in &mut self.places {
            if place.is_some_and(|place| usize::from(place.connection) == connection) {
                *place = None;
            }
        }
    }

    /// Takes out a connection whose request takes too long.
    pub(crate) fn overdue(&mut self, now: Milliseconds) -> Option<usize> {
        let is_overdue = |place: &Place| {
            let age = ((now >> 8) as u16).wrapping_sub(place.began);
            u32::from(age) << 8 > REQUEST_MS_MAX
        };
        let late = self
            .places
            .iter()
            .flatten()
            .find(|place| is_overdue(place))?;
        let connection = usize::from(late.connection);
        self.forget(connection);
        Some(connection)
    }
}
