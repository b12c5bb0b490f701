//! The modem of paper 003: a Wi-Fi module with the TCP/IP stack in it, told by AT commands over a UART.
//!
//! What the application says crosses the serial line before it meets the link, and what it hears after.
//! Counted are the bytes of the line at its speed (8 data bits, a start and a stop bit): the command that
//! announces a sending, its prompt, the data; and the notice before what came. Deliberately left out is
//! what module and board spend by themselves, which the paper does not tell.

use std::time::Duration;

use weir_bench_model::clock::now_ns;

/// Bits a second of the module's line as it is delivered (Espressif's AT firmware).
const BAUD: u64 = 115_200;
/// Bits of a byte on the line.
const BITS: u64 = 10;

/// `AT+CIPSEND=`, a line's end, `OK`, the prompt, and their line ends.
const SEND_BYTES: u64 = 11 + 2 + 2 + 2 + 2 + 2;
/// A line's end, `+IPD,`, a colon.
const NOTICE_BYTES: u64 = 2 + 5 + 1;

/// Waits as long as so many bytes take to the module.
pub(crate) fn pass_up(bytes: usize) {
    wait(SEND_BYTES + digits(bytes) + bytes as u64);
}

/// Waits as long as so many bytes take from the module.
pub(crate) fn pass_down(bytes: usize) {
    wait(NOTICE_BYTES + digits(bytes) + bytes as u64);
}

fn digits(number: usize) -> u64 {
    u64::from(number.max(1).ilog10()) + 1
}

fn nanos(bytes: u64) -> u64 {
    bytes * BITS * 1_000_000_000 / BAUD
}

/// By the clock: what one sleep was too long is not added to.
fn wait(bytes: u64) {
    let end = now_ns() + nanos(bytes);
    std::thread::sleep(Duration::from_nanos(nanos(bytes)));
    while now_ns() < end {
        std::hint::spin_loop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_115200_baud_carries_11520_bytes_a_second() {
        assert_eq!(nanos(11_520), 1_000_000_000);
    }

    #[test]
    fn lengths_are_written_in_decimal() {
        assert_eq!([0, 9, 10, 1400].map(digits), [1, 1, 2, 4]);
    }
}
