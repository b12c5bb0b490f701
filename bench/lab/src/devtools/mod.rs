//! A browser under the Chrome DevTools Protocol: started, told, asked.
//!
//! A dozen methods over one WebSocket are all that the bench needs, so answers are plain JSON and
//! what is not understood is passed over: clients that know every event by its type break with each
//! new browser. Deliberately absent: clicking, screenshots, more than one browser at a time.

mod browser;
mod page;
mod slowdown;
mod socket;

pub use browser::Browser;
pub use page::{Page, PageClock};
pub use slowdown::{SLOWDOWN, Slowdown, value_and_work, watched};
pub use socket::PageSocket;
