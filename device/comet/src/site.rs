//! What a device serves: pages that never change, and topics that do.

use crate::answer::{HEAD_BYTES_MAX, PAGE_HEAD_BYTES_MAX};
use crate::features::{STREAMING, VALUES};
use crate::limits::{ANSWER_BYTES_MAX, FRAME_BYTES_MAX, RESOURCES_MAX};
use crate::word::Word;

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
    /// The same, compressed (RFC 9110 section 8.4.1.2: `deflate`), whatever a client says that it accepts.
    Deflated(&'static [u8]),
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
    /// A site of these resources; a device has it compiled.
    pub const fn new(resources: &'static [Resource]) -> Result<Self, SiteFault> {
        if resources.len() > RESOURCES_MAX {
            return Err(SiteFault::TooMany);
        }
        let mut number = 0;
        while number < resources.len() {
            let resource = &resources[number];
            if !matches!(resource.path.as_bytes(), [b'/', ..]) || resource.path.len() > 254 {
                return Err(SiteFault::Path(number));
            }
            if !resource.fits() {
                return Err(SiteFault::TooLong(number));
            }
            number += 1;
        }
        Ok(Self { resources })
    }

    pub(crate) fn resource(&self, number: usize) -> Option<&'static Resource> {
        self.resources.get(number)
    }

    /// The number of the resource with this path.
    pub(crate) fn find(&self, path: Word) -> Option<usize> {
        let mut resources = self.resources.iter();
        resources.position(|resource| Word::of(resource.path) == path)
    }
}

impl Resource {
    const fn fits(&self) -> bool {
        let media_type = self.media_type.len();
        match self.kind {
            Kind::Page(page) | Kind::Deflated(page) => {
                PAGE_HEAD_BYTES_MAX + media_type + page.len() <= ANSWER_BYTES_MAX
            }
            Kind::Topic if !VALUES && !STREAMING => HEAD_BYTES_MAX <= FRAME_BYTES_MAX,
            Kind::Topic => HEAD_BYTES_MAX + media_type <= FRAME_BYTES_MAX,
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
