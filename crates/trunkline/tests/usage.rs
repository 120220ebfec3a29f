//! The real binary without a server: usage, failures to connect, help and generated pages.
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod support;

use support::{Run, trunkline};

#[test]
fn a_name_that_is_not_configured_is_told_how_to_become_so() {
    insta::assert_snapshot!(Run::of(trunkline(&[]).args(["call", "files", "echo"]), ""), @r"
        exit 2
        --- stdout
        --- stderr
        error: `files` is not an address
        hint: there is neither a program nor a configured server of that name; give an address or a command, or add the server to `trunkline.json`
        ");
}

#[test]
fn usage_errors_are_exit_two() {
    for args in [
        &["list"][..],
        &["call", "--", "server"],
        &["read", "http://127.0.0.1:9/"],
        &["prompt", "http://127.0.0.1:9/"],
        &["complete", "http://127.0.0.1:9/", "tool", "x", "a=b"],
        &["list", "http://127.0.0.1:9/", "--header", "no colon"],
        &["list", "http://127.0.0.1:9/", "--env", "A=1"],
        &["list", "--header", "A: b", "--", "server"],
        &["list", "http://127.0.0.1:9/${NOT_SET_AT_ALL}"],
        &["list", "ftp://127.0.0.1/"],
        &["list", "http://127.0.0.1:9/", "--timeout", "soon"],
        &["list", "http://127.0.0.1:9/", "--era", "stone"],
        &["list", "http://127.0.0.1:9/", "--log-level", "loud"],
        &["serve"],
        &["man", "nonesuch"],
        &["frobnicate"],
    ] {
        let run = Run::of(trunkline(&[]).args(args), "");
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}\n{run}");
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn no_connection_is_exit_three() {
    insta::assert_snapshot!(Run::of(trunkline(&[]).args(["list", "http://127.0.0.1:9/mcp"]), ""), @r"
        exit 3
        --- stdout
        --- stderr
        error[E216]: The server cannot be reached
          cannot connect to 127.0.0.1:9: connection refused
        hint: Check the address or command, and that the server runs
        ");
    let run = Run::of(trunkline(&[]).args(["list", "--", "/nowhere/at-all"]), "");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.starts_with("error[E219]"), "{run}");
}

#[test]
fn failures_are_json_on_standard_error_when_json_is_wanted() {
    let run = Run::of(trunkline(&[]).args(["list", "http://127.0.0.1:9/mcp", "--json"]), "");
    let value: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&value["error"]["code"], &value["exit_code"]), (&"E216".into(), &3.into()));
    assert_eq!((run.code, run.stdout.as_str()), (3, ""));
}

#[test]
fn the_help_of_call_shows_both_forms() {
    let run = Run::of(trunkline(&[]).args(["call", "-h"]), "");
    insta::assert_snapshot!(run, @r"
        exit 0
        --- stdout
        Call a tool

        Usage: trunkline call [OPTIONS] <TARGET> <TOOL> [ARGUMENT]...
               trunkline call [OPTIONS] <TOOL> [ARGUMENT]... -- <COMMAND>...

        Arguments:
          [TARGET TOOL ARGUMENT]...  The server's address or its name in the configuration, the tool's name,
                                     and its arguments
          [COMMAND]...               The command that starts the server, instead of TARGET

        Options:
              --no-check    Send the arguments without reading the tool's schema; plain values are sent as
                            strings
              --async       Start the tool as an execution of a running gateway and print its id; see
                            `trunkline executions`
              --out <PATH>  Save images, audio and other binary content in this directory, or as this file
          -h, --help        Print help (see more with '--help')

        Connection:
          -H, --header <HEADER>         Send this HTTP header with every request, as `Name: value`; may be
                                        repeated
          -e, --env <VARIABLE>          Set this environment variable for the server process, as
                                        `NAME=VALUE`; may be repeated
              --cwd <DIR>               Start the server process in this directory
              --timeout <TIME>          Timeout for a call without a response or progress, such as `30s` or
                                        `5m` [default: 1m, or that of the configured server]
              --connect-timeout <TIME>  Timeout for connecting, including a package download by npx or uvx
                                        [default: 60s, or that of the configured server]
              --era <ERA>               Protocol era to speak: with (legacy) or without (modern) the
                                        `initialize` handshake [possible values: auto, legacy, modern]
              --cacert <FILE>           Also trust the certificates in this PEM file, of CAs or of the
                                        server itself; may be repeated
              --cert <FILE>             Client certificate for mutual TLS (PEM)
              --key <FILE>              Private key of the client certificate (PEM)
              --allow-plain-http        Allow sending credentials over plain http, where others can read
                                        them
              --ids <KIND>              Kind of request ids to generate [default: uuid] [possible values:
                                        uuid, int]
              --trace                   Print every frame to standard error, with its direction and time
              --log-level <LEVEL>       Print the server's log messages of this level and above: debug,
                                        info, notice, warning, error, critical, alert, emergency
              --no-cache                Do not use the cache of known servers, such as their transport and
                                        protocol era

        Answers to the server's questions:
              --answer <ANSWER>  Fill in this form field (elicitation) without prompting, as `FIELD=VALUE`;
                                 may be repeated
              --root <DIR>       Offer this directory to the server as a root; may be repeated
              --sample           Show the server's sampling requests, and ask at the terminal for the
                                 model's answer

        Output:
              --json          Print results as JSON, exactly as the server sent them, and errors as one JSON
                              object on stderr
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]
          -v, --verbose...    Log more; repeat (-vv) to log everything
          -q, --quiet         Print errors only
        --- stderr
        ");
}

#[test]
fn pages_completions_and_manuals_are_generated() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::of(trunkline(&[]).arg("__gen").arg(folder.path()), "");
    assert_eq!(run.code, 0, "{run}");
    for (file, holds) in [
        ("docs/cli.md", "## complete"),
        ("docs/errors.md", "### E216 cannot-connect"),
        ("completions/trunkline.bash", "_trunkline()"),
        ("completions/_trunkline", "#compdef trunkline"),
        ("completions/trunkline.fish", "complete -c trunkline"),
        ("completions/_trunkline.ps1", "Register-ArgumentCompleter"),
        ("completions/trunkline.elv", "edit:completion"),
        ("man/trunkline.1", ".TH trunkline 1"),
        ("man/trunkline-call.1", ".TH trunkline-call 1"),
    ] {
        let text = std::fs::read_to_string(folder.path().join(file)).unwrap_or_default();
        assert!(text.contains(holds), "{file}");
    }
    let printed = Run::of(trunkline(&[]).args(["man", "call"]), "").stdout;
    assert_eq!(printed, std::fs::read_to_string(folder.path().join("man/trunkline-call.1")).unwrap());
    assert!(Run::of(trunkline(&[]).args(["completions", "bash"]), "").stdout.contains("_trunkline()"));
}

#[test]
fn a_misspelt_kind_is_told_what_was_meant() {
    let run = Run::of(trunkline(&[]).args(["list", "http://127.0.0.1:9/mcp", "tols"]), "");
    assert!(run.code == 2 && run.stderr.contains("did you mean `tools`?"), "{run}");
}
