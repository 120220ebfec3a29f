//! Every rule of the linter against a server that breaks it, and against one that does not.
//!
//! A rule's fixture is `crates/lint/fixtures/<group>/<rule>.json`: the faults of bad servers and,
//! where the model's own server is not suitable, a good one. The snapshot is the report as a user
//! sees it.

mod clean;
mod false_alarms;
mod faults;
mod fixture;
mod mended;
mod reports;
mod table;

use fixture::Fixture;
use trunkline_lint::{Group, rules};

/// Runs all fixtures of a group.
fn group(group: Group) {
    let mut wrong = Vec::new();
    for rule in rules::all().filter(|rule| rule.group == group) {
        match Fixture::load(rule) {
            Ok(fixture) => wrong.extend(fixture.run()),
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

macro_rules! groups {
    ($($name:ident: $group:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            group(Group::$group);
        })*
    };
}

groups! {
    lifecycle: Lifecycle,
    json_rpc: JsonRpc,
    stdio: Stdio,
    http: Http,
    tools: Tools,
    resources: Resources,
    prompts: Prompts,
    utilities: Utilities,
    tasks: Tasks,
    auth: Auth,
    security: Security,
    performance: Performance,
    context: Context,
    docs: Docs,
    config: Config,
}
