//! Finds the cause of a process's exit in its error output.

mod code;
mod packages;
mod surroundings;
mod syntax;

pub(crate) use code::{OLDER_SDK, is_uvx};
pub(crate) use packages::TRUSTING;

use super::diagnosis::Problem;
use trunkline_client::CommandLine;

type Reader = fn(&str, &str, &CommandLine) -> Option<Problem>;

/// The most specific ones first: a missing module is often reported among other errors.
const READERS: [Reader; 15] = [
    packages::docker,
    packages::package,
    packages::cache,
    packages::certificate,
    packages::registry,
    syntax::python,
    syntax::node,
    code::library,
    code::runtime,
    code::module,
    surroundings::port,
    surroundings::variable,
    surroundings::credential,
    surroundings::argument,
    surroundings::file,
];

/// The known cause that stderr points to, if any. The caller puts the ending of the process before
/// its summary.
pub(super) fn read(output: &str, line: &CommandLine) -> Option<Problem> {
    let lower = output.to_ascii_lowercase();
    READERS.iter().find_map(|reader| reader(output, &lower, line))
}

/// A URL on which, according to the text, something listens.
pub(super) fn address_in(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let telling =
        ["listening", "running on", "running at", "started on", "available at", "uvicorn", "serving"];
    if !telling.iter().any(|word| lower.contains(word)) {
        return None;
    }
    if let Some(at) = lower.find("http://").or_else(|| lower.find("https://")) {
        let tail = &text[at..];
        let end = tail.find(|c: char| c.is_whitespace() || "\"'`<>()".contains(c)).unwrap_or(tail.len());
        return Some(tail[..end].trim_end_matches(['.', ',']).replace("0.0.0.0", "127.0.0.1"));
    }
    let port = lower.split("port").nth(1)?.trim_start_matches([' ', ':', '=']);
    let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
    let port: u16 = digits.parse().ok()?;
    Some(format!("http://127.0.0.1:{port}/mcp"))
}

fn any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

fn between(text: &str, before: &str, after: &str) -> Option<String> {
    let tail = &text[text.find(before)? + before.len()..];
    let found = &tail[..tail.find(after)?];
    (!found.is_empty() && found.len() < 300 && !found.contains('\n')).then(|| found.to_owned())
}

fn word_after(text: &str, before: &str) -> Option<String> {
    let tail = &text[text.find(before)? + before.len()..];
    tail.split_whitespace().next().map(|word| word.trim_matches(['\'', '"']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(output: &str, command: &str) -> Option<&'static str> {
        let mut words = command.split(' ').map(str::to_owned);
        let line =
            CommandLine { program: words.next().unwrap(), args: words.collect(), ..CommandLine::default() };
        read(output, &line).map(|problem| problem.cause.id())
    }

    #[test]
    fn last_words_about_certificates_and_libraries_are_read() {
        for (output, command, expected) in [
            (
                "  File \"/c/site-packages/s/server.py\", line 9, in main\nAttributeError: 'Server' object has no attribute 'list_tools'",
                "uvx s",
                "library-mismatch",
            ),
            (
                "  File \"/c/site-packages/s.py\", line 1\nModuleNotFoundError: No module named 'mcp.server.fastmcp'",
                "uvx s",
                "library-mismatch",
            ),
            ("npm error code SELF_SIGNED_CERT_IN_CHAIN", "npx -y x", "registry-certificate"),
            (
                "error: Failed to fetch: `https://pypi.org/simple/x/`\n  Caused by: error sending request for url (https://pypi.org/simple/x/)\n  Caused by: invalid peer certificate: UnknownIssuer",
                "uvx x",
                "registry-certificate",
            ),
        ] {
            assert_eq!(cause(output, command), Some(expected), "{output}");
        }
    }

    #[test]
    fn real_last_words_are_read() {
        for (output, command, expected) in [
            (
                "Error: Cannot find module 'express'\nRequire stack:\n- /srv/x.js",
                "node x.js",
                "module-missing",
            ),
            ("Error: Cannot find module '/srv/gone.js'", "node gone.js", "script-missing"),
            ("ModuleNotFoundError: No module named 'mcp'", "python3 s.py", "module-missing"),
            (
                "/usr/bin/python3: No module named mcp_server_git",
                "python3 -m mcp_server_git",
                "module-missing",
            ),
            (
                "npm error code E404\nnpm error 404  'mcp-nope@*' is not in this registry.",
                "npx -y mcp-nope",
                "package-missing",
            ),
            (
                "npm error code ENOTEMPTY\nnpm error path /home/u/.npm/_npx/ab/node_modules/x",
                "npx -y x",
                "package-cache-broken",
            ),
            ("npm error code EAI_AGAIN\nnpm error syscall getaddrinfo", "npx -y x", "registry-unreachable"),
            ("SyntaxError: Unexpected token '??='", "node s.js", "runtime-too-old"),
            ("Error: GITHUB_TOKEN environment variable is required", "node s.js", "variable-missing"),
            ("    raise KeyError(key)\nKeyError: 'API_KEY'", "python3 s.py", "variable-missing"),
            ("Error: listen EADDRINUSE: address already in use :::3000", "node s.js", "port-taken"),
            (
                "usage: s [-h]\ns: error: unrecognized arguments: --nope",
                "python3 s.py --nope",
                "bad-argument",
            ),
            ("Error: ENOENT: no such file or directory, stat '/nope'", "node s.js /nope", "file-unusable"),
            (
                "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.",
                "docker run -i x",
                "docker-not-running",
            ),
            (
                "Warning: Cannot access directory /nowhere, skipping\nError: None of the specified directories are accessible",
                "node s.js /nowhere",
                "file-unusable",
            ),
            ("openai: Incorrect API key provided", "node s.js", "credential-refused"),
        ] {
            assert_eq!(cause(output, command), Some(expected), "{output}");
        }
        assert_eq!(cause("something went wrong", "node s.js"), None);
        assert_eq!(cause("é".repeat(200).as_str(), "x"), None);
    }

    #[test]
    fn addresses_are_found_only_where_something_listens() {
        assert_eq!(
            address_in("Server listening on http://0.0.0.0:3000/mcp.").as_deref(),
            Some("http://127.0.0.1:3000/mcp")
        );
        assert_eq!(
            address_in("MCP server running on port 8080").as_deref(),
            Some("http://127.0.0.1:8080/mcp")
        );
        assert_eq!(address_in("see http://example.com"), None);
    }
}
