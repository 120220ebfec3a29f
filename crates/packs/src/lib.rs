//! The built-in packs of tools: [`filesystem`], [`git`], [`ci`] and `documents`.
//!
//! A pack builds [`Tool`](trunkline_toolbox::Tool)s from its options. The filesystem pack accesses
//! files only through the [`sandbox`], and programs run only through [`trunkline_process`].

pub mod ci;
#[cfg(feature = "documents")]
pub mod documents;
pub mod filesystem;
pub mod git;
mod roots;
pub mod sandbox;
mod text_and_data;
