//! Addresses of peers, each kept once: a connection names its own by a byte.

/// Who is or was connected.
pub(crate) struct Hosts<const HOSTS: usize>([u32; HOSTS]);

impl<const HOSTS: usize> Hosts<HOSTS> {
    const SIZE: () = assert!(HOSTS >= 1 && HOSTS <= 256);

    pub(crate) const fn new() -> Self {
        let () = Self::SIZE;
        Self([0; HOSTS])
    }

    /// The address's number.
    pub(crate) fn find(&self, address: u32) -> Option<u8> {
        let place = self.0.iter().position(|&host| host == address);
        place.map(|place| place as u8)
    }

    pub(crate) fn address(&self, number: u8) -> u32 {
        self.0.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// The address's number; a new one takes a place that nobody uses, if there is one.
    pub(crate) fn intern(&mut self, address: u32, is_used: impl Fn(u8) -> bool) -> Option<u8> {
        if let Some(number) = self.find(address) {
            return Some(number);
        }
        let free = (0..HOSTS as u16).map(|number| number as u8);
        let number = free
            .into_iter()
            .find(|&number| self.address(number) == 0 || !is_used(number))?;
        *self.0.get_mut(usize::from(number))? = address;
        Some(number)
    }
}
