//! The types of section 1.5, read where they lie.

use super::fault::Fault;

/// Reads a packet from front to back; offsets count from the packet's first byte.
#[derive(Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Bytes of the packet before `bytes`.
    base: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], base: usize) -> Self {
        Self { bytes, at: 0, base }
    }

    /// The offset of the next byte in the packet.
    pub(super) fn offset(&self) -> usize {
        self.base + self.at
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(super) fn malformed(&self, rule: &'static str) -> Fault {
        Fault::malformed(self.offset(), rule)
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let left = &self.bytes[self.at..];
        if left.len() < length {
            let end = self.base + self.bytes.len();
            return Err(Fault::malformed(end, "the packet ends inside a field"));
        }
        self.at += length;
        Ok(&left[..length])
    }

    pub(super) fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Fault> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        let bytes = self.take(4)?;
        Ok(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A variable byte integer (section 1.5.5).
    pub(super) fn varint(&mut self) -> Result<u32, Fault> {
        let start = self.offset();
        let mut value = 0;
        for index in 0..4 {
            let byte = self.u8()?;
            value |= u32::from(byte & 0x7f) << (7 * index);
            if byte & 0x80 == 0 {
                // [MQTT-1.5.5-1]
                return if byte == 0 && index > 0 {
                    Err(Fault::malformed(
                        start,
                        "an integer in more bytes than needed",
                    ))
                } else {
                    Ok(value)
                };
            }
        }
        Err(Fault::malformed(
            start,
            "an integer of more than four bytes",
        ))
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let length = self.u16()?;
        self.take(usize::from(length))
    }

    /// A UTF-8 encoded string (section 1.5.4); a byte order mark stays [MQTT-1.5.4-3].
    pub(super) fn text(&mut self) -> Result<&'a str, Fault> {
        let bytes = self.binary()?;
        let start = self.offset() - bytes.len();
        // [MQTT-1.5.4-1]: surrogates are no UTF-8 either.
        let text = core::str::from_utf8(bytes)
            .map_err(|error| Fault::malformed(start + error.valid_up_to(), "not UTF-8"))?;
        // [MQTT-1.5.4-2] [MQTT-4.7.3-2]
        match bytes.iter().position(|&byte| byte == 0) {
            Some(at) => Err(Fault::malformed(start + at, "U+0000 in a string")),
            None => Ok(text),
        }
    }

    /// A packet identifier, which is never zero.
    pub(super) fn packet_id(&mut self) -> Result<u16, Fault> {
        let start = self.offset();
        match self.u16()? {
            // [MQTT-2.2.1-3] [MQTT311-2.3.1-1]
            0 => Err(Fault::protocol(start, "packet identifier 0")),
            id => Ok(id),
        }
    }

    pub(super) fn finish(&self) -> Result<(), Fault> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.malformed("more bytes than the packet has fields"))
        }
    }
}
