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
        hint: no server of that name is configured; give an address, a command after `--`, or add the server to `trunkline.json`
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
          cannot connect to 127.0.0.1:9: connection refused; is the server running, and is the port right?
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

        Usage: trunkline call [OPTIONS] <URL> <TOOL> [ARGUMENT]...
               trunkline call [OPTIONS] <TOOL> [ARGUMENT]... -- <COMMAND>...

        Arguments:
          [TARGET TOOL ARGUMENT]...  The server's address, the tool's name, and its arguments
          [COMMAND]...               The command that starts the server, instead of an address

        Options:
              --no-check    Send the arguments without looking at the tool's schema; plain values are text
                            then
              --out <PATH>  Save images, sound and other bytes: in this directory, or as this file
          -h, --help        Print help (see more with '--help')

        Connection:
          -H, --header <HEADER>         Send this HTTP header with every request, as `Name: value`; may be
                                        repeated
          -e, --env <VARIABLE>          Give the server's process this variable, as `NAME=VALUE`; may be
                                        repeated
              --cwd <DIR>               Start the server's process in this directory
              --timeout <TIME>          How long a call may go without an answer or progress, such as `30s`
                                        or `5m` [default: 1m]
              --connect-timeout <TIME>  How long connecting may take, a download by npx or uvx included
                                        [default: 60s]
              --era <ERA>               Which era of the protocol to speak: with or without the `initialize`
                                        handshake [possible values: auto, legacy, modern]
              --cacert <FILE>           Trust the certificates in this PEM file, too; may be repeated
              --cert <FILE>             Show this certificate to the server (PEM)
              --key <FILE>              The key of the certificate (PEM)
              --allow-plain-http        Send headers with credentials over plain http, too, where others can
                                        read them
              --ids <KIND>              How request ids are made [default: uuid] [possible values: uuid,
                                        int]
              --trace                   Print every frame to standard error, with its direction and time
              --log-level <LEVEL>       Print the server's log messages from this level on: debug, info,
                                        notice, warning, error, critical, alert, emergency
              --no-cache                Neither use nor keep what was found out about servers before

        Answers to the server's questions:
              --answer <ANSWER>  Answer this field of a form, as `FIELD=VALUE`, without asking on the
                                 terminal; may be repeated
              --root <DIR>       Tell the server of this directory as a root; may be repeated
              --sample           Show what the server asks of a language model, and let me type the model's
                                 answer

        Output:
              --json          Print JSON: results as the server gave them, and failures as one object on
                              standard error
              --color <WHEN>  When to use colours [default: auto] [possible values: auto, always, never]
          -v, --verbose...    Tell more about what happens; twice for everything
          -q, --quiet         Tell only about failures
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
