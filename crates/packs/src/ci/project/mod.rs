//! Projects: their kinds, how they are detected, and their commands. One file per kind.

mod ask;
mod cargo;
mod detect;
mod dotnet;
mod go;
mod gradle;
mod kind;
mod make;
mod manifest;
mod maven;
mod node;
mod plan;
mod python;

pub(super) use ask::{Action, check_filter};
pub(super) use detect::{Project, below, choose};
pub(super) use kind::Kind;
