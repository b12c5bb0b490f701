//! EXI: what it promises, one file each. One program, since linking each takes longer than running it.

mod canonical;
mod edges;
mod malformed;
mod mutations;
mod pieces;
mod records;
mod roundtrip;
mod statements;
mod support;
mod vectors;
mod w3c;
mod xsd;
