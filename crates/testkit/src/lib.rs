//! Scripted peers and real test servers; used by tests only.

pub mod faulty;
pub mod peers;
pub mod script;
