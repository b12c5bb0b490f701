//! Where clients are: so many on a host, each with ports of its own.

/// Ports of a client are so far apart, and as many clients have an address.
pub(crate) const PORTS: u16 = 512;

/// The address of a client's host.
pub(crate) fn host(number: usize) -> [u8; 4] {
    [10, 9, (number / usize::from(PORTS)) as u8, 1]
}
