//! The exchanges with more than one response: subscriptions, tasks, cancelled calls, logs and
//! questions.

use super::{
    exchange::{Era, Exchange, ODD, request},
    line::{POLL, Step, TASK},
};

/// The messages that a client of `era` sends in front of a server of the other era or its own.
pub(crate) fn all(era: Era, server: Era) -> Vec<Exchange> {
    let mut exchanges = match era {
        Era::Legacy => vec![("subscribe", vec![ask(era, r#""subscribe""#, "resources/subscribe", URI)])],
        Era::Modern => vec![("listen", listen(era, LISTEN, LISTS))],
    };
    exchanges.push(("updated", effect(era, "touch", "notifications/resources/updated")));
    exchanges.push(("list-changed", effect(era, "change", "notifications/prompts/list_changed")));
    exchanges.extend(tasks(era));
    exchanges.push(("cancelled", cancelled(era)));
    exchanges.extend(logs(era, server));
    exchanges.extend(questions(era));
    exchanges.push(match era {
        Era::Legacy => ("unsubscribe", vec![ask(era, r#""unsubscribe""#, "resources/unsubscribe", URI)]),
        Era::Modern => ("stop-listening", vec![Step::Tell(cancellation(LISTEN))]),
    });
    // The other era says the same with another method, or not at all.
    if era == server {
        if era == Era::Legacy {
            let frame = format!(r#"{{"jsonrpc":"2.0","method":"{ROOTS_CHANGED}","params":{{{ODD}}}}}"#);
            exchanges.push(("roots-changed", vec![Step::Tell(frame), seen(era, ROOTS_CHANGED)]));
        }
        let last = match era {
            Era::Legacy => "resources/unsubscribe",
            Era::Modern => "notifications/cancelled",
        };
        exchanges.push(("stopped", vec![seen(era, last)]));
    }
    exchanges
}

const URI: &str = r#""uri":"planted://first""#;
const ROOTS_CHANGED: &str = "notifications/roots/list_changed";
const LISTEN: &str = r#""listen""#;
const LISTS: &str =
    r#""promptsListChanged":true,"resourceSubscriptions":["planted://first"],"vendorWish":[1.0]"#;

fn ask(era: Era, id: &str, method: &str, params: &str) -> Step {
    Step::Ask(request(era, (id, method), &format!("{params},{ODD}"), ""))
}

fn listen(era: Era, id: &str, filter: &str) -> Vec<Step> {
    let params = format!(r#""notifications":{{{filter}}},{ODD}"#);
    let frame = request(era, (id, "subscriptions/listen"), &params, "");
    vec![Step::Tell(frame), Step::Hear("notifications/subscriptions/acknowledged")]
}

/// A call of a tool that makes the server send a notification outside of the call.
fn effect(era: Era, tool: &str, notification: &'static str) -> Vec<Step> {
    let params = format!(r#""name":"{tool}","arguments":{{}}"#);
    vec![ask(era, &format!(r#""{tool}""#), "tools/call", &params), Step::Hear(notification)]
}

fn tasks(era: Era) -> Vec<Exchange> {
    let started = |id: &str| {
        let task = if era == Era::Legacy { r#","task":{"ttl":6.0e4,"vendor":1.0}"# } else { "" };
        vec![ask(era, id, "tools/call", &format!(r#""name":"slow","arguments":{{"z":1.0}}{task}"#))]
    };
    let about = |id: &str, method: &str, more: &str| {
        vec![ask(era, id, method, &format!(r#""taskId":"{TASK}"{more}"#))]
    };
    let mut exchanges = vec![("task-started", started("70")), ("task-working", about("71", "tasks/get", ""))];
    if era == Era::Modern {
        let answers = r#","inputResponses":{"k":{"action":"accept","content":{"n":1.0}}}"#;
        exchanges.push(("task-updated", about("72", "tasks/update", answers)));
        let filter = format!(r#""taskIds":["{TASK}"]"#);
        exchanges.push(("task-listened", listen(era, r#""listen-task""#, &filter)));
    }
    exchanges.push(match era {
        Era::Modern => ("task-changed", effect(era, "finish", "notifications/tasks")),
        // It is not told of the change, as docs/rewrites.md says.
        Era::Legacy => ("task-finished", effect(era, "finish", "")[..1].to_vec()),
    });
    exchanges.push(("task-completed", about("73", "tasks/get", "")));
    if era == Era::Legacy {
        exchanges.push(("task-result", about("74", "tasks/result", "")));
        exchanges.push(("task-list", vec![ask(era, "75", "tasks/list", r#""vendor":1.0"#)]));
    }
    exchanges.push(("task-restarted", started("76")));
    exchanges.push(("task-cancelled", about("77", "tasks/cancel", "")));
    exchanges
}

/// A session has a level of its log; in 2026-07-28 each call says what it wants to hear.
fn logs(era: Era, server: Era) -> Vec<Exchange> {
    let mut exchanges = Vec::new();
    // The first is what a client that sets no level is assumed to want.
    for (level, names) in [
        ("info", ["set-level-info", "logs-info", "level-seen-info"]),
        ("debug", ["set-level-debug", "logs-debug", "level-seen-debug"]),
    ] {
        let [set, logs, seen_by_server] = names;
        let mut meta = String::new();
        match era {
            Era::Legacy => {
                let params = format!(r#""level":"{level}""#);
                exchanges.push((set, vec![ask(era, r#""level""#, "logging/setLevel", &params)]));
            }
            Era::Modern => meta = format!(r#""io.modelcontextprotocol/logLevel":"{level}","#),
        }
        let params = r#""name":"logs","arguments":{}"#;
        exchanges.push((logs, vec![Step::Ask(request(era, (r#""logs""#, "tools/call"), params, &meta))]));
        if server == Era::Legacy {
            exchanges.push((seen_by_server, vec![seen(era, "logging/setLevel")]));
        }
    }
    exchanges
}

fn questions(era: Era) -> Vec<Exchange> {
    let asked = |kinds: &str| {
        let params = format!(r#""name":"asks","arguments":{{"kinds":{kinds},"z":1.0}},{ODD}"#);
        let id = format!("{:?}", kinds.replace('"', ""));
        vec![Step::Converse(request(era, (&id, "tools/call"), &params, ""))]
    };
    let mut visit = asked(r#"["url"]"#);
    if era == Era::Legacy {
        visit.push(Step::Hear("notifications/elicitation/complete"));
    }
    vec![
        ("asked-sampling", asked(r#"["sampling"]"#)),
        ("asked-form", asked(r#"["form"]"#)),
        ("asked-visit", visit),
        ("asked-roots", asked(r#"["roots"]"#)),
        ("asked-twice", asked(r#"["sampling","form"]"#)),
    ]
}

/// A call that is cancelled after its first progress, and the cancellation as the server got it.
fn cancelled(era: Era) -> Vec<Step> {
    let params = r#""name":"waits","arguments":{}"#;
    let call = request(era, (r#""waits""#, "tools/call"), params, r#""progressToken":8,"#);
    vec![
        Step::Tell(call),
        Step::Hear("notifications/progress"),
        Step::Tell(cancellation(r#""waits""#)),
        seen(era, "notifications/cancelled"),
    ]
}

/// Asks the server for the last frame of this method until it has one.
fn seen(era: Era, method: &str) -> Step {
    let params = format!(r#""name":"seen","arguments":{{"method":"{method}"}}"#);
    Step::Until(request(era, (POLL, "tools/call"), &params, ""))
}

fn cancellation(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"enough","vendor":1.0}}}}"#
    )
}
