//! What carries the client's words to a server: its own TCP, or a modem's.

use super::Micros;
use super::buffer::Buffer;
use super::order::Order;
use core::net::SocketAddrV4;

/// The way to one server at a time, and to who gives orders.
pub trait Network {
    /// Whether it takes a byte of the line now.
    fn takes(&self) -> bool;
    /// Takes the line's next byte.
    fn receive(&mut self, byte: u8);
    /// Whether something is on its way to the line.
    fn is_sending(&self) -> bool;
    /// The line's next byte, where there is one.
    fn transmit(&mut self) -> Option<u8>;
    /// Does what is due.
    fn poll(&mut self, now: Micros);
    /// The next order; `None` within where it is none.
    fn order(&mut self) -> Option<Option<Order>>;
    /// Tells who gave the order.
    fn report(&mut self, report: &[u8]);
    /// Turns to a server.
    fn connect(&mut self, server: SocketAddrV4, is_stream: bool);
    /// Whether something can be said to the server.
    fn is_connected(&mut self, is_stream: bool) -> bool;
    /// Whether the server has closed the stream, and nothing of it is left.
    fn is_over(&mut self, is_stream: bool) -> bool;
    /// Leaves the server.
    fn close(&mut self);
    /// Sends what is in `out`: of a stream as much as there is room for, a datagram whole.
    fn send(&mut self, out: &mut Buffer, is_stream: bool);
    /// Appends what came by the stream; whether there was something.
    fn hear_stream(&mut self, heard: &mut Buffer) -> bool;
    /// Puts the next datagram of the server in the place of what was there.
    fn hear_datagram(&mut self, heard: &mut Buffer) -> bool;
}
