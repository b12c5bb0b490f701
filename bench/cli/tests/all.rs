//! The program as its users start it, one file a part. One program, since linking each takes longer than running it.

mod bench;
mod kept;
mod link;
mod process;
