//! Is this server right? Probes gather evidence, rules judge it, reports render it.

pub mod doctor;
