//! Every failure of `auth bench` gets an explanation of its own.

use crate::visit::{Folder, Visit};
use std::{collections::BTreeSet, process::Command, thread};
use tokio::runtime::Runtime;
use trunkline_oauth::bench::{Bench, BenchOptions, FAILURES, Failure};

/// The place of an explanation in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// This step fails with this cause.
    Problem(&'static str, &'static str),
    /// The examination goes on, with a warning of this cause.
    Warning(&'static str),
    /// Nothing is wrong; this step tells it.
    Detail(&'static str),
}
use Told::{Detail, Problem, Warning};

const DISCOVERY: &str = "authorization-found";
const CLIENT: &str = "client-known";
const TOKEN: &str = "token-obtained";
const RENEWAL: &str = "token-renewed";

/// The explanation of each failure, and a part of its text.
fn expected(failure: Failure) -> (Told, &'static str) {
    use Failure as F;
    match failure {
        F::NoChallenge => (Warning("challenge-missing"), "well-known address"),
        F::NoMetadata => (Problem(DISCOVERY, "sign-in-metadata-missing"), "names no authorization server"),
        F::OtherResource => (Problem(DISCOVERY, "sign-in-metadata-wrong"), "https://other.example/mcp"),
        F::ResourceList => (Problem(DISCOVERY, "sign-in-metadata-wrong"), "is not a string"),
        F::NoAuthorizationServer => {
            (Problem(DISCOVERY, "sign-in-metadata-wrong"), "`authorization_servers` is missing or empty")
        }
        F::IssuerUnknown => (Problem(DISCOVERY, "issuer-unreachable"), "gives no metadata"),
        F::OtherIssuer => (Problem(DISCOVERY, "issuer-mismatch"), "https://other.example"),
        F::ScriptEndpoint => (Problem(DISCOVERY, "sign-in-endpoint-unusable"), "javascript:"),
        F::PrivateEndpoint => (Problem(DISCOVERY, "sign-in-endpoint-unusable"), "plain http"),
        F::NoPkce => (Problem(DISCOVERY, "no-pkce"), "offers no PKCE"),
        F::PlainPkce => (Problem(DISCOVERY, "no-pkce"), "PKCE only with plain"),
        F::Moved => (Problem(DISCOVERY, "issuer-moved"), "http://localhost:1/evil"),
        F::NoRegistration => (Problem(CLIENT, "no-registration"), "no client id is configured"),
        F::RegistrationRefused => (Problem(CLIENT, "registration-refused"), "are not registered"),
        F::RegistrationHuge => (Problem(CLIENT, "registration-malformed"), "larger than"),
        F::Denied => (Problem(TOKEN, "login-denied"), "consent was refused"),
        F::WrongState => (Problem(TOKEN, "login-answer-wrong"), "`state`"),
        F::IssMissing => (Problem(TOKEN, "login-answer-wrong"), "has no `iss`"),
        F::IssWrong => (Problem(TOKEN, "login-answer-wrong"), "another issuer"),
        F::IssSlash => (Problem(TOKEN, "login-answer-wrong"), "by a slash"),
        F::CodeRefused => (Problem(TOKEN, "token-endpoint-refused"), "invalid_grant"),
        F::TokenDown => (Problem(TOKEN, "token-endpoint-down"), "status 503"),
        F::TokenPage => (Problem(TOKEN, "token-endpoint-malformed"), "malformed"),
        F::TokenType => (Problem(TOKEN, "token-type-unsupported"), "`mac`"),
        F::NoRefreshToken => (Warning("no-refresh-token"), "renewed unattended"),
        F::KeepsRefreshToken => (Detail(RENEWAL), "stays the same"),
        F::RefreshRefused => (Problem(RENEWAL, "refresh-refused"), "was revoked"),
        F::RefreshDown => (Problem(RENEWAL, "refresh-down"), "status 503"),
        F::LifetimeZero => (Warning("token-lifetime-odd"), "`expires_in` is 0"),
        F::LifetimeNegative => (Warning("token-lifetime-odd"), "`expires_in` is -1"),
        F::LifetimeMissing => (Warning("token-lifetime-odd"), "there is no `expires_in`"),
        F::TokenRejected => (Problem("let-in", "token-refused"), "that its authorization server issued"),
        F::ScopeLoop => (Problem("let-in", "scope-loop"), "read admin"),
        F::HugeChallenge => (Problem("http-answers", "head-too-long"), "64 KB"),
    }
}

/// A folder with a browser that follows redirects and shows nothing.
fn folder() -> (Folder, String) {
    let folder = Folder::new();
    let open = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1])";
    let browser = folder.script("browser", &format!("exec python3 -c '{open}' \"$1\" 2>/dev/null"));
    (folder, browser)
}

fn start(runtime: &Runtime, failures: &[Failure]) -> Bench {
    let failures: BTreeSet<Failure> = failures.iter().copied().collect();
    runtime.block_on(Bench::start(BenchOptions { failures, ..BenchOptions::default() })).unwrap()
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Examines a bench with this failure, with a login of its own.
fn examine(runtime: &Runtime, failure: Failure) -> Visit {
    let (folder, browser) = folder();
    let variables = [("BROWSER", browser.as_str())];
    if failure == Failure::Moved {
        // Only a login that was made before can notice this.
        let bench = start(runtime, &[]);
        let mut login = Command::new(env!("CARGO_BIN_EXE_trunkline"));
        login.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder.path());
        login.args(["auth", "login", &bench.server()]).envs(variables);
        assert!(login.output().unwrap().status.success());
        bench.set(failure, true);
        return folder.visit(&[&bench.server()], &variables);
    }
    let bench = start(runtime, &[failure]);
    // The answer with a wrong `state` is noticed when the time is over.
    let limit = if failure == Failure::WrongState { "2s" } else { "20s" };
    folder.visit(&["--sign-in", "--no-call", "--timeout", limit, &bench.server()], &variables)
}

fn check(failure: Failure, visit: &Visit) {
    let (told, part) = expected(failure);
    let name = failure.name();
    let warned = visit.said["warnings"].as_array().map(Vec::as_slice).unwrap_or_default();
    match told {
        Problem(step, cause) => {
            visit.names(cause, 3, "");
            assert_eq!(visit.broken_step(), step, "{name}: {:#}", visit.said);
            assert!(!visit.fix().is_empty(), "{name}: {:#}", visit.said);
            let summary = visit.said["problem"]["summary"].as_str().unwrap();
            assert!(summary.contains(part), "{name}: {summary}");
        }
        Warning(cause) => {
            assert_eq!(visit.code, 0, "{name}: {:#}", visit.said);
            let found = warned.iter().find(|warning| warning["cause"] == cause);
            let summary = found.unwrap_or_else(|| panic!("{name}: {:#}", visit.said))["summary"].as_str();
            assert!(summary.unwrap().contains(part), "{name}: {summary:?}");
        }
        Detail(step) => {
            assert_eq!((visit.code, warned.len()), (0, 0), "{name}: {:#}", visit.said);
            let steps = visit.said["steps"].as_array().unwrap();
            let detail = steps.iter().find(|found| found["id"] == step).unwrap()["detail"].as_str();
            assert!(detail.unwrap().contains(part), "{name}: {detail:?}");
        }
    }
}

#[test]
fn every_failure_of_the_bench_is_explained() {
    let runtime = runtime();
    thread::scope(|scope| {
        for half in FAILURES.chunks(FAILURES.len().div_ceil(4)) {
            let runtime = &runtime;
            scope.spawn(move || {
                for (failure, ..) in half {
                    check(*failure, &examine(runtime, *failure));
                }
            });
        }
    });
    let told: BTreeSet<_> =
        FAILURES.iter().map(|(failure, ..)| format!("{:?}", expected(*failure))).collect();
    assert_eq!(told.len(), FAILURES.len(), "two failures have the same explanation");
}

#[test]
fn a_sound_login_passes_every_step_and_leaves_nothing_behind() {
    let runtime = runtime();
    let bench = start(&runtime, &[]);
    let (folder, browser) = folder();
    let visit = folder.visit(&["--sign-in", &bench.server()], &[("BROWSER", &browser)]);
    assert_eq!(visit.code, 0, "{:#}", visit.said);
    for step in [DISCOVERY, CLIENT, TOKEN, RENEWAL, "let-in", "first-call"] {
        let steps = visit.said["steps"].as_array().unwrap();
        let found = steps.iter().find(|found| found["id"] == step).unwrap();
        assert_eq!(found["outcome"], "passed", "{step}: {:#}", visit.said);
    }
    assert_eq!((bench.grants("authorization_code"), bench.grants("refresh_token")), (1, 1));
    assert!(bench.log().iter().any(|line| line.path == "/revoke"), "the token is revoked");
    assert!(!folder.path().join(".local/share/trunkline/logins").exists(), "no login is kept");
}

#[test]
fn a_stored_login_is_used_and_none_is_asked_for() {
    let runtime = runtime();
    let bench = start(&runtime, &[]);
    let (folder, browser) = folder();
    let visit = folder.visit(&[&bench.server()], &[]);
    visit.names("sign-in-required", 3, "--sign-in");
    let mut login = Command::new(env!("CARGO_BIN_EXE_trunkline"));
    login.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", folder.path());
    login.args(["auth", "login", &bench.server()]).env("BROWSER", &browser);
    assert!(login.output().unwrap().status.success());
    let visit = folder.visit(&[&bench.server()], &[]);
    assert_eq!(visit.code, 0, "{:#}", visit.said);
    assert_eq!(bench.grants("refresh_token"), 0, "a valid token is not renewed");
}
