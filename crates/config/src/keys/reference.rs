//! Generates `configuration.md` from the schema.

use super::{check::join, project, schema::schema};
use crate::problem::{Code, Severity};
use serde_json::Value as Json;
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Configuration

This page is generated from the types in `crates/config/src`. `docs/trunkline.schema.json` is the
same reference for editors (`trunkline config schema` prints it), and `trunkline config check` reports
the problems of a file with line and column.

## Where settings come from

From the lowest to the highest precedence: built-in defaults, the user's file
(`$XDG_CONFIG_HOME/trunkline/trunkline.json`), the project's file (the nearest `trunkline.json` in the
current directory or above it, or the one named by `--config` or `TRUNKLINE_CONFIG`), variables, flags.
Objects are merged key by key; lists and single values are replaced. A server that a higher layer
redefines (`type`, `command`, `url`, `pack` and the keys that belong to them) replaces the lower one
completely, so that no file can send another file's credentials to a different address; an entry
without these keys only adjusts it. `trunkline config show` prints the file, variable or flag that each
value came from.

A file is JSON with comments and trailing commas. Duplicate keys are refused. Relative paths are
resolved against the directory of the file that contains them, and `~/` is the home directory.

Every single value outside of servers, views and roles can be set by a variable: `TRUNKLINE_` and its
key in capitals, with words and levels joined by `_`, such as `TRUNKLINE_LISTEN` or
`TRUNKLINE_LIMITS_BODY_BYTES`. Items of lists are separated by commas. Servers can be defined only in
files. `MCP_TOOL_CACHE_TTL` sets `defaults.lists.ttl`, unless `TRUNKLINE_DEFAULTS_LISTS_TTL` does.

## Files of a project

A `trunkline.json` that was found, not named, may come from a stranger. It has no effect until you
approve it: `trunkline config approve` shows its servers, every variable and file that it refers to and
its security settings, and asks. The approval is for this path and this content (SHA-256) and is stored
in `$XDG_STATE_HOME/trunkline/approved.json`. Until then, and again after every change, the file is
ignored, and commands print a warning; only the restrictions of a content approved before stay in
force. A file named with `--config` or `TRUNKLINE_CONFIG` and your own
file need no approval.

Even an approved file can only make the security settings of your own file or the defaults stricter.
The column *a project may* shows what such a file may do with a key; anything else is the error
`project-may-not`.

| a project may | meaning |
|---|---|
| set | write any value |
| add | add items to your list |
| lower, fewer calls, stricter | write a value that is at least as strict as yours, without references |
| `true` only, `false` only | write this value, or the effective one |
| loopback only | write an address of this machine, without references |
| if you have no roles | write any value if your own file has neither roles nor a default role |
| — | not write it |

Under `mcp.servers`, `views` and `roles`, the column applies to entries that your own file has. A
project may set any key of its own servers and views, and of its own roles if your file has none.

## References

Anywhere in a text:

| reference | value |
|---|---|
| `{env:NAME}`, `${NAME}` | the environment variable; an error if it is not set |
| `${NAME:-default}` | the variable, or the default if it is not set or empty |
| `{file:path}` | the content of the file, without the line break at its end |
| `{keychain:NAME}` | a secret that `trunkline secret set NAME` has stored |
| `$${` | a literal `${` |

Values of references are never shown or logged.

If a reference of a server cannot be resolved, only this server is disabled: `config check`, `status`
and the banner of `serve` say what is missing. Anywhere else, it is an error. A running server is not
stopped by it: then the changed configuration is refused.

A time is a number of milliseconds, or a text with a unit: `\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"2h\"`,
`\"1d\"`. A pattern is a glob: `*` and `?`, `[a-z]`, `{one,other}`.
";

/// The whole page.
pub fn reference_page() -> String {
    let mut page = INTRODUCTION.to_owned();
    let schema = schema();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let single: Vec<(&String, &Json)> = properties.clone().filter(|(_, schema)| !is_table(schema)).collect();
    page.push_str("\n## Keys\n\n");
    heading(&mut page);
    for (key, schema) in single {
        row(&mut page, key, key, schema);
    }
    for (key, schema) in properties.filter(|(_, schema)| is_table(schema)) {
        section(&mut page, key, schema);
    }
    page.push_str("\n## Problems\n\n| code | severity | what it is |\n|---|---|---|\n");
    for code in Code::ALL {
        let severity = match code {
            Code::UnsetVariable | Code::UnavailableSecret | Code::WeakSecret => {
                "error; in a server a warning, and the server is not used"
            }
            code if code.severity() == Severity::Error => "error",
            _ => "warning",
        };
        line(&mut page, format_args!("| `{}` | {severity} | {} |", code.name(), code.meaning()));
    }
    page
}

fn section(page: &mut String, key: &str, schema: &Json) {
    let (key, schema) =
        if key == "mcp" { ("mcp.servers.<name>", &schema["properties"]["servers"]) } else { (key, schema) };
    let named = schema["additionalProperties"].is_object();
    let title = if named && !key.ends_with('>') { format!("{key}.<name>") } else { key.to_owned() };
    line(page, format_args!("\n### `{title}`\n\n{}\n", text(schema)));
    let inner = if named { &schema["additionalProperties"] } else { schema };
    if key.starts_with("mcp") {
        page.push_str("Every key of `defaults` can also be set here, for this server only.\n\n");
    }
    heading(page);
    rows(page, "", inner, &title.replace("<name>", "*"));
}

/// Writes the rows of an object; `section` is the key pattern of its section.
fn rows(page: &mut String, key: &str, schema: &Json, section: &str) {
    let is_server = section.starts_with("mcp");
    for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
        if is_server
            && key.is_empty()
            && !self::schema()["properties"]["defaults"]["properties"][name].is_null()
        {
            continue;
        }
        let path = join(key, name);
        row(page, &path, &join(section, &path.replace("<name>", "*")), schema);
        rows(page, &path, schema, section);
        if schema["additionalProperties"].is_object() {
            rows(page, &format!("{path}.<name>"), &schema["additionalProperties"], section);
        }
    }
}

fn heading(page: &mut String) {
    page.push_str(
        "| key | value | default | bounds | a project may | meaning |\n|---|---|---|---|---|---|\n",
    );
}

fn row(page: &mut String, key: &str, pattern: &str, schema: &Json) {
    let project = project_may(pattern);
    if is_table(schema) && schema["type"] == "object" && schema["properties"].is_object() {
        return line(page, format_args!("| `{key}` | object | | | {project} | {} |", cell(&text(schema))));
    }
    let default = match &schema["default"] {
        Json::Null if schema.get("default").is_none() => String::new(),
        value => format!("`{value}`"),
    };
    line(
        page,
        format_args!(
            "| `{key}` | {} | {} | {} | {project} | {} |",
            kind(schema),
            cell(&default),
            bounds(schema),
            cell(&text(schema))
        ),
    );
}

/// Permission of a project's file for a key: the key's own entry, or that of its parent object.
fn project_may(pattern: &str) -> &'static str {
    let above = pattern.rsplit_once('.').map(|(above, _)| above);
    project::may(pattern).or_else(|| above.and_then(project::may)).map_or("", project::ProjectMay::text)
}

fn is_table(schema: &Json) -> bool {
    schema["properties"].is_object() || schema["additionalProperties"].is_object()
}

fn text(schema: &Json) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

/// The allowed kinds of value, in words.
fn kind(schema: &Json) -> String {
    let choices = super::check::choices(schema);
    if !choices.is_empty() {
        return choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", ");
    }
    if schema["x-kind"] == "time" {
        let more = if schema["properties"].is_object() { " or object" } else { "" };
        return format!("time{more}{}", if takes(schema, "null") { " or null" } else { "" });
    }
    let named = match schema["x-kind"].as_str() {
        Some("path") => Some("path"),
        Some("url") => Some("address"),
        Some("path-or-url") => Some("path or address"),
        Some("address") => Some("address and port"),
        _ => None,
    };
    let names = ["string", "integer", "number", "boolean", "array", "object", "null"];
    let words = names.iter().filter(|name| takes(schema, name)).map(|name| match *name {
        "string" => named.unwrap_or("text"),
        "integer" => "whole number",
        "array" if schema["items"]["x-kind"] == "glob" => "patterns",
        "array" => "list",
        "object" if schema["additionalProperties"].is_object() => "object by name",
        other => other,
    });
    words.collect::<Vec<_>>().join(" or ")
}

fn takes(schema: &Json, name: &str) -> bool {
    match &schema["type"] {
        Json::String(only) => only == name,
        Json::Array(several) => several.iter().any(|one| one == name),
        _ => false,
    }
}

fn bounds(schema: &Json) -> String {
    let number = |key: &str| schema[key].as_f64();
    let shown = |bound: f64| {
        if schema["x-kind"] == "time" {
            super::kind::write_time(std::time::Duration::from_secs_f64(bound / 1000.0))
        } else {
            bound.to_string()
        }
    };
    match (number("minimum"), number("maximum"), schema["maxItems"].as_u64(), schema["maxLength"].as_u64()) {
        (Some(least), Some(most), ..) => format!("{} to {}", shown(least), shown(most)),
        (_, _, Some(most), _) => format!("at most {most} items"),
        (_, _, _, Some(most)) => format!("at most {most} characters"),
        _ => String::new(),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn line(page: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(page, "{text}").expect("a String takes any text");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variables::variables;

    #[test]
    fn every_key_has_its_row_and_every_row_its_meaning() {
        let page = reference_page();
        for variable in variables() {
            let (section, key) = variable.key.split_once('.').unwrap_or(("Keys", &variable.key));
            assert!(page.contains(&format!("\n| `{key}` |")), "{section}: {key}");
        }
        for row in page.lines().filter(|row| row.starts_with("| `")) {
            assert!(!row.ends_with("|  |"), "{row}");
        }
        for server_key in ["command", "url", "pack", "oauth.clientId", "tools.<name>.rename"] {
            assert!(page.contains(&format!("\n| `{server_key}` |")), "{server_key}");
        }
    }
}
