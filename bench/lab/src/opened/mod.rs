//! Browsers that a person opens: invited by a link, told what to do over the gateway, their clocks asked for.
//!
//! The link is printed, and drawn as a code that a phone reads where it leads beyond this machine.

mod clock;
mod orders;

use std::net::{IpAddr, SocketAddr, UdpSocket};

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

pub use clock::{Clocks, Offset};
pub use orders::Orders;

use weir_bench_model::limits::BROWSER_MINUTES_MAX;

/// Browsers take a page that comes over a network in the clear for one that needs no fine clock.
const BY_TLS: &str = "With a clock of microseconds instead of tenths of milliseconds, and by HTTP/2, \
    once the browser has been told to\ntrust the certificate of this run, which it will warn of";

/// An address that is nobody's (RFC 5737 section 3): what would carry packets there faces the network.
const ELSEWHERE: &str = "192.0.2.1:9";

/// A page of a gateway on this machine.
pub struct Invitation<'a> {
    /// Where it is reached from this machine.
    pub gateway: SocketAddr,
    /// Its name.
    pub page: &'a str,
    /// The gateway's address for others; absent: nobody else reaches it.
    pub elsewhere: Option<IpAddr>,
    /// The gateway's port of HTTPS, whose certificate is of the run and known to nobody.
    pub port_by_tls: Option<u16>,
    /// What is to be opened.
    pub what: &'a str,
}

impl Invitation<'_> {
    /// Prints the links of a run and waits until a browser has opened one.
    pub fn wait(&self) -> Result<Orders, String> {
        let run = Orders::run_name();
        self.print(&run)?;
        let orders = Orders::wait(self.gateway, &run, BROWSER_MINUTES_MAX)?;
        eprintln!("measuring in {}", orders.browser);
        Ok(orders)
    }

    fn print(&self, run: &str) -> Result<(), String> {
        let what = self.what;
        eprintln!(
            "Open in {what}, on this machine\n\n  {}\n",
            self.link("http", self.gateway, run)
        );
        let Some(address) = self.elsewhere else {
            return Ok(());
        };
        let elsewhere = self.link("http", SocketAddr::new(address, self.gateway.port()), run);
        eprintln!("or on another in this network, a phone for instance\n\n  {elsewhere}\n");
        eprintln!("{}", code(&elsewhere)?);
        if let Some(port) = self.port_by_tls {
            let secure = self.link("https", SocketAddr::new(address, port), run);
            eprintln!("{BY_TLS}\n\n  {secure}\n");
        }
        Ok(())
    }

    fn link(&self, scheme: &str, gateway: SocketAddr, run: &str) -> String {
        format!("{scheme}://{gateway}/{}?run={run}", self.page)
    }
}

/// The address by which others reach this machine; asking sends nothing.
pub fn this_machine() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect(ELSEWHERE).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then_some(address)
}

/// A QR code (ISO/IEC 18004) of half blocks, light on dark as terminals mostly are.
fn code(link: &str) -> Result<String, String> {
    let code = QrCode::new(link).map_err(|e| format!("the code of the link: {e}"))?;
    let mut drawing = code.render::<Dense1x2>();
    drawing
        .dark_color(Dense1x2::Light)
        .light_color(Dense1x2::Dark);
    Ok(drawing.build())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_code_of_a_link_fits_a_terminal() {
        let gateway: SocketAddr = "192.0.2.17:43210".parse().unwrap();
        let invitation = Invitation {
            gateway,
            page: "measure",
            elsewhere: None,
            port_by_tls: None,
            what: "a browser",
        };
        let link = invitation.link("http", gateway, "0123456789abcdef");
        assert_eq!(link, "http://192.0.2.17:43210/measure?run=0123456789abcdef");
        let code = code(&link).unwrap();
        assert!(code.lines().all(|line| line.chars().count() <= 80));
        assert!(code.lines().count() <= 24, "{}", code.lines().count());
    }
}
