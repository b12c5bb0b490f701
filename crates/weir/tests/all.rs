//! The program as its users start it, one file a part. One program, since linking each takes longer than running it.

mod beside;
mod clients;
mod convert;
mod exi;
mod history;
mod live;
mod process;
mod readme;
mod services;
mod tls;
