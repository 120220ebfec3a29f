//! Risky settings that work: unpinned packages, downloads piped into a shell, look-alike names,
//! secrets in files.

use super::entry::{Launch, ServerEntry};
use crate::{cause::Cause, diagnosis::Problem, mask::looks_secret};
use trunkline_secrets::is_secret_name;

/// Well-known server packages, to detect names that resemble them.
const KNOWN: [&str; 16] = [
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-everything",
    "@modelcontextprotocol/server-github",
    "@modelcontextprotocol/server-postgres",
    "@modelcontextprotocol/server-brave-search",
    "@modelcontextprotocol/server-sequential-thinking",
    "@modelcontextprotocol/server-puppeteer",
    "@modelcontextprotocol/server-slack",
    "@playwright/mcp",
    "@upstash/context7-mcp",
    "mcp-server-git",
    "mcp-server-fetch",
    "mcp-server-time",
    "mcp-server-sqlite",
    "mcp-remote",
];
/// Maximum edit distance of a look-alike name.
const NEAR: usize = 2;

pub(super) fn check(entry: &ServerEntry) -> Vec<Problem> {
    let mut found = Vec::new();
    if let Launch::Command { program, args } = &entry.launch {
        found.extend(piped(entry, program, args));
        if let Some(package) = package(program, args) {
            found.extend(look_alike(entry, package));
            found.extend(unpinned(entry, program, args, package));
        }
        found.extend(args.iter().filter(|arg| looks_secret(arg)).map(|_| inline(entry, "an argument")));
    }
    for (kind, name, value) in &entry.values {
        let is_reference =
            value.contains("${") || value.contains("{env:") || value.starts_with('$') || value.is_empty();
        let bare = value.strip_prefix("Bearer ").unwrap_or(value);
        if !is_reference && (is_secret_name(name) && bare.len() >= 8 || looks_secret(value)) {
            found.push(inline(entry, &format!("the {kind} `{name}`")));
        }
    }
    if let Launch::Url(url) = &entry.launch
        && let Ok(url) = ::url::Url::parse(url)
        && url
            .query_pairs()
            .any(|(name, value)| is_secret_name(&name) && value.len() >= 8 && !value.contains("${"))
    {
        found.push(inline(entry, "the address"));
    }
    found
}

/// The package that a package runner (npx, uvx, …) downloads.
fn package<'a>(program: &str, args: &'a [String]) -> Option<&'a String> {
    let program = program.rsplit('/').next().unwrap_or_default();
    let skip = match (program, args.first().map(String::as_str)) {
        ("npx" | "bunx" | "uvx" | "pnpx", _) => 0,
        ("pnpm" | "yarn", Some("dlx"))
        | ("pipx", Some("run"))
        | ("bun", Some("x"))
        | ("npm", Some("exec")) => 1,
        ("uv", Some("tool")) if args.get(1).is_some_and(|arg| arg == "run") => 2,
        _ => return None,
    };
    let rest = &args[skip..];
    let named = rest.iter().position(|arg| matches!(arg.as_str(), "--from" | "--package" | "-p"));
    match named {
        Some(at) => rest.get(at + 1),
        None => rest.iter().find(|arg| !arg.starts_with('-')),
    }
}

fn unpinned(entry: &ServerEntry, program: &str, args: &[String], package: &str) -> Option<Problem> {
    let version = package.trim_start_matches('@').split_once('@').map(|(_, version)| version);
    let pinned = version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        || package.contains("==")
        || package.starts_with(['/', '.'])
        || package.contains("://") && package.contains('@');
    if pinned {
        return None;
    }
    let is_python = program.ends_with("uvx") || program.ends_with("pipx") || program.ends_with("uv");
    let bare = package.trim_end_matches("@latest");
    let (mark, look_up) = if is_python {
        ("==", format!("pip index versions {bare}"))
    } else {
        ("@", format!("npm view {bare} version"))
    };
    let args: Vec<String> = args
        .iter()
        .map(|arg| if arg == package { format!("\"{bare}{mark}1.2.3\"") } else { format!("{arg:?}") })
        .collect();
    let problem = Problem::new(
        Cause::UnpinnedPackage,
        format!("`{}` runs whatever version of `{bare}` is newest", entry.name),
    );
    Some(problem.fix(format!("\"args\": [{}]    # the version that `{look_up}` names", args.join(", "))))
}

fn look_alike(entry: &ServerEntry, package: &str) -> Option<Problem> {
    let bare = match package.strip_prefix('@') {
        Some(scoped) => format!("@{}", scoped.split('@').next().unwrap_or_default()),
        None => package.split(['@', '=']).next().unwrap_or_default().to_owned(),
    };
    if KNOWN.contains(&bare.as_str()) {
        return None;
    }
    let real =
        KNOWN.iter().find(|known| strsim::damerau_levenshtein(known, &bare) <= NEAR && known.len() > 8)?;
    let problem = Problem::new(
        Cause::LookAlikePackage,
        format!("`{}` runs `{bare}`, which is not `{real}`", entry.name),
    );
    Some(problem.fix(format!("if you mean it: \"{real}\"")))
}

fn piped(entry: &ServerEntry, program: &str, args: &[String]) -> Option<Problem> {
    let text = format!("{program} {}", args.join(" "));
    let downloads = text.contains("curl ") || text.contains("wget ");
    let runs = ["| sh", "|sh", "| bash", "|bash", "| python", "| node", "$(curl", "<(curl", "`curl"]
        .iter()
        .any(|way| text.contains(way));
    (downloads && runs).then(|| {
        Problem::new(Cause::PipedDownload, format!("`{}` downloads something and runs it", entry.name))
            .fix("download it once, look at it, and start the file: \"command\": \"/absolute/path/of/it\"")
    })
}

fn inline(entry: &ServerEntry, place: &str) -> Problem {
    let name = place.split('`').nth(1).unwrap_or("THE_SECRET");
    let variable: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    Problem::new(Cause::InlineSecret, format!("`{}` has a secret in {place}", entry.name)).fix(format!(
        "\"{name}\": \"${{{variable}}}\"    # and export {variable}=… where the client is started"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn causes(command: &str, values: &[(&str, &str)]) -> Vec<&'static str> {
        let mut words = command.split(' ').map(str::to_owned);
        let launch = Launch::Command { program: words.next().unwrap(), args: words.collect() };
        let values = values
            .iter()
            .map(|(name, value)| ("variable", (*name).to_owned(), (*value).to_owned()))
            .collect();
        let entry = ServerEntry { name: "x".into(), launch, values, directory: None };
        check(&entry).iter().map(|problem| problem.cause.id()).collect()
    }

    #[test]
    fn x04_unpinned_look_alike_and_piped_are_seen() {
        assert_eq!(causes("npx -y @modelcontextprotocol/server-memory", &[]), ["unpinned-package"]);
        assert_eq!(causes("npx -y @modelcontextprotocol/server-memory@2026.8.31", &[]), Vec::<&str>::new());
        assert_eq!(causes("npx -y pkg@latest", &[]), ["unpinned-package"]);
        assert_eq!(causes("uvx mcp-server-git==1.0", &[]), Vec::<&str>::new());
        assert_eq!(causes("uvx --from pkg tool", &[]), ["unpinned-package"]);
        assert_eq!(causes("npx -y @modelcontextprotocoI/server-memory@1.0.0", &[]), ["look-alike-package"]);
        assert_eq!(causes("sh -c curl http://h/x | sh", &[]), ["piped-download"]);
        assert_eq!(causes("node server.js", &[]), Vec::<&str>::new());
    }

    #[test]
    fn secrets_are_seen_and_references_are_not() {
        assert_eq!(causes("node s.js", &[("API_KEY", "abcdefgh12345")]), ["inline-secret"]);
        assert_eq!(causes("node s.js", &[("X", "ghp_abcdefghijklmnopqrst")]), ["inline-secret"]);
        assert_eq!(
            causes("node s.js", &[("API_KEY", "${API_KEY}"), ("LANG", "de_DE.UTF-8")]),
            Vec::<&str>::new()
        );
    }
}
