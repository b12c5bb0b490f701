#![allow(clippy::unwrap_used)]

mod bindings;
mod house;
mod inserting;
mod reading;
