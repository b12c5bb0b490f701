//! Framed messages in one run of bytes; a subscriber is a position in it.

use weir_bench_model::limits::NULL_LOG_BYTES_MAX;

/// What was published, framed for one scheme.
#[derive(Default)]
pub(super) struct Log {
    bytes: Vec<u8>,
    /// Ends of the messages, as positions.
    ends: std::collections::VecDeque<u64>,
    start: u64,
    /// Whether anyone has ever asked for it; nothing is kept before.
    pub(super) is_followed: bool,
}

/// Bytes from which what all have read is dropped.
const TRIM_BYTES: usize = 4 * 1024 * 1024;

impl Log {
    /// The position of the oldest byte.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// The position after the newest byte.
    pub(super) fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Appends one message, written by `frame`.
    pub(super) fn append(&mut self, frame: impl FnOnce(&mut Vec<u8>)) {
        frame(&mut self.bytes);
        let end = self.end();
        self.ends.push_back(end);
    }

    /// All bytes from a position on.
    pub(super) fn after(&self, position: u64) -> &[u8] {
        let offset = position.saturating_sub(self.start) as usize;
        self.bytes.get(offset..).unwrap_or_default()
    }

    /// The bytes from a position to the end of the message in which it lies.
    pub(super) fn message_after(&self, position: u64) -> &[u8] {
        let index = self.ends.partition_point(|&end| end <= position);
        let len = self.ends.get(index).map_or(0, |end| end - position) as usize;
        &self.after(position)[..len]
    }

    /// Whether trimming is worth its copy.
    pub(super) fn is_long(&self) -> bool {
        self.bytes.len() > TRIM_BYTES && self.is_followed
    }

    /// Drops what lies before `slowest`, and whatever exceeds the limit.
    pub(super) fn trim(&mut self, slowest: u64) {
        let excess = self.end().saturating_sub(NULL_LOG_BYTES_MAX as u64);
        // A poller is between two requests: what it will ask for next is recent.
        let recent = self.end().saturating_sub(TRIM_BYTES as u64 / 4);
        let start = slowest.min(recent).max(self.start).max(excess);
        let dropped = (start - self.start) as usize;
        // Dropping less than half would copy each byte more than once.
        if dropped < TRIM_BYTES / 2 || (dropped < self.bytes.len() / 2 && excess < start) {
            return;
        }
        self.bytes.drain(..dropped);
        self.start = start;
        while self.ends.front().is_some_and(|&end| end <= start) {
            self.ends.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscriber_reads_whole_messages_or_all_that_is_due() {
        let mut log = Log::default();
        log.append(|bytes| bytes.extend_from_slice(b"one,"));
        log.append(|bytes| bytes.extend_from_slice(b"two,"));
        assert_eq!(log.message_after(0), b"one,");
        assert_eq!(log.message_after(4), b"two,");
        assert_eq!(log.after(2), b"e,two,");
        assert_eq!(log.message_after(8), b"");
    }

    #[test]
    fn trimming_keeps_what_the_slowest_has_not_read() {
        let mut log = Log {
            is_followed: true,
            ..Log::default()
        };
        for _ in 0..3 {
            log.append(|bytes| bytes.resize(bytes.len() + TRIM_BYTES / 2, b'x'));
        }
        let slowest = TRIM_BYTES as u64 + 1;
        log.trim(slowest);
        assert_eq!(log.start(), slowest);
        assert_eq!(log.message_after(slowest).len(), TRIM_BYTES / 2 - 1);
    }
}
