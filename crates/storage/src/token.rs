//! A page token: the last row given, and for which query.
//!
//! Bytes: CRC-32C u32 over the rest and the query, time i64, ordinal varint-free u64, the topic; in
//! base64url without padding (RFC 4648 section 5). It names a place in the order of rows and not a
//! place in files, so it stays valid while rows are applied, merged and dropped.

use crate::history::{HistoryFault, Range};

/// Longest token of a page of history, in bytes.
const TOKEN_BYTES_MAX: usize = 2048;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const HEAD_BYTES: usize = 20;

/// Where a page ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Token {
    /// Time of the last row, or begin of the last window.
    pub time: i64,
    /// Its topic.
    pub topic: String,
    /// How many rows of this time and topic were given.
    pub ordinal: u64,
}

impl Token {
    /// The token of a query, where it has one.
    pub fn of(query: &Range<'_>) -> Result<Option<Self>, HistoryFault> {
        let token = query
            .page
            .map(|page| Self::parse(page, query).ok_or(HistoryFault::BadPage));
        token.transpose()
    }

    /// Prints it for the query that it is of.
    pub fn print(&self, query: &Range<'_>) -> String {
        let mut bytes = vec![0; 4];
        bytes.extend_from_slice(&self.time.to_le_bytes());
        bytes.extend_from_slice(&self.ordinal.to_le_bytes());
        bytes.extend_from_slice(self.topic.as_bytes());
        let checksum = checksum(&bytes[4..], query);
        bytes[..4].copy_from_slice(&checksum.to_le_bytes());
        encode(&bytes)
    }

    /// Reads a token that was given for this query (its topics may have become more).
    pub fn parse(text: &str, query: &Range<'_>) -> Option<Self> {
        let bytes = decode(text)?;
        let (head, topic) = bytes.split_at_checked(HEAD_BYTES)?;
        if checksum(&bytes[4..], query).to_le_bytes() != head[..4] {
            return None;
        }
        Some(Self {
            time: i64::from_le_bytes(head[4..12].try_into().ok()?),
            ordinal: u64::from_le_bytes(head[12..20].try_into().ok()?),
            topic: String::from_utf8(topic.to_vec()).ok()?,
        })
    }
}

fn checksum(content: &[u8], query: &Range<'_>) -> u32 {
    let mut sum = crc32c::crc32c(content);
    for number in [query.from.nanos(), query.to.nanos()] {
        sum = crc32c::crc32c_append(sum, &number.to_le_bytes());
    }
    if let Some(aggregate) = query.aggregate {
        sum = crc32c::crc32c_append(sum, &[aggregate.function as u8]);
        sum = crc32c::crc32c_append(sum, &aggregate.window.as_nanos().to_le_bytes());
    }
    sum
}

fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let three = group
            .iter()
            .fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
        let bits = three << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            let index = bits >> (18 - 6 * place) & 63;
            text.push(char::from(ALPHABET[index as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Option<Vec<u8>> {
    if text.len() > TOKEN_BYTES_MAX || text.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for letter in group {
            let index = ALPHABET.iter().position(|known| known == letter)?;
            bits = bits << 6 | index as u32;
        }
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::Time;

    #[test]
    fn a_token_reads_back_for_its_query_only() {
        let time = Time::from_nanos;
        let query = |from| Range {
            topics: &[],
            from: time(from),
            to: time(99),
            limit: 1,
            page: None,
            aggregate: None,
            hidden: None,
            units: None,
        };
        for topic in ["a", "a/b", "kitchen/température"] {
            let token = Token {
                time: -7,
                topic: topic.into(),
                ordinal: 3,
            };
            let text = token.print(&query(1));
            assert!(text.bytes().all(|byte| ALPHABET.contains(&byte)));
            assert_eq!(Token::parse(&text, &query(1)), Some(token));
            assert_eq!(Token::parse(&text, &query(2)), None);
            assert_eq!(Token::parse(&text[1..], &query(1)), None);
        }
    }
}
