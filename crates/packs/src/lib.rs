//! The built-in packs of tools: [`filesystem`], [`git`] and [`ci`].
//!
//! A pack makes [`Tool`](trunkline_toolbox::Tool)s from its options. The [`sandbox`] is the only way to files, and
//! [`trunkline_process`] the only way to run a program.

pub mod ci;
pub mod filesystem;
pub mod git;
pub mod sandbox;
mod told;
