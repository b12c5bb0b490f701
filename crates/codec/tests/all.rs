//! Formats: what they promise, one file each. One program, since linking each takes longer than running it.

mod blank;
mod block;
mod exi;
mod flaws;
mod malformed;
mod numbers;
mod om;
mod om_meaning;
mod om_shapes;
mod rdf;
mod round_trip;
mod senml;
mod shapes;
mod soap;
mod swe_text;
mod table;
mod twice;
mod xml;
