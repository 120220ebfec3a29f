//! Reports: the output of a build or test run as data. One file per format.
//!
//! Output is written for people and changes between versions, so unknown lines are left out
//! instead of guessed. Success is decided by the exit status, never by a parser.

mod cargo;
mod compiler;
mod dotnet;
mod eslint;
mod evidence;
mod go;
mod gradle;
mod jest;
mod junit;
mod location;
mod maven;
mod mocha;
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
