//! The ci pack, with real projects and programs where the machine has them, and with a scripted service where it has not.

mod bench;
mod commands;
mod jobs;
mod limits;
mod pack;
mod projects;
mod providers;
mod service;
