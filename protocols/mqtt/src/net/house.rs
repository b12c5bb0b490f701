//! What all connections share.

use super::sessions::Sessions;
use super::settings::Settings;
use super::thrown::Thrown;
use super::will::Wills;

/// What all connections share.
pub(super) struct House {
    pub(super) settings: Settings,
    pub(super) sessions: Sessions,
    pub(super) thrown: Thrown,
    pub(super) wills: Wills,
}
