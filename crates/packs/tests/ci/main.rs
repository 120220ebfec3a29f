//! The ci pack, with real projects and programs if they are installed, and a scripted hosted
//! service.

mod bench;
mod commands;
mod jobs;
mod limits;
mod pack;
mod projects;
mod providers;
mod service;
