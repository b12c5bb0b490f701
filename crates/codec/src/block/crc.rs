//! CRC-32C (Castagnoli), as iSCSI has it (RFC 3720 section 12.1): reflected polynomial 0x82F63B78.
//!
//! Eight bytes a step by tables that the compiler makes; no instruction set is asked for, so that
//! browser and board run the same code. At a byte an observation its time does not show.

const POLYNOMIAL: u32 = 0x82F6_3B78;

static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = (crc >> 1) ^ (POLYNOMIAL & (crc & 1).wrapping_neg());
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut step = 1;
    while step < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[step - 1][byte];
            tables[step][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        step += 1;
    }
    tables
}

/// Goes on from the checksum of what came before; begin with 0.
pub(super) fn crc32c(before: u32, bytes: &[u8]) -> u32 {
    let mut crc = !before;
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let word = u64::from_le_bytes(*eight) ^ u64::from(crc);
        crc = 0;
        for (step, byte) in word.to_le_bytes().into_iter().enumerate() {
            crc ^= TABLES[7 - step][usize::from(byte)];
        }
    }
    for &byte in rest {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3720 appendix B.4.
    #[test]
    fn the_vectors_of_rfc_3720() {
        assert_eq!(crc32c(0, &[0; 32]), 0x8A91_36AA);
        assert_eq!(crc32c(0, &[0xFF; 32]), 0x62A8_AB43);
        let mut ascending = [0; 32];
        (0..32).for_each(|index| ascending[index] = index as u8);
        assert_eq!(crc32c(0, &ascending), 0x46DD_794E);
        assert_eq!(crc32c(0, b"123456789"), 0xE306_9283);
        assert_eq!(crc32c(crc32c(0, b"12345"), b"6789"), 0xE306_9283);
    }
}
