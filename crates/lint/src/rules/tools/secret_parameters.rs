//! `secret-parameters`: tools do not ask for secrets.

use crate::{
    pointer,
    probes::LISTS,
    rules::{prelude::*, schema, words},
};

pub(super) static RULE: Rule = Rule {
    name: "secret-parameters",
    group: Group::Tools,
    level: Level::Warning,
    summary: "no parameter of a tool looks like a password or key",
    clause: Clause::practice("OWASP MCP Top 10", "MCP01 secret exposure"),
    why: "Arguments pass through the model, the conversation and every log on the way: the secret is known to all of them.",
    fix: "Take secrets from the server's environment or configuration, or use OAuth.",
    needs: &[&LISTS],
    check: Check::Server(check),
    ..Rule::USUAL
};

const SECRETS: [&str; 7] =
    ["password", "passwd", "passphrase", "apikey", "credential", "credentials", "secret"];
const KEYS: [(&str, &str); 7] = [
    ("api", "key"),
    ("access", "key"),
    ("private", "key"),
    ("secret", "key"),
    ("access", "token"),
    ("auth", "token"),
    ("bearer", "token"),
];
/// Words that make the name of a secret harmless, as in `secret_name` or `api_key_id`.
const HARMLESS: [&str; 9] = ["name", "id", "ref", "path", "file", "length", "count", "type", "arn"];

fn check(case: &Case<'_>) -> Verdict {
    let mut findings = Vec::new();
    for tool in case.list(List::Tools)? {
        let Some(root) = tool.value.get("inputSchema") else { continue };
        // A tool that generates or checks passwords may have such a parameter.
        let about = words::words(tool.text("name").unwrap_or_default());
        for (name, property) in schema::properties(root) {
            let parts = words::words(name);
            let plain = property.get("type").is_none_or(|kind| kind == "string");
            let key = KEYS.iter().any(|(a, b)| parts.windows(2).any(|two| two[0] == *a && two[1] == *b));
            let word = parts.iter().any(|part| SECRETS.contains(&part.as_str()));
            let harmless = parts.iter().any(|part| HARMLESS.contains(&part.as_str()));
            let matter = parts.iter().any(|part| about.contains(part));
            if plain && (key || word) && !harmless && !matter {
                let message = format!("the parameter `{name}` looks like a secret");
                findings.push(
                    tool.finding(message, &format!("/inputSchema/properties/{}", pointer::escape(name))),
                );
            }
        }
    }
    Ok(findings)
}
