//! Requests that are under way: the few that did not fit one segment, and only as far as they were read.

use crate::limits::{PARTIAL_REQUESTS, REQUEST_MS_MAX};
use crate::request::Request;
use crate::time::Milliseconds;

/// Places for them; a connection has one only while a request of its is torn.
pub(crate) struct Partial {
    places: [Place; PARTIAL_REQUESTS],
}

#[derive(Clone, Copy)]
struct Place {
    /// Number of the connection and one; zero where the place is free, so that all begins as zeros.
    owner: u16,
    /// When the request began, in units of 256 ms.
    began: u16,
    request: Request,
}

impl Partial {
    pub(crate) const fn new() -> Self {
        Self {
            places: [Place::FREE; PARTIAL_REQUESTS],
        }
    }

    /// What was read of the connection's request.
    pub(crate) fn request(&self, connection: usize) -> Option<Request> {
        self.of(connection).map(|place| place.request)
    }

    /// Whether nothing was read of one.
    pub(crate) fn is_empty(&self, connection: usize) -> bool {
        self.of(connection).is_none()
    }

    fn of(&self, connection: usize) -> Option<&Place> {
        self.places.iter().find(|place| place.is_of(connection))
    }

    /// Keeps what was read; says whether there was a place.
    pub(crate) fn keep(&mut self, connection: usize, now: Milliseconds, request: Request) -> bool {
        let began = self
            .of(connection)
            .map_or((now >> 8) as u16, |place| place.began);
        self.forget(connection);
        let Some(place) = self.places.iter_mut().find(|place| place.owner == 0) else {
            return false;
        };
        *place = Place {
            owner: connection as u16 + 1,
            began,
            request,
        };
        true
    }

    pub(crate) fn forget(&mut self, connection: usize) {
        for place in &mut self.places {
            if place.is_of(connection) {
                *place = Place::FREE;
            }
        }
    }

    /// Takes out a connection whose request takes too long.
    pub(crate) fn overdue(&mut self, now: Milliseconds) -> Option<usize> {
        let is_overdue = |place: &Place| {
            let age = ((now >> 8) as u16).wrapping_sub(place.began);
            place.owner > 0 && u32::from(age) << 8 > REQUEST_MS_MAX
        };
        let late = self.places.iter().find(|place| is_overdue(place))?;
        let connection = usize::from(late.owner - 1);
        self.forget(connection);
        Some(connection)
    }
}

impl Place {
    const FREE: Self = Self {
        owner: 0,
        began: 0,
        request: Request::ZERO,
    };

    fn is_of(&self, connection: usize) -> bool {
        usize::from(self.owner) == connection + 1
    }
}
