//! The cost of policy rules per call: `cargo xtask bench policy`.
//!
//! One thread calls a tool through a gateway whose server answers at once, without rules and with
//! 100 rules of different kinds. The difference is the cost of the rules.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reports, and ends if it cannot measure"
)]

use futures_util::FutureExt;
use serde_json::json;
use std::{hint::black_box, sync::Arc, time::Instant};
use tokio::sync::{broadcast, watch};
use trunkline_gateway::{
    Gateway, GatewayOptions,
    catalog::Rules,
    gateway::Source,
    policy::{ArgumentSpec, Effect, PolicyRules, RuleSet, RuleSpec},
    upstream::{Event, Offer},
};
use trunkline_protocol::{Call, Handler, Raw, Reply, Revision, ServerName, message::Implementation, method};

const RULES: usize = 100;
const CALLS: u32 = 200_000;
const ROUNDS: usize = 7;

/// A server with 200 tools that answers at once.
struct Echo {
    name: ServerName,
    changes: watch::Sender<u64>,
    events: broadcast::Sender<Event>,
}

impl Handler for Echo {
    fn call(&self, _: Call) -> Reply {
        Reply::ready(Ok(Raw::empty_object()))
    }
}

impl Source for Echo {
    fn name(&self) -> &ServerName {
        &self.name
    }

    fn offer(&self) -> Option<Arc<Offer>> {
        let tool =
            |number: usize| json!({"name": format!("tool{number}"), "inputSchema": {"type": "object"}});
        let tools: Vec<_> = (0..200).map(tool).collect();
        let kept = json!({
            "introduction": {"capabilities": {"tools": {}}},
            "revision": Revision::NEWEST.as_str(),
            "tools": tools,
            "prompts": [],
            "resources": [],
            "templates": [],
            "beside": [{}, {}, {}, {}],
        });
        Offer::kept(&Raw::from(kept)).map(Arc::new)
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn wake(&self) {}
}

fn text(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

/// Rules for other tools, as in a real policy: each tool has a few.
fn by_tool() -> Vec<RuleSpec> {
    let rule = |number: usize| RuleSpec {
        effect: Effect::Deny,
        tools: text(&format!("echo_tool{}", number + 1)),
        ..RuleSpec::default()
    };
    (0..RULES).map(rule).collect()
}

/// Rules for all tools, each for another caller.
fn by_caller() -> Vec<RuleSpec> {
    let rule = |number: usize| RuleSpec {
        effect: Effect::Deny,
        callers: text(&format!("key:team{number}-*")),
        ..RuleSpec::default()
    };
    (0..RULES).map(rule).collect()
}

/// Rules for all tools, of which ten look at arguments.
fn by_argument() -> Vec<RuleSpec> {
    let condition = |number: usize| ArgumentSpec {
        at: "/path".to_owned(),
        within: Some(format!("/etc/part{number}")),
        ..ArgumentSpec::default()
    };
    let rule = |(number, rule): (usize, RuleSpec)| RuleSpec {
        callers: if number % 10 == 0 { Vec::new() } else { rule.callers },
        arguments: if number % 10 == 0 { vec![condition(number)] } else { Vec::new() },
        ..rule
    };
    by_caller().into_iter().enumerate().map(rule).collect()
}

/// Rules for all callers and tools, all of which look at arguments, by different tests.
fn all_by_argument() -> Vec<RuleSpec> {
    let condition = |number: usize| {
        let (at, value) = (format!("/{}", ["path", "text"][number % 2]), format!("word{number}"));
        let none = ArgumentSpec { at, ..ArgumentSpec::default() };
        match number % 4 {
            0 => ArgumentSpec { within: Some(format!("/etc/part{number}")), ..none },
            1 => ArgumentSpec { glob: Some(format!("*{value}*")), ..none },
            2 => ArgumentSpec { equals: Some(json!(value)), ..none },
            _ => ArgumentSpec { one_of: vec![json!(value), json!("other")], ..none },
        }
    };
    let rule = |number: usize| RuleSpec {
        effect: Effect::Deny,
        arguments: vec![condition(number)],
        ..RuleSpec::default()
    };
    (0..RULES).map(rule).collect()
}

fn gateway(rules: Vec<RuleSpec>) -> Gateway {
    let echo = Echo {
        name: "echo".parse().unwrap(),
        changes: watch::Sender::new(0),
        events: broadcast::Sender::new(1),
    };
    let mut options = GatewayOptions::new(Implementation::new("bench", "1"));
    options.servers = vec![Arc::new(echo)];
    let rules = RuleSet { default: Effect::Allow, rules };
    options.rules = Rules { policy: PolicyRules { rules, ..PolicyRules::default() }, ..Rules::default() };
    Gateway::new(options).unwrap()
}

/// Nanoseconds per call, the best round.
fn measure(gateway: &Gateway) -> f64 {
    let params = json!({"name": "echo_tool0", "arguments": {"path": "/srv/project/a.txt", "text": "hello"}});
    let params = Raw::parse(params.to_string()).unwrap();
    let round = |_| {
        let began = Instant::now();
        for _ in 0..CALLS {
            let call = Call::new(method::TOOLS_CALL, Some(params.clone()));
            let outcome = gateway.call(call).outcome().now_or_never().unwrap();
            assert!(black_box(outcome).is_ok());
        }
        began.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:34} {:>8}  {:>10}", "rules", "ns/call", "the rules");
    let plain = measure(&gateway(Vec::new()));
    println!("{:34} {plain:8.0}", "none");
    for (what, rules) in [
        ("100, by tool", by_tool()),
        ("100, all by caller", by_caller()),
        ("100, by caller, 10 by argument", by_argument()),
        ("100, all by argument", all_by_argument()),
    ] {
        let time = measure(&gateway(rules));
        println!("{what:34} {time:8.0}  {:10.0}", time - plain);
    }
}
