//! The files of other clients, read and turned into ours.

mod name;

pub(crate) use name::legal_name;
