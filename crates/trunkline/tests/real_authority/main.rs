//! Logins at real authorization servers: node-oidc-provider, Authlib, and those of the official
//! SDKs. Login without a browser and with one, refresh with rotation, step-up and revocation.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(dead_code, reason = "only a part of the shared support is used here")]

mod authority;
mod chromium;
#[path = "../support/installed.rs"]
mod installed;
#[path = "../support/mod.rs"]
mod support;
mod user;

use authority::{Authority, Product};
use chromium::chromium;
use std::fs;
use support::Run;
use user::{User, store};

/// Signs in, renews, asks for more scopes, and signs out.
fn whole_life_of_a_login(product: Product) {
    let authority = Authority::start(product);
    let user = User::new();
    let server = authority.server.as_str();
    let login = user.login(server, &[]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "tester read\n");

    let before = user.stored();
    user.age();
    let run = user.run(&["call", server, "whoami"]);
    assert_eq!(run.stdout, "tester read\n", "{run}");
    let after = user.stored();
    assert_ne!(after["tokens"]["access"], before["tokens"]["access"]);
    assert_ne!(after["tokens"]["refresh"], before["tokens"]["refresh"], "the server rotates");

    let refused = user.run(&["call", server, "admin"]);
    assert!(refused.stderr.contains("--scope admin`"), "{refused}");
    let login = user.login(server, &["--scope", "admin"]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "admin"]).stdout, "tester read admin\n");

    let (kept, file) = (user.stored(), user.file());
    assert_eq!(user.run(&["auth", "logout", server]).stdout, "signed out; the tokens were revoked\n");
    // Even a copy of the login is worthless now.
    store(&kept, &file);
    let run = user.run(&["call", server, "whoami"]);
    assert_ne!(run.code, 0, "{run}");
}

#[test]
fn a_login_at_node_oidc_provider_is_renewed_widened_and_revoked() {
    whole_life_of_a_login(Product::NodeOidcProvider);
}

#[test]
fn a_login_at_authlib_is_renewed_widened_and_revoked() {
    whole_life_of_a_login(Product::Authlib);
}

#[test]
fn o08_a_rotated_refresh_token_is_worthless_at_authlib() {
    let authority = Authority::start(Product::Authlib);
    let user = User::new();
    let server = authority.server.as_str();
    assert_eq!(user.login(server, &[]).code, 0);
    let old = user.stored();
    user.age();
    assert_eq!(user.run(&["call", server, "whoami"]).code, 0);
    // A backup of the first login is restored: its refresh token was used, so a login is needed.
    store(&old, &user.file());
    user.age();
    let run = user.run(&["call", server, "whoami"]);
    assert!(run.code != 0 && run.stderr.contains("trunkline auth login"), "{run}");
    assert_eq!(user.stored().get("tokens"), None, "the refused tokens are dropped");
}

#[test]
fn a_login_at_the_python_sdk_is_renewed_widened_and_revoked() {
    let authority = Authority::start(Product::PythonSdk);
    let user = User::new();
    let server = authority.server.as_str();
    let login = user.login(server, &[]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "read\n");
    let before = user.stored();
    user.age();
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "read\n");
    assert_ne!(user.stored()["tokens"]["refresh"], before["tokens"]["refresh"], "the server rotates");
    // It refuses scopes that the client was not registered with, so another client is registered.
    let login = user.login(server, &["--scope", "admin"]);
    assert_eq!(login.code, 0, "{login}");
    assert_ne!(user.stored()["client"]["id"], before["client"]["id"]);
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "read admin\n");
    let (kept, file) = (user.stored(), user.file());
    assert_eq!(user.run(&["auth", "logout", server]).stdout, "signed out; the tokens were revoked\n");
    store(&kept, &file);
    assert_ne!(user.run(&["call", server, "whoami"]).code, 0);
}

#[test]
fn a_login_at_the_typescript_sdk_is_used_until_the_logout() {
    let authority = Authority::start(Product::TypeScriptSdk);
    let user = User::new();
    let server = authority.server.as_str();
    let login = user.login(server, &[]);
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "mcp:tools\n");
    let status = user.run(&["auth", "status"]);
    assert!(status.stdout.contains("not renewable"), "the example issues no refresh token: {status}");
    let logout = user.run(&["auth", "logout", server]);
    assert!(logout.stdout.contains("the server cannot revoke tokens"), "{logout}");
    let refused = user.run(&["call", server, "whoami"]);
    assert!(refused.stderr.contains("trunkline auth login"), "{refused}");
}

#[test]
fn a_login_in_a_real_browser_ends_at_our_page() {
    let authority = Authority::start(Product::NodeOidcProvider);
    let user = User::new();
    let server = authority.server.as_str();
    let browser = chromium(user.home.path());
    let mut command = user.command(&["auth", "login", server, "--timeout", "1m"]);
    let login = Run::of(command.env("BROWSER", &browser), "");
    assert_eq!(login.code, 0, "{login}");
    assert_eq!(user.run(&["call", server, "whoami"]).stdout, "tester read\n");
    let page = user.home.path().join("page");
    while !page.exists() {
        std::thread::yield_now();
    }
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("You are signed in."), "{page}");
}
