//! Networks as configuration names them: an address, or a prefix such as `10.0.0.0/8`.

use std::net::IpAddr;
use std::str::FromStr;

/// Addresses that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// A text that names no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoNetwork;

impl Network {
    /// Reads networks with commas or spaces between them.
    pub fn list(text: &str) -> Result<Vec<Self>, NoNetwork> {
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        words.map(str::parse).collect()
    }

    /// Says whether an address is one of it; an IPv4 address that is written as IPv6 is itself.
    pub fn holds(self, other: IpAddr) -> bool {
        let (own, other, width) = match (self.address, other.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits().into(), other.to_bits().into(), 32)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => (own.to_bits(), other.to_bits(), 128),
            _ => return false,
        };
        let differ: u128 = own ^ other;
        differ
            .checked_shr(width - u32::from(self.bits))
            .unwrap_or(0)
            == 0
    }
}

impl FromStr for Network {
    type Err = NoNetwork;

    fn from_str(text: &str) -> Result<Self, NoNetwork> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| NoNetwork)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse().map_err(|_| NoNetwork))?;
        (bits <= most)
            .then_some(Self { address, bits })
            .ok_or(NoNetwork)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_network_holds_what_begins_as_it_does() {
        let holds = |network: &str, address: &str| {
            let network: Network = network.parse().unwrap();
            network.holds(address.parse().unwrap())
        };
        assert!(holds("10.0.0.0/8", "10.1.2.3") && !holds("10.0.0.0/8", "11.0.0.1"));
        assert!(holds("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(holds("192.0.2.9", "192.0.2.9") && !holds("192.0.2.9", "192.0.2.8"));
        assert!(holds("0.0.0.0/0", "11.0.0.1") && !holds("0.0.0.0/0", "::1"));
        assert!(holds("2001:db8::/32", "2001:db8::1") && holds("::/0", "::1"));
        for bad in [
            "",
            "10.0.0.0/33",
            "10.0.0.0/-1",
            "::/129",
            "here",
            "10.0.0.0/",
        ] {
            assert_eq!(bad.parse::<Network>(), Err(NoNetwork), "{bad}");
        }
        assert_eq!(Network::list(" 10.0.0.0/8, ::1").unwrap().len(), 2);
        assert!(Network::list("").unwrap().is_empty() && Network::list("::1, x").is_err());
    }
}
