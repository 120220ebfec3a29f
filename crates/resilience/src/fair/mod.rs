//! Fair use of something scarce: callers take turns, and none has all of it.

mod slots;
mod turns;

pub use slots::{FairSlot, FairSlots};
pub use turns::Turns;
