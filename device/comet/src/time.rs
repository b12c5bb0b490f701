//! The device's time.

/// Milliseconds since the device started; they may wrap around.
pub type Milliseconds = u32;
