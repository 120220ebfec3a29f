//! What the official conformance suite does not look at.

mod batches;
mod changes;
mod pages;
mod tasks;
mod unknown;
mod visits;
