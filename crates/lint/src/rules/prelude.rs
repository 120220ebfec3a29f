//! The names that nearly every rule needs.

pub(in crate::rules) use crate::{
    evidence::{Asked, Case, List},
    outcome::{Finding, Level, Skip, Verdict},
    rule::{Carriers, Check, Clause, Eras, Group, Mode, Rule},
};
