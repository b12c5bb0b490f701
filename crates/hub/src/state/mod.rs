//! What the hub knows: plain data, which know neither the hub nor each other's owners.

pub(crate) mod catalog;
pub(crate) mod consumers;
pub(crate) mod entities;
pub(crate) mod feeder;
pub(crate) mod forgotten;
pub(crate) mod held;
pub(crate) mod journal;
pub(crate) mod keys;
pub(crate) mod numbers;
pub(crate) mod recent;
pub(crate) mod retained;
pub(crate) mod routes;
pub(crate) mod stood;
pub(crate) mod tree;
pub(crate) mod withdrawn;
