//! The filesystem pack, called the way a client calls it, on real directories.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attacks;
mod changing;
mod confinement;
mod landlock;
mod place;
mod protected;
mod race;
mod reading;
mod searching;
mod surface;
