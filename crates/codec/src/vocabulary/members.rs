//! The members of an observation: what they are called, in one list for trees and for documents.

use crate::syntax::{Label, label};

/// The member that holds a message's observations.
pub(crate) const OBSERVATIONS: Label = label!("observations");

macro_rules! members {
    ($($member:ident $label:ident $name:literal,)*) => {
        $(
            #[doc = concat!("`", $name, "`")]
            pub(crate) const $label: Label = label!($name);
        )*

        /// A member of an observation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Member {
            $($member,)*
            Unknown,
        }

        impl Member {
            /// Its name.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Member::$member => $name,)*
                    Member::Unknown => "",
                }
            }

            /// The member of this name.
            pub(crate) fn named(name: &str) -> Self {
                match name {
                    $($name => Member::$member,)*
                    _ => Member::Unknown,
                }
            }
        }
    };
}

members! {
    Topic TOPIC "topic",
    Sensor SENSOR "sensor",
    Type TYPE "type",
    Value VALUE "value",
    Unit UNIT "unit",
    Time TIME "time",
    Lat LAT "lat",
    Lon LON "lon",
    End END "end",
    ResultTime RESULT_TIME "resultTime",
    ValidTime VALID_TIME "validTime",
    Quality QUALITY "quality",
    Feature FEATURE "feature",
    Parameters PARAMETERS "parameters",
}
