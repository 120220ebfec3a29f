//! All kinds of problems of a file, and how they are reported: position, code, key, message,
//! suggestion.

mod support;

use support::Place;

fn problems(text: &str) -> String {
    Place::project(text).problems()
}

#[test]
fn v02_an_unknown_key_is_told_with_the_nearest_one() {
    insta::assert_snapshot!(problems("{\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"comand\": [\"x\"], \"args\": [], \"zzz\": 1 }\n    }\n  },\n  \"mcpServers\": {}\n}"), @r"
    /project/trunkline.json:4:14+8 error[unknown-key] mcp.servers.a.comand: there is no key `comand` here (did you mean `command`?)
    /project/trunkline.json:4:31+6 error[unknown-key] mcp.servers.a.args: there is no key `args` here (arguments stand in `command`, after the program)
    /project/trunkline.json:4:43+5 error[unknown-key] mcp.servers.a.zzz: there is no key `zzz` here
    /project/trunkline.json:7:3+12 error[unknown-key] mcpServers: there is no key `mcpServers` here (servers stand in `mcp.servers`; `trunkline config import` reads the files of other clients)
    ");
}

#[test]
fn v02_a_name_that_stands_twice_is_refused() {
    insta::assert_snapshot!(problems("{\"mcp\": {\"servers\": {\n  \"a\": {\"command\": [\"x\"]},\n  \"a\": {\"command\": [\"y\"]}\n}}, \"mcp\": {}}"), @r"
    /project/trunkline.json:3:3+3 error[duplicate-key] mcp.servers.a: `a` stands twice in this object
    /project/trunkline.json:4:5+5 error[duplicate-key] mcp: `mcp` stands twice in this object
    ");
}

#[test]
fn v02_an_unset_variable_is_named_with_its_place() {
    insta::assert_snapshot!(problems("{\"mcp\": {\"servers\": {\n  \"a\": {\"command\": [\"x\", \"--to=${WHERE}\"],\n    \"environment\": {\"T\": \"{env:A_TOKEN}\"}},\n  \"b\": {\"url\": \"{env:B_URL}\", \"headers\": {\"Authorization\": \"Bearer ${B}\"}}\n}}}"), @r"
    /project/trunkline.json:2:26+15 warning[unset-variable] mcp.servers.a.command[1]: the environment variable `WHERE` is not set, so the server `a` is not used (set it, or write `${WHERE:-…}` with what to use without it)
    /project/trunkline.json:3:26+15 warning[unset-variable] mcp.servers.a.environment.T: the environment variable `A_TOKEN` is not set, so the server `a` is not used (set it, or write `${A_TOKEN:-…}` with what to use without it)
    /project/trunkline.json:4:16+13 warning[unset-variable] mcp.servers.b.url: the environment variable `B_URL` is not set, so the server `b` is not used (set it, or write `${B_URL:-…}` with what to use without it)
    /project/trunkline.json:4:60+13 warning[unset-variable] mcp.servers.b.headers.Authorization: the environment variable `B` is not set, so the server `b` is not used (set it, or write `${B:-…}` with what to use without it)
    ");
}

#[test]
fn v02_a_byte_order_mark_is_no_problem() {
    let place = Place::project("\u{feff}{\"limits\": {\"calls\": 0}}");
    insta::assert_snapshot!(place.problems(), @r"/project/trunkline.json:1:22+1 error[out-of-range] limits.calls: it must lie between 1 and 10000");
    assert_eq!(Place::project("\u{feff}{\"limits\": {\"calls\": 7}}").settings().limits.calls, 7);
}

#[test]
fn v02_a_secret_in_the_file_itself_is_warned_about() {
    insta::assert_snapshot!(problems("{\"mcp\": {\"servers\": {\n  \"a\": {\"command\": [\"x\", \"--token\", \"abcdefgh12\"], \"environment\": {\"API_KEY\": \"abcdefgh12\", \"LANG\": \"C\"}},\n  \"b\": {\"url\": \"https://h/mcp?api_key=abcdefgh12\", \"headers\": {\"X-Api-Key\": \"abcdefgh12\"},\n        \"oauth\": {\"clientSecret\": \"abcdefgh12\"}}\n}}}"), @r#"
    /project/trunkline.json:2:37+12 warning[inline-secret] mcp.servers.a.command[2]: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:2:79+12 warning[inline-secret] mcp.servers.a.environment.API_KEY: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:3:16+34 warning[inline-secret] mcp.servers.b.url: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:3:77+12 warning[inline-secret] mcp.servers.b.headers.X-Api-Key: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:4:35+12 warning[inline-secret] mcp.servers.b.oauth.clientSecret: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    "#);
}

#[test]
fn v02_a_file_that_others_can_read_or_change_is_warned_about() {
    let text = "{\"mcp\": {\"servers\": {\n  \"a\": {\"command\": [\"x\"], \"environment\": {\"API_KEY\": \"abcdefgh12\", \"B\": \"{file:key}\"}}\n}}}";
    let place = Place::project(text).file("project/key", "k\n").mode("project/key", 0o644);
    insta::assert_snapshot!(place.mode("project/trunkline.json", 0o666).problems(), @r"
    /project/trunkline.json:0:0+0 warning[open-file] : others can change this file, and with it the commands that are run (chmod go-w /project/trunkline.json)
    /project/trunkline.json:2:54+12 warning[inline-secret] mcp.servers.a.environment.API_KEY: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:2:54+12 warning[open-file] : others can read this file, and it holds a secret (chmod 600 /project/trunkline.json)
    /project/trunkline.json:2:73+12 warning[open-file] mcp.servers.a.environment.B: others can read /project/key (chmod 600 /project/key)
    ");
    let harmless = Place::project("{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"x\"]}}}}");
    assert_eq!(harmless.mode("project/trunkline.json", 0o644).problems(), "");
}

#[test]
fn values_of_the_wrong_kind_or_outside_their_bounds_are_all_told() {
    insta::assert_snapshot!(problems(r#"{
  "listen": "localhost",
  "limits": { "calls": "many", "parked": 0, "drain": "2h", "keepAlive": "soon", "bodyBytes": 1.5 },
  "audit": { "durability": "sink", "enabled": 1 },
  "defaults": { "timeout": { "request": 0 }, "rate": { "calls": 0 }, "start": "lasy" },
  "views": { "v": { "tools": ["a[", ""], "naming": "bear" } },
  "telemetry": { "endpoint": "ftp://h", "sample": 2, "serviceName": "" },
  "mcp": { "servers": { "a": { "url": "https://me:pw@h/", "command": [] }, "b": { "url": 5 }, "c": [] } }
}"#), @r"
    /project/trunkline.json:2:13+11 error[bad-value] listen: `localhost` is not an address and a port, such as `127.0.0.1:8425`
    /project/trunkline.json:3:24+6 error[wrong-kind] limits.calls: a whole number belongs here, not a text
    /project/trunkline.json:3:42+1 error[out-of-range] limits.parked: it must lie between 1 and 100000
    /project/trunkline.json:3:54+4 error[out-of-range] limits.drain: it must lie between 0ms and 1h
    /project/trunkline.json:3:73+6 error[bad-value] limits.keepAlive: `soon` is not a time; write milliseconds, or a number with ms, s, m, h or d
    /project/trunkline.json:3:94+3 error[wrong-kind] limits.bodyBytes: a whole number belongs here, not a number
    /project/trunkline.json:4:28+6 error[unknown-value] audit.durability: `sink` is none of `sync`, `batch`
    /project/trunkline.json:4:47+1 error[wrong-kind] audit.enabled: true or false belongs here, not a number
    /project/trunkline.json:5:41+1 error[out-of-range] defaults.timeout.request: it must lie between 1ms and 1d
    /project/trunkline.json:5:65+1 error[out-of-range] defaults.rate.calls: it must lie between 1 and 1000000
    /project/trunkline.json:5:79+6 error[unknown-value] defaults.start: `lasy` is none of `lazy`, `eager` (did you mean `lazy`?)
    /project/trunkline.json:6:31+4 error[bad-value] views.v.tools[0]: `a[` is not a pattern: unclosed character class; missing ']'
    /project/trunkline.json:6:37+2 error[out-of-range] views.v.tools[1]: the text is empty
    /project/trunkline.json:6:52+6 error[unknown-value] views.v.naming: `bear` is none of `prefixed`, `bare`
    /project/trunkline.json:7:30+9 error[bad-value] telemetry.endpoint: `ftp://h` does not begin with `http://` or `https://`
    /project/trunkline.json:7:51+1 error[out-of-range] telemetry.sample: it must lie between 0 and 1
    /project/trunkline.json:7:69+2 error[out-of-range] telemetry.serviceName: the text is empty
    /project/trunkline.json:8:39+18 error[bad-value] mcp.servers.a.url: the address holds a user name or password; send credentials in a header instead
    /project/trunkline.json:8:39+18 warning[inline-secret] mcp.servers.a.url: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:8:39+18 error[conflict] mcp.servers.a.url: `url` is for remote servers, and this one is local
    /project/trunkline.json:8:70+2 error[out-of-range] mcp.servers.a.command: the list is empty
    /project/trunkline.json:8:90+1 error[wrong-kind] mcp.servers.b.url: a text or null belongs here, not a number
    /project/trunkline.json:8:100+2 error[wrong-kind] mcp.servers.c: an object belongs here, not a list
    ");
}

#[test]
fn what_does_not_belong_together_is_told() {
    insta::assert_snapshot!(problems(r#"{
  "mcp": { "servers": {
    "a": { "command": ["x"], "url": "https://h/" },
    "b": { "type": "remote", "command": ["x"] },
    "c": { "timeout": 5 },
    "d": { "pack": "git", "github": ["o/n"] },
    "e_f": { "command": ["x"] },
    "g": { "command": [""], "timeout": { "request": "2m", "ceiling": "1m" }, "retry": { "first": "20s" } },
    "G": { "command": ["x"], "tools": { "a*": { "rename": "b" }, "b": { "rename": "c" }, "d": { "rename": "c" } } },
    "h": { "url": "https://h/", "headers": { "A B": "x", "Authorization": "Bearer " } },
    "i": { "url": "https://h/", "oauth": { "clientSecret": "changeme" } }
  } },
  "views": { "server": {}, "v": { "servers": ["gg*", "dd"] } },
  "roles": { "reader": {} },
  "defaultRole": "readr",
  "auth": { "jwt": { "issuer": "https://i/" } }
}"#), @r#"
    /project/trunkline.json:3:37+12 error[conflict] mcp.servers.a.url: `url` is for remote servers, and this one is local
    /project/trunkline.json:4:10+38 error[missing] mcp.servers.b.url: a remote server needs a `url`
    /project/trunkline.json:4:41+5 error[conflict] mcp.servers.b.command: `command` is for local servers, and this one is remote
    /project/trunkline.json:5:10+16 error[missing] mcp.servers.c: the server has no `command`, no `url` and no `pack` (write one of them; `enabled` and options alone only adjust a server of a lower layer)
    /project/trunkline.json:6:37+7 error[conflict] mcp.servers.d.github: `github` is for the pack `ci`
    /project/trunkline.json:7:12+20 error[bad-value] mcp.servers.e_f: `e_f` cannot name a server: 1 to 32 letters, digits or `-`, beginning with a letter or digit (call it `e-f`)
    /project/trunkline.json:8:10+97 error[missing] mcp.servers.g.command: a local server needs a `command`
    /project/trunkline.json:8:70+4 error[conflict] mcp.servers.g.timeout.ceiling: the ceiling is below the time for one request
    /project/trunkline.json:8:98+5 error[conflict] mcp.servers.g.retry.first: the first pause is longer than the longest
    /project/trunkline.json:9:10+106 error[conflict] mcp.servers.G: `G` and `g` differ only in case; people and file systems would mix them up
    /project/trunkline.json:9:59+3 error[conflict] mcp.servers.G.tools.a*.rename: only one tool can have a name, not all that fit a pattern
    /project/trunkline.json:9:107+3 error[conflict] mcp.servers.G.tools.d.rename: `b` is called `c` already
    /project/trunkline.json:10:53+3 error[bad-value] mcp.servers.h.headers.A B: `A B` cannot name a header
    /project/trunkline.json:10:75+9 error[weak-secret] mcp.servers.h.headers.Authorization: the credential is empty
    /project/trunkline.json:11:60+10 warning[inline-secret] mcp.servers.i.oauth.clientSecret: this looks like a literal secret (write `{env:NAME}`, `{file:path}` or `{keychain:NAME}` instead)
    /project/trunkline.json:11:60+10 error[weak-secret] mcp.servers.i.oauth.clientSecret: the secret is empty, well known or too short
    /project/trunkline.json:13:24+2 error[bad-value] views.server: `server` cannot name a view: 1 to 64 letters, digits, `-` or `_`, and none of `server`, `tools`, `executions`
    /project/trunkline.json:13:54+4 error[unknown-reference] views.v.servers: there is no server `dd` (did you mean `d`?)
    /project/trunkline.json:15:18+7 error[unknown-reference] defaultRole: there is no role `readr` (did you mean `reader`?)
    /project/trunkline.json:16:20+26 error[missing] auth.jwt: `audience` is needed here
    /project/trunkline.json:16:20+26 error[missing] auth.jwt: `jwks` is needed here
    "#);
}

#[test]
fn secrets_that_cannot_be_had_are_told() {
    insta::assert_snapshot!(problems(r#"{
  "mcp": { "servers": { "a": { "url": "https://h/", "headers": {
    "X-One": "{file:missing}",
    "X-Two": "{keychain:github/me}" } } } }
}"#), @r"
    /project/trunkline.json:3:14+16 warning[unavailable-secret] mcp.servers.a.headers.X-One: /project/missing cannot be read: No such file or directory (os error 2), so the server `a` is not used (put the secret there, in a file only you can read)
    /project/trunkline.json:4:14+22 warning[unavailable-secret] mcp.servers.a.headers.X-Two: there is no keychain here to look for `github/me` in, so the server `a` is not used (put the secret into a file only you can read and write `{file:path}`, or into a variable and write `{env:NAME}`)
    ");
}

#[test]
fn what_is_no_json_is_told_where_it_stops_being_so() {
    for text in [
        "",
        "{",
        "{\"a\"}",
        "{\"a\": }",
        "{\"a\": 1 \"b\": 2}",
        "{'a': 1}",
        "{a: 1}",
        "[1, 2",
        "{\"a\": tru}",
        "{\"a\": 01}",
        "{\"a\": \"x\ny\"}",
        "{} {}",
        "/* open",
        "{\"a\": \"\\q\"}",
        "{\"a\": \"open}",
    ] {
        let told = problems(text);
        assert_eq!(told.lines().count(), 1, "{text}: {told}");
        assert!(told.contains("error[syntax]"), "{text}: {told}");
    }
    insta::assert_snapshot!(problems("{\n  // ok\n  \"limits\": {\n    \"calls\": 3\n    \"parked\": 4\n  }\n}"), @r"/project/trunkline.json:4:15+1 error[syntax] : a comma is missing here");
}

#[test]
fn a_variable_that_sets_nothing_or_nonsense_is_told() {
    let place = Place::new()
        .variable("TRUNKLINE_LISTN", "x")
        .variable("TRUNKLINE_LIMITS_CALLS", "0")
        .variable("TRUNKLINE_LOG", "info");
    insta::assert_snapshot!(place.problems(), @r"
    TRUNKLINE_LISTN:0:0+0 warning[unknown-variable] : `TRUNKLINE_LISTN` sets nothing (did you mean `TRUNKLINE_LISTEN`?)
    TRUNKLINE_LIMITS_CALLS:0:0+0 error[out-of-range] limits.calls: it must lie between 1 and 10000
    ");
}

#[test]
fn a_reference_is_checked_for_what_it_stands_for() {
    let place = Place::project(r#"{"listen": "${AT}", "telemetry": {"endpoint": "${URL:-nowhere}"}}"#)
        .variable("AT", "here");
    insta::assert_snapshot!(place.problems(), @r"
    /project/trunkline.json:1:12+7 error[bad-value] listen: `{env:AT}` is not an address and a port, such as `127.0.0.1:8425`
    /project/trunkline.json:1:47+17 error[bad-value] telemetry.endpoint: `${URL:-nowhere}` is not an address: relative URL without a base
    ");
}

#[test]
fn a09_an_empty_known_or_short_secret_is_refused() {
    let with = |secret: &str| {
        let text = r#"{"mcp": {"servers": {"a": {"url": "https://h/", "oauth": {"clientSecret": "{env:S}"}, "headers": {"Authorization": "Bearer {env:T}"}}}}}"#;
        Place::project(text)
            .variable("S", secret)
            .variable("T", if secret.is_empty() { "" } else { "t" })
            .problems()
    };
    for weak in ["", "changeme", "secret", "short"] {
        assert!(with(weak).contains("warning[weak-secret] mcp.servers.a.oauth.clientSecret"), "{weak}");
    }
    assert!(with("").contains("warning[weak-secret] mcp.servers.a.headers.Authorization"));
    assert!(!with("long-enough-and-odd").contains("weak-secret"));
}

#[test]
fn problems_never_tell_what_a_reference_stands_for() {
    let text = r#"{"listen": "{env:S}", "mcp": {"servers": {"a": {"url": "${S}"}, "b": {"url": "ftp://h/?token=s3cretvalue1"}}}}"#;
    let told = Place::project(text).variable("S", "s3cretvalue1").problems();
    assert!(told.contains("`{env:S}` is not an address") && !told.contains("s3cretvalue1"), "{told}");
    let loaded =
        Place::project(r#"{"mcp": {"servers": {"a": {"command": ["x", "--token", "s3cretvalue1"]}}}}"#)
            .load()
            .unwrap();
    assert!(!format!("{loaded:?}").contains("s3cretvalue1"));
}

#[test]
fn j12_a_file_that_is_written_to_be_slow_is_refused_at_once() {
    let many = |member: &dyn Fn(usize) -> String, count: usize| {
        let members: Vec<String> = (0..count).map(member).collect();
        problems(&format!("{{{}}}", members.join(",")))
    };
    let twice = many(&|_| "\"a\":1".to_owned(), 100_000);
    assert_eq!(twice.lines().count(), 100, "no more than that are told");
    let unknown = many(&|at| format!("\"k{at}\":1"), 60_000);
    assert!(unknown.contains("error[syntax] : the file holds more than 20000 values"), "{unknown}");

    let server = |word: &str| format!("{{\"mcp\":{{\"servers\":{{\"a\":{{\"command\":[\"{word}\"]}}}}}}}}");
    let names: Vec<String> = (0..50_000).map(|at| format!("${{A{at}}}")).collect();
    let unset = problems(&server(&names.concat()));
    assert_eq!(unset.lines().count(), 100, "no more than that are told");
    let secret = "s".repeat(60_000);
    let place = Place::project(&server(&"{file:key}".repeat(90_000))).file("project/key", &secret);
    assert!(place.problems().contains("references stand for more than 4194304 bytes"));
    let long = format!("{{\"{}\":1}}", "k".repeat(1_000_000));
    assert_eq!(problems(&long).lines().count(), 1);
}

#[test]
fn a_store_has_one_place_and_a_known_kind_of_address() {
    let problems = |store: &str| Place::project(&format!(r#"{{"store": {store}}}"#)).problems();
    assert_eq!(
        problems(r#"{"path": "a", "url": "redis://h"}"#),
        "/project/trunkline.json:1:32+11 error[bad-value] store.url: a store has either a `path` or a `url`, \
         not both (set the other one to null)\n"
    );
    assert_eq!(
        problems(r#"{"url": "http://h"}"#),
        "/project/trunkline.json:1:19+10 error[bad-value] store.url: the address of a store begins with \
         `redis://` or `rediss://`\n"
    );
    let literal = problems(r#"{"url": "redis://:hunter22@h"}"#);
    assert!(
        literal.contains("warning[inline-secret] store.url: this looks like a literal secret"),
        "{literal}"
    );
    assert!(!literal.contains("hunter22"), "{literal}");
    assert_eq!(problems(r#"{"url": "redis://:{env:HOME}@h"}"#).lines().count(), 1, "HOME is not set there");
}
