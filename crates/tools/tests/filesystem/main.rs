//! The filesystem pack, called the way a client calls it, on real directories.

mod attacks;
mod changing;
mod confinement;
mod landlock;
mod place;
mod race;
mod reading;
mod searching;
mod surface;
