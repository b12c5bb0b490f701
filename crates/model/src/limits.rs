//! The limits that every decoder and every name honours; reaching one is an error that names it.

/// Longest topic or filter, in bytes (MQTT 5.0 section 1.5.4 allows 65,535; a datastream's path needs far less).
pub const TOPIC_BYTES_MAX: usize = 1024;
/// Most levels of a topic or filter.
pub const TOPIC_LEVELS_MAX: usize = 64;

/// What one message may cost its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest message, in bytes, before and after decompression.
    pub message_bytes: usize,
    /// Most observations in a message.
    pub observations: usize,
    /// Deepest nesting of maps, arrays or elements.
    pub depth: usize,
    /// Longest single string, in bytes.
    pub text_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 16 << 20,
            observations: 200_000,
            depth: 32,
            text_bytes: 1 << 20,
        }
    }
}

/// Descriptions that one datastream may have had: what tells them apart is a byte.
pub const DESCRIPTIONS_MAX: usize = 255;
