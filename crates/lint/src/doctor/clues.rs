//! What the last words of a process say about its end.

use super::{cause::Cause, diagnosis::Problem, shell::quoted};
use trunkline_client::CommandLine;

/// How far around a variable's name its lack is looked for.
const NEAR: usize = 60;
/// What is said of a variable that is missing.
const LACKING: [&str; 11] = [
    "required",
    "not set",
    "must be set",
    "missing",
    "undefined",
    "not defined",
    "not found",
    "is not configured",
    "please set",
    "must provide",
    "environment variable",
];
/// Words in capitals that are no variables.
const NO_VARIABLES: [&str; 10] = [
    "ERR_MODULE_NOT_FOUND",
    "MODULE_NOT_FOUND",
    "ERR_REQUIRE_ESM",
    "ERR_UNKNOWN_FILE_EXTENSION",
    "ENOENT",
    "EACCES",
    "ERR_PACKAGE_PATH_NOT_EXPORTED",
    "ERR_INVALID_ARG_TYPE",
    "ERR_UNSUPPORTED_DIR_IMPORT",
    "ERR_DLOPEN_FAILED",
];

type Reader = fn(&str, &str, &CommandLine) -> Option<Problem>;

/// The most telling ones first: a missing module is often reported beside many other things.
const READERS: [Reader; 11] =
    [docker, package, cache, registry, runtime, module, port, variable, credential, argument, file];

/// The cause that an error output tells, if we can read it. The summary continues "the process ended: …".
pub(super) fn read(told: &str, line: &CommandLine) -> Option<Problem> {
    let lower = told.to_ascii_lowercase();
    READERS.iter().find_map(|reader| reader(told, &lower, line))
}

/// An address that a text says something listens at.
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

fn docker(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let down = lower.contains("cannot connect to the docker daemon")
        || lower.contains("is the docker daemon running");
    down.then(|| {
        Problem::new(Cause::DockerNotRunning, "nothing answers that could run a container")
            .fix("sudo systemctl start docker    # or start Docker Desktop")
    })
}

fn package(told: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    let unknown = any(
        lower,
        &[
            "code e404",
            "404 not found - get",
            "is not in this registry",
            "was not found in the package registry",
            "could not find a version that satisfies",
            "code etarget",
            "no matching version found",
        ],
    );
    if !unknown {
        return None;
    }
    let named = between(told, "'", "' is not in this registry")
        .or_else(|| between(told, "No matching version found for ", "."));
    let package =
        named.or_else(|| line.args.iter().find(|arg| !arg.starts_with('-')).cloned()).unwrap_or_default();
    let runner = if line.program.contains("uv") { "pip index versions" } else { "npm view" };
    let problem = Problem::new(Cause::PackageMissing, format!("there is no package `{package}`"));
    Some(problem.fix(format!("{runner} {}    # whether it exists, and in which versions", quoted(&package))))
}

fn cache(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let npx = lower.contains("_npx")
        && any(
            lower,
            &["enotempty", "cannot find module", "cannot find package", "eexist", "eacces", "erofs"],
        );
    let npm = any(lower, &["eintegrity", "your cache folder contains root-owned files"]);
    let uv = lower.contains("failed to read from the distribution cache")
        || lower.contains("uv cache") && lower.contains("corrupt");
    if uv {
        return Some(
            Problem::new(Cause::PackageCacheBroken, "the cache of uv is broken").fix("uv cache clean"),
        );
    }
    (npx || npm).then(|| {
        Problem::new(Cause::PackageCacheBroken, "the cache of npx is broken")
            .fix("rm -rf ~/.npm/_npx    # it is filled again at the next start")
            .fix("npm cache verify")
    })
}

fn registry(_: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    let npm = any(lower, &["npm err", "npm error"])
        && any(
            lower,
            &[
                "enotfound",
                "eai_again",
                "etimedout",
                "econnrefused",
                "econnreset",
                "self_signed_cert",
                "unable_to_get_issuer",
            ],
        );
    let uv = any(
        lower,
        &[
            "error sending request for url",
            "failed to fetch: `http",
            "failed to establish a new connection",
            "could not fetch url",
        ],
    );
    let package = line.args.iter().find(|arg| !arg.starts_with('-')).cloned().unwrap_or_default();
    (npm || uv).then(|| {
        let install =
            if uv { format!("uv tool install {package}") } else { format!("npm install -g {package}") };
        Problem::new(Cause::RegistryUnreachable, "the package registry does not answer")
            .fix(format!("{install}    # once, with the network; then start what was installed"))
            .fix("npm config get registry; npm config get proxy    # where it looks")
    })
}

fn runtime(told: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    let node = any(
        lower,
        &[
            "syntaxerror: unexpected token '?",
            "syntaxerror: unexpected token '.'",
            "err_require_esm",
            "referenceerror: fetch is not defined",
            "ebadengine",
            "unsupported engine",
            "requires node",
            "node.js version",
            "does not provide an export named",
            "err_unknown_builtin_module",
        ],
    );
    let python = any(
        lower,
        &[
            "requires python",
            "requires-python",
            "requires a different python",
            "python 3.1",
            "unsupported python",
        ],
    ) || lower.contains("syntaxerror") && line.program.contains("python");
    if lower.contains("version `glibc") {
        let version = between(told, "version `", "'").unwrap_or_default();
        return Some(
            Problem::new(Cause::LoaderMissing, format!("it needs {version}"))
                .fix("install a build for this system, or a newer system"),
        );
    }
    if node {
        return Some(
            Problem::new(Cause::RuntimeTooOld, "it wants a newer Node.js")
                .fix("node --version    # most servers want 20 or later")
                .fix("\"command\": \"/absolute/path/of/a/newer/node\""),
        );
    }
    python.then(|| {
        Problem::new(Cause::RuntimeTooOld, "it wants another Python")
            .fix("python3 --version    # most servers want 3.10 or later")
            .fix("\"command\": \"uvx\", \"args\": [\"--python\", \"3.12\", …]")
    })
}

fn module(told: &str, lower: &str, line: &CommandLine) -> Option<Problem> {
    if let Some(file) = between(told, "can't open file '", "'") {
        return Some(
            Problem::new(Cause::ScriptMissing, format!("there is no file `{file}`"))
                .fix("\"args\": [\"/absolute/path/of/the/script\"]"),
        );
    }
    let node =
        between(told, "Cannot find module '", "'").or_else(|| between(told, "Cannot find package '", "'"));
    if let Some(name) = node {
        if line.args.iter().any(|arg| name.ends_with(arg.trim_start_matches("./"))) {
            return Some(
                Problem::new(Cause::ScriptMissing, format!("there is no file `{name}`"))
                    .fix("\"args\": [\"/absolute/path/of/the/script\"]"),
            );
        }
        let is_file = name.starts_with(['/', '.']);
        let fix = if is_file {
            "npm install && npm run build    # in the server's directory".to_owned()
        } else {
            format!("npm install {name}    # in the server's directory")
        };
        return Some(Problem::new(Cause::ModuleMissing, format!("there is no module `{name}`")).fix(fix));
    }
    let python = between(told, "No module named '", "'").or_else(|| word_after(told, "No module named "));
    if let Some(name) = python {
        let top = name.split('.').next().unwrap_or_default().replace('_', "-");
        return Some(
            Problem::new(Cause::ModuleMissing, format!("there is no module `{name}`"))
                .fix(format!(
                    "{} -m pip install {top}    # into the environment that runs the server",
                    line.program
                ))
                .fix("or \"command\": \"/absolute/path/.venv/bin/python\", where it is installed"),
        );
    }
    if let Some(library) = between(told, "error while loading shared libraries: ", ":") {
        return Some(
            Problem::new(Cause::ModuleMissing, format!("the library `{library}` is missing"))
                .fix(format!("install the package of this system that has {library}")),
        );
    }
    let inner = between(told, "env: '", "'")
        .or_else(|| between(told, "env: ‘", "’"))
        .or_else(|| between(told, "exec: ", ": not found"));
    if let Some(program) = inner.filter(|_| any(lower, &["no such file", "not found"])) {
        return Some(
            Problem::new(
                Cause::InterpreterMissing,
                format!("it calls `{program}`, which is not in its PATH"),
            )
            .fix("\"env\": { \"PATH\": \"/the/directory/of/it:/usr/bin:/bin\" }"),
        );
    }
    None
}

fn port(told: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    if !any(lower, &["eaddrinuse", "address already in use", "address in use"]) {
        return None;
    }
    let port: Option<String> =
        told.find("EADDRINUSE").or_else(|| lower.find("already in use")).and_then(|at| {
            let around = &told[at..];
            around.rsplit(':').find_map(|part| {
                let digits: String = part.trim().chars().take_while(char::is_ascii_digit).collect();
                digits.parse::<u16>().ok().filter(|port| *port > 0).map(|port| port.to_string())
            })
        });
    let which = port.clone().map_or_else(|| "its port".to_owned(), |port| format!("port {port}"));
    let who = port.map_or_else(
        || "ss -ltnp    # who listens where".to_owned(),
        |port| format!("ss -ltnp 'sport = :{port}'    # who listens there"),
    );
    Some(
        Problem::new(Cause::PortTaken, format!("{which} is taken"))
            .fix(who)
            .fix("end that process, or give the server another port"),
    )
}

fn variable(told: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let name = between(told, "KeyError: '", "'")
        .filter(|name| is_variable(name))
        .or_else(|| lacking(told, lower))?;
    Some(
        Problem::new(Cause::VariableMissing, format!("it misses the variable `{name}`"))
            .fix(format!("\"env\": {{ \"{name}\": \"…\" }}"))
            .fix(format!("trunkline doctor --env {name}=… -- …    # to try it")),
    )
}

/// A name in capitals near a word that says it is lacking.
fn lacking(told: &str, lower: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let mut at = 0;
    while let Some(start) = told[at..].find(is_part).map(|start| at + start) {
        let end = told[start..].find(|c| !is_part(c)).map_or(told.len(), |length| start + length);
        let name = &told[start..end];
        let (from, to) = (floor(lower, start.saturating_sub(NEAR)), floor(lower, end + NEAR));
        if is_variable(name) && any(&lower[from..to], &LACKING) {
            return Some(name.to_owned());
        }
        at = end;
    }
    None
}

fn is_variable(name: &str) -> bool {
    name.len() >= 4
        && name.contains('_')
        && !name.starts_with('_')
        && !NO_VARIABLES.contains(&name)
        && !name.starts_with("ERR_")
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

fn credential(_: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    any(
        lower,
        &[
            "invalid api key",
            "invalid_api_key",
            "incorrect api key",
            "bad credentials",
            "401 unauthorized",
            "invalid token",
            "authentication failed",
        ],
    )
    .then(|| {
        Problem::new(Cause::CredentialRefused, "the service behind it refuses its credential")
            .fix("\"env\": { \"THE_KEY\": \"a valid one\" }    # as the server's manual names it")
    })
}

fn argument(told: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    let refused = any(
        lower,
        &[
            "unrecognized arguments",
            "unknown option",
            "unknown flag",
            "unknown argument",
            "unexpected argument",
            "invalid option",
            "the following arguments are required",
            "missing required argument",
            "the following required arguments",
            "too few arguments",
            "illegal option",
        ],
    ) || lower.lines().any(|text| text.trim_start().starts_with("usage:"));
    refused.then(|| {
        let telling = told.lines().find(|text| {
            let text = text.to_ascii_lowercase();
            any(
                &text,
                &["unrecognized", "unknown", "unexpected", "invalid", "required", "missing", "illegal"],
            )
        });
        let telling =
            telling.or_else(|| told.lines().find(|text| !text.trim().is_empty())).unwrap_or_default();
        Problem::new(Cause::BadArgument, format!("it says `{}`", telling.trim()))
            .fix("correct \"args\"; the evidence shows how it wants to be called")
    })
}

fn file(told: &str, lower: &str, _: &CommandLine) -> Option<Problem> {
    if !any(
        lower,
        &[
            "enoent",
            "eacces",
            "eperm",
            "permission denied",
            "permissionerror",
            "no such file or directory",
            "filenotfounderror",
            "notadirectory",
            "enotdir",
            "not a directory",
            "operation not permitted",
        ],
    ) {
        return None;
    }
    let line = lower.lines().position(|text| {
        any(
            text,
            &[
                "enoent",
                "eacces",
                "eperm",
                "denied",
                "permissionerror",
                "no such file",
                "directory",
                "permitted",
            ],
        )
    });
    let line = line.and_then(|at| told.lines().nth(at)).unwrap_or_default();
    let path = between(line, "'", "'").or_else(|| between(line, "\"", "\""));
    let path = path.or_else(|| {
        line.split_whitespace()
            .find(|word| word.starts_with('/'))
            .map(|word| word.trim_end_matches([':', ',']).to_owned())
    });
    let path = path.unwrap_or_else(|| "what it names".to_owned());
    Some(
        Problem::new(Cause::FileUnusable, format!("it cannot use `{path}`"))
            .fix(format!("ls -ld {}    # whether it is there, and who may use it", quoted(&path)))
            .fix("correct the path in \"args\" or \"env\""),
    )
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

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(told: &str, command: &str) -> Option<&'static str> {
        let mut words = command.split(' ').map(str::to_owned);
        let line =
            CommandLine { program: words.next().unwrap(), args: words.collect(), ..CommandLine::default() };
        read(told, &line).map(|problem| problem.cause.id())
    }

    #[test]
    fn real_last_words_are_read() {
        for (told, command, expected) in [
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
            ("openai: Incorrect API key provided", "node s.js", "credential-refused"),
        ] {
            assert_eq!(cause(told, command), Some(expected), "{told}");
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
