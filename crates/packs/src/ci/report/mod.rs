//! Reports: what a build or a test run said, as data. One file per format.
//!
//! Output is written for people and changes between versions, so what is not understood is left out rather than
//! guessed; whether a run succeeded is told by its status, never by a parser.

mod cargo;
mod compiler;
mod dotnet;
mod eslint;
mod evidence;
mod go;
mod gradle;
mod jest;
mod junit;
mod maven;
mod mocha;
mod place;
mod pytest;
mod read;
#[cfg(test)]
mod recorded;
mod spec;
mod tap;
mod trial;
mod types;
mod unittest;
mod vitest;
mod xml;

pub(super) use evidence::Evidence;
pub(super) use read::{Reading, read};
pub use trial::reports;
pub(super) use types::{Diagnostic, Report, Severity, TestCounts, TestFailure};
