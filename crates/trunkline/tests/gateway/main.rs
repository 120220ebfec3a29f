//! The whole gateway: the real binary in front of real programs. Tests are named after their row
//! in the catalogue of attacks.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../real_authority/authority.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod authority;
#[path = "../clients/cell.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod cell;
#[path = "../clients/inspector.rs"]
mod inspector;
#[path = "../support/installed.rs"]
mod installed;
#[path = "../clients/peers.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod peers;
#[path = "../clients/rust.rs"]
mod rust;
#[path = "../../../auth/tests/signer/mod.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod signer;
#[path = "../clients/visit.rs"]
mod visit;

mod allowed;
mod breaker;
mod browser;
mod caller;
mod classic;
mod deputy;
mod disclosed;
mod door;
mod endpoints;
mod executions;
mod executions_callers;
mod executions_cli;
mod executions_killed;
mod executions_tasks;
mod forgotten_session;
mod handover;
mod hooks;
mod identities;
mod isolation;
mod kept_lists;
mod leaks;
mod limits;
mod list_ttl;
mod load;
mod locked;
mod lockout;
mod login_changes;
mod memory;
mod odd;
mod operate;
mod parity;
mod pauses;
mod principals;
mod process;
mod processes;
mod real;
mod redis_process;
mod reload;
mod replay;
mod rest;
mod rest_openapi;
mod rest_web;
mod ruled_packs;
mod schemas;
mod servers;
mod shown;
mod site;
mod strangers;
mod ten;
mod terminal;
mod truth;
mod upstream;
mod wire;
