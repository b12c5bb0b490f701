//! The invitation to a person's browser: a link, and the same as a code that a phone reads.

use std::net::{SocketAddr, UdpSocket};

use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;

use super::orders::Orders;
use crate::limits::BROWSER_MINUTES_MAX;

/// Browsers take a page that comes over a network in the clear for one that needs no fine clock.
const BY_TLS: &str = "With a clock of microseconds instead of tenths of milliseconds, and by HTTP/2, \
    once the browser has been told to\ntrust the certificate of this run, which it will warn of";

/// An address that is nobody's (RFC 5737 section 3): what would carry packets there faces the network.
const ELSEWHERE: &str = "192.0.2.1:9";

/// Prints the links of a run and waits until a browser has opened one; `by_tls` is the gateway's port of
/// HTTPS, whose certificate is of the run and known to nobody.
pub(super) fn wait_for_browser(gateway: SocketAddr, by_tls: u16) -> Result<Orders, String> {
    let run = Orders::run_name();
    let here = link("http", gateway, &run);
    match this_machine() {
        Some(address) => {
            let elsewhere = link("http", SocketAddr::new(address, gateway.port()), &run);
            let secure = link("https", SocketAddr::new(address, by_tls), &run);
            eprintln!("Open in the browser that is to be measured, on this machine\n\n  {here}\n");
            eprintln!("or on another in this network, a phone for instance\n\n  {elsewhere}\n");
            eprintln!("{}", code(&elsewhere)?);
            eprintln!("{BY_TLS}\n\n  {secure}\n");
        }
        None => eprintln!("Open in the browser that is to be measured\n\n  {here}\n"),
    }
    let orders = Orders::wait(gateway, &run, BROWSER_MINUTES_MAX)?;
    eprintln!("measuring in {}", orders.browser);
    Ok(orders)
}

fn link(scheme: &str, gateway: SocketAddr, run: &str) -> String {
    format!("{scheme}://{gateway}/measure?run={run}")
}

/// The address by which others reach this machine; asking sends nothing.
fn this_machine() -> Option<std::net::IpAddr> {
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
        let link = link("http", gateway, "0123456789abcdef");
        assert_eq!(link, "http://192.0.2.17:43210/measure?run=0123456789abcdef");
        let code = code(&link).unwrap();
        assert!(code.lines().all(|line| line.chars().count() <= 80));
        assert!(code.lines().count() <= 24, "{}", code.lines().count());
    }
}
