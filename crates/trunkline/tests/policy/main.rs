//! The policy, with the real binary in front of a real program. Tests are named after their row in
//! the catalogue of attacks.
#![expect(clippy::unwrap_used, reason = "a test may panic, and so may what it is made of")]

#[path = "../gateway/caller.rs"]
mod caller;
#[path = "../gateway/door.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod door;
#[path = "../support/installed.rs"]
mod installed;
#[path = "../clients/peers.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod peers;
#[path = "../gateway/processes.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod processes;
#[path = "../gateway/site.rs"]
#[expect(dead_code, reason = "it serves another target, too")]
mod site;
#[path = "../gateway/wire.rs"]
mod wire;

mod asking_packs;
mod commands;
mod consent;
mod cut;
mod explained;
mod limits_of_consent;
mod outcome;
mod session_consent;
mod table;
mod ways;
