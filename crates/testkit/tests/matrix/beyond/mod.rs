//! Behaviour that the official conformance suite does not test.

mod batches;
mod changes;
mod pages;
mod tasks;
mod unknown;
mod visits;
