//! Schemas to grammars: what each construct of XML Schema becomes, with event codes worked out by
//! hand from EXI 1.0 section 8.5.4.

mod datatypes;
mod documents;
mod errors;
mod examples;
mod fragments;
mod hostile;
mod models;
mod names;
mod support;
mod types;
