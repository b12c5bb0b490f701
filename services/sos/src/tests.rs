#![allow(clippy::unwrap_used)]

mod all_or_none;
mod bindings;
mod bounds;
mod descriptions;
mod dialect;
mod disclosure;
mod filtering;
mod house;
mod inserting;
mod json;
mod json_results;
mod meaning;
mod offerings;
mod reading;
mod requirements;
mod scans;
mod sensors;
mod version1;
mod version1_bindings;
