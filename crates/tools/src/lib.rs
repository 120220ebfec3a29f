//! Our own server: the tool-writing API and the built-in packs.

pub mod process;
