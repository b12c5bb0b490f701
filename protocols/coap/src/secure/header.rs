//! The value of the OSCORE option (RFC 8613 section 6.1).

use super::numbers::SEQUENCE_MAX;

/// Longest sender and recipient identifier with AES-CCM-16-64-128: the nonce's 13 bytes less 6 (RFC 8613
/// section 3.3).
pub(super) const ID_BYTES_MAX: usize = 7;
const PIV_BYTES_MAX: usize = 5;
const KID: u8 = 0x08;
const KID_CONTEXT: u8 = 0x10;
const RESERVED: u8 = 0xe0;

/// A sequence number as it stands in a message: without leading zeros, zero as one byte (RFC 8613
/// section 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartialIv {
    bytes: [u8; PIV_BYTES_MAX],
    length: u8,
}

impl PartialIv {
    /// Of a sequence number; none where it has more than 40 bits.
    pub fn new(sequence: u64) -> Option<Self> {
        if sequence > SEQUENCE_MAX {
            return None;
        }
        let all = sequence.to_be_bytes();
        let start = (sequence.leading_zeros() as usize / 8).min(7);
        Self::read(&all[start..])
    }

    fn read(value: &[u8]) -> Option<Self> {
        let mut bytes = [0; PIV_BYTES_MAX];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        (!value.is_empty()).then_some(Self {
            bytes,
            length: value.len() as u8,
        })
    }

    /// As it stands in a message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }

    /// The sequence number.
    pub fn sequence(&self) -> u64 {
        let bytes = self.as_bytes().iter();
        bytes.fold(0, |sum, &byte| sum << 8 | u64::from(byte))
    }
}

/// What the OSCORE option says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header<'a> {
    /// The sender's sequence number, where the nonce is made of it.
    pub piv: Option<PartialIv>,
    /// Whose key it is.
    pub kid: Option<&'a [u8]>,
    /// Among which keys that is looked for.
    pub kid_context: Option<&'a [u8]>,
}

impl<'a> Header<'a> {
    /// Reads the option's value; none where it is malformed (RFC 8613 section 2).
    // [RFC8613-2-1] [RFC8613-6.1-1]
    pub fn parse(value: &'a [u8]) -> Option<Self> {
        let Some((&flags, rest)) = value.split_first() else {
            return Some(Self::default());
        };
        let length = usize::from(flags & 7);
        // All zero is the empty value; the reserved lengths are 6 and 7.
        if flags == 0 || flags & RESERVED != 0 || length > PIV_BYTES_MAX {
            return None;
        }
        let (piv, mut rest) = rest.split_at_checked(length)?;
        let mut header = Self {
            piv: PartialIv::read(piv),
            ..Self::default()
        };
        if flags & KID_CONTEXT != 0 {
            let (&length, behind) = rest.split_first()?;
            let (context, behind) = behind.split_at_checked(usize::from(length))?;
            header.kid_context = Some(context);
            rest = behind;
        }
        match flags & KID != 0 {
            true => header.kid = Some(rest),
            false if !rest.is_empty() => return None,
            false => {}
        }
        Some(header)
    }

    /// The option's value.
    pub fn write(&self) -> Vec<u8> {
        let piv = self.piv.as_ref().map_or(&[][..], PartialIv::as_bytes);
        let mut flags = piv.len() as u8;
        flags |= self.kid.map_or(0, |_| KID);
        flags |= self.kid_context.map_or(0, |_| KID_CONTEXT);
        if flags == 0 {
            return Vec::new();
        }
        let mut out = vec![flags];
        out.extend_from_slice(piv);
        if let Some(context) = self.kid_context {
            out.push(context.len() as u8);
            out.extend_from_slice(context);
        }
        out.extend_from_slice(self.kid.unwrap_or_default());
        out
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// RFC 8613 section 6.3.
    #[test]
    fn the_examples_of_the_standard_are_read_and_written() {
        for (value, piv, kid, context) in [
            (&[0x09, 0x05, 0x25][..], Some(5), Some(&[0x25][..]), None),
            (&[0x09, 0x00, 0x25], Some(0), Some(&[0x25]), None),
            (&[0x09, 0x14], Some(0x14), Some(&[]), None),
            (
                &[0x19, 0x05, 0x03, 0x44, 0x61, 0x6c, 0x25],
                Some(5),
                Some(&[0x25]),
                Some(&b"Dal"[..]),
            ),
            (&[], None, None, None),
            (&[0x01, 0x07], Some(7), None, None),
        ] {
            let header = Header::parse(value).unwrap();
            assert_eq!(header.piv.map(|piv| piv.sequence()), piv, "{value:02x?}");
            assert_eq!((header.kid, header.kid_context), (kid, context));
            assert_eq!(header.write(), value);
        }
    }

    /// [RFC8613-2-1] [RFC8613-6.1-1]
    #[test]
    fn a_value_that_is_none_is_refused() {
        for value in [
            &[0x00][..],
            &[0x06, 1, 2, 3, 4, 5, 6],
            &[0x07, 1, 2, 3, 4, 5, 6, 7],
            &[0x89, 1],
            &[0x02, 1],
            &[0x10],
            &[0x10, 2, 1],
            &[0x01, 1, 2],
        ] {
            assert_eq!(Header::parse(value), None, "{value:02x?}");
        }
    }

    #[test]
    fn a_sequence_number_has_no_leading_zeros_and_40_bits() {
        for (sequence, bytes) in [
            (0, &[0][..]),
            (255, &[255]),
            (256, &[1, 0]),
            (SEQUENCE_MAX, &[255; 5]),
        ] {
            let piv = PartialIv::new(sequence).unwrap();
            assert_eq!((piv.as_bytes(), piv.sequence()), (bytes, sequence));
        }
        assert_eq!(PartialIv::new(SEQUENCE_MAX + 1), None);
    }
}
