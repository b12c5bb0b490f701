//! What a device serves: pages that never change, and topics that do.

use crate::answer;
use crate::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX, RESOURCES_MAX};
use crate::slice::Slice;

/// A resource and its path.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    /// Absolute path, as in `/live/temperature`.
    pub path: &'static str,
    /// Media type of what is served.
    pub media_type: &'static str,
    /// Page or topic.
    pub kind: Kind,
}

/// What stands behind a path.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Bytes in flash.
    Page(&'static [u8]),
    /// The notifications published under the resource's number, by every delivery scheme.
    Topic,
}

/// All resources of a device; their numbers are their places.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    resources: &'static [Resource],
}

/// Why resources are no site; the number is the resource's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SiteFault {
    /// More than [`RESOURCES_MAX`].
    TooMany,
    /// A path that does not begin with `/` or is longer than a byte counts.
    Path(usize),
    /// A page that with its head is longer than [`ANSWER_BYTES_MAX`], or a media type too long for a head
    /// of [`FRAME_BYTES_MAX`].
    TooLong(usize),
}

impl Site {
    /// A site of these resources.
    pub fn new(resources: &'static [Resource]) -> Result<Self, SiteFault> {
        if resources.len() > RESOURCES_MAX {
            return Err(SiteFault::TooMany);
        }
        for (number, resource) in resources.iter().enumerate() {
            if !resource.path.starts_with('/') || resource.path.len() > 254 {
                return Err(SiteFault::Path(number));
            }
            if !resource.fits() {
                return Err(SiteFault::TooLong(number));
            }
        }
        Ok(Self { resources })
    }

    pub(crate) fn resource(&self, number: usize) -> Option<&'static Resource> {
        self.resources.get(number)
    }

    pub(crate) fn path(&self, number: usize) -> Option<&'static [u8]> {
        Some(self.resource(number)?.path.as_bytes())
    }
}

impl Resource {
    fn fits(&self) -> bool {
        let mut length = Slice::counting();
        match self.kind {
            Kind::Page(page) => {
                answer::page(&mut length, self.media_type, page, true, false);
                length.length() <= ANSWER_BYTES_MAX
            }
            Kind::Topic => {
                answer::stream_head(&mut length, self.media_type);
                // A value's head is longer by a number and an entity tag.
                length.length() + 40 <= FRAME_BYTES_MAX
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn topic(path: &'static str, media_type: &'static str) -> Resource {
        Resource {
            path,
            media_type,
            kind: Kind::Topic,
        }
    }

    fn fault(resources: &'static [Resource]) -> Option<SiteFault> {
        Site::new(resources).err()
    }

    #[test]
    fn a_site_that_exists_can_be_served() {
        static MANY: [Resource; 17] = [topic("/a", "text/plain"); 17];
        static LONG: [u8; 8150] = [0; 8150];
        static PAGE: [Resource; 1] = [Resource {
            path: "/",
            media_type: "text/html",
            kind: Kind::Page(&LONG),
        }];
        static RELATIVE: [Resource; 2] = [topic("/a", "text/plain"), topic("a", "text/plain")];
        assert_eq!(fault(&MANY[..16]), None);
        assert_eq!(fault(&MANY), Some(SiteFault::TooMany));
        assert_eq!(fault(&RELATIVE), Some(SiteFault::Path(1)));
        assert_eq!(fault(&PAGE), Some(SiteFault::TooLong(0)));
    }
}
