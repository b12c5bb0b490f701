#![allow(clippy::unwrap_used)]

mod bindings;
mod bounds;
mod dialect;
mod filtering;
mod house;
mod inserting;
mod json;
mod reading;
mod requirements;
mod version1;
