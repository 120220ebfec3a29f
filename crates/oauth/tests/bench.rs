//! Accounts against the bench: logins, refreshes and refusals.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt, join_all};
use http::{HeaderMap, Method, StatusCode, header};
use std::{path::Path, sync::Arc};
use trunkline_oauth::{
    Account, AccountKey, AccountOptions, CallbackListener, CallbackParams, FileStore, Interaction,
    LoginOptions, Means, OAuthError, Sealer, Secret, TokenStore,
    bench::{Bench, BenchOptions, Failure},
};
use trunkline_transport::http::{HttpClient, HttpError, HttpOptions, RedirectError, Target};
use url::Url;

/// A user who consents at once, as this user.
#[derive(Debug)]
struct Consents(&'static str);

impl Interaction for Consents {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:1/callback".to_owned()
    }

    fn visit(&self, mut page: Url, _: Secret) -> BoxFuture<'_, Result<CallbackParams, OAuthError>> {
        page.query_pairs_mut().append_pair("bench_user", self.0);
        Box::pin(async move {
            let client = HttpClient::new(HttpOptions::default()).unwrap();
            let target = Target::new(page).unwrap();
            match client.send(Method::GET, &target, HeaderMap::new(), Bytes::new()).await {
                Err(HttpError::Redirect(RedirectError::OtherOrigin { target })) => {
                    Ok(CallbackParams::from_pasted(&target).unwrap())
                }
                other => panic!("{other:?}"),
            }
        })
    }
}

fn options(bench: &Bench, folder: &Path) -> AccountOptions {
    let server = Url::parse(&bench.server()).unwrap();
    AccountOptions::new(server, Arc::new(FileStore::new(folder.to_owned(), Sealer::default())))
}

async fn signed_in(bench: &Bench, folder: &Path) -> Account {
    let account = Account::new(options(bench, folder));
    account.login_with(LoginOptions::Page(Arc::new(Consents("tester"))), &[], &[]).await.unwrap();
    account
}

fn client(account: &Account) -> HttpClient {
    let credentials = Some(Arc::new(account.clone()) as Arc<_>);
    HttpClient::new(HttpOptions { credentials, ..HttpOptions::default() }).unwrap()
}

async fn call(client: &HttpClient, bench: &Bench, tool: &str) -> Result<StatusCode, HttpError> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    let target = Target::parse(&bench.server()).unwrap();
    Ok(client.send(Method::POST, &target, headers, text.into()).await?.status())
}

async fn start(failures: &[Failure]) -> Bench {
    let failures = failures.iter().copied().collect();
    Bench::start(BenchOptions { failures, ..BenchOptions::default() }).await.unwrap()
}

#[tokio::test]
async fn a_login_is_used_and_revoked() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    assert_eq!(call(&client(&account), &bench, "whoami").await.unwrap(), StatusCode::OK);
    // Another process finds the login.
    let other = Account::new(options(&bench, folder.path()));
    let client = client(&other);
    assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
    assert!(account.logout().await.unwrap());
    assert_eq!(bench.log().iter().filter(|line| line.path == "/revoke").count(), 2);
    let error = call(&client, &bench, "whoami").await.unwrap_err();
    assert!(error.to_string().contains("requires a login"), "{error}");
    assert!(!account.logout().await.unwrap());
}

#[tokio::test]
async fn a_logout_in_another_process_ends_the_use_of_a_valid_token() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    let client = client(&account);
    assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
    // The server would still accept the token: only the stored login is gone.
    let key = AccountKey { server: bench.server(), principal: None };
    options(&bench, folder.path()).store.remove(&key).unwrap();
    let error = call(&client, &bench, "whoami").await.unwrap_err();
    assert!(error.to_string().contains("requires a login"), "{error}");
    // Another process signs in again.
    signed_in(&bench, folder.path()).await;
    assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
}

#[tokio::test]
async fn o08_many_calls_of_two_accounts_lead_to_one_refresh() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let accounts = [signed_in(&bench, folder.path()).await, Account::new(options(&bench, folder.path()))];
    // The second account is a process of its own: it shares nothing but the file.
    let clients = accounts.each_ref().map(client);
    for client in &clients {
        assert_eq!(call(client, &bench, "whoami").await.unwrap(), StatusCode::OK);
    }
    bench.expire_tokens();
    let calls = (0..50).map(|index| call(&clients[index % 2], &bench, "whoami"));
    for outcome in join_all(calls).await {
        assert_eq!(outcome.unwrap(), StatusCode::OK);
    }
    assert_eq!(bench.grants("refresh_token"), 1);
}

/// A renewal of the old tokens in another process would replace those of a new login.
#[tokio::test]
async fn o08_a_new_login_waits_for_a_renewal_in_another_process() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = Account::new(options(&bench, folder.path()));
    let way = LoginOptions::Page(Arc::new(Consents("tester")));
    let new = account.obtain_login(way, &[], &[]).await.unwrap();
    let store = FileStore::new(folder.path().to_owned(), Sealer::default());
    let key = AccountKey { server: bench.server(), principal: None };
    let renewal = store.lock(&key).await.unwrap();
    let mut keeping = Box::pin(account.keep_login(new));
    assert!(keeping.as_mut().now_or_never().is_none());
    assert_eq!(store.load(&key).unwrap(), None);
    drop(renewal);
    keeping.await.unwrap();
    assert!(store.load(&key).unwrap().is_some());
}

#[tokio::test]
async fn o08_a_refresh_token_that_is_not_rotated_is_kept() {
    let (bench, folder) = (start(&[Failure::KeepsRefreshToken]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    let client = client(&account);
    for round in 1..=3 {
        bench.expire_tokens();
        assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
        assert_eq!(bench.grants("refresh_token"), round);
    }
}

#[tokio::test]
async fn o08_a_refresh_token_survives_a_failing_server_and_not_a_refusal() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    let client = client(&account);
    bench.expire_tokens();
    bench.set(Failure::RefreshDown, true);
    let error = call(&client, &bench, "whoami").await.unwrap_err();
    assert!(error.is_transient() && !error.may_have_been_processed(), "{error}");
    bench.set(Failure::RefreshDown, false);
    assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
    bench.expire_tokens();
    bench.set(Failure::RefreshRefused, true);
    let error = call(&client, &bench, "whoami").await.unwrap_err();
    assert!(!error.is_transient() && error.to_string().contains("cannot be renewed"), "{error}");
    assert!(account.stored().unwrap().unwrap().tokens.is_none());
    // No further refresh is tried.
    let error = call(&client, &bench, "whoami").await.unwrap_err();
    assert!(error.to_string().contains("requires a login"), "{error}");
    assert_eq!(bench.grants("refresh_token"), 3);
}

#[tokio::test]
async fn calls_with_a_valid_token_go_on_while_the_token_endpoint_is_down() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    bench.set(Failure::TokenDown, true);
    let client = client(&account);
    for _ in 0..20 {
        assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
    }
}

#[tokio::test]
async fn o09_odd_lifetimes_lead_to_one_refresh_per_refusal() {
    for failure in [Failure::LifetimeZero, Failure::LifetimeNegative, Failure::LifetimeMissing] {
        let (bench, folder) = (start(&[failure]).await, tempfile::tempdir().unwrap());
        let account = signed_in(&bench, folder.path()).await;
        let client = client(&account);
        for _ in 0..5 {
            assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::OK);
        }
        assert_eq!(bench.grants("refresh_token"), 0, "{failure:?}");
        bench.set(Failure::TokenRejected, true);
        assert_eq!(call(&client, &bench, "whoami").await.unwrap(), StatusCode::UNAUTHORIZED);
        assert_eq!(bench.grants("refresh_token"), 1, "{failure:?}");
    }
}

#[tokio::test]
async fn o12_step_up_ends_after_three_logins() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let mut options = options(&bench, folder.path());
    options.means = Means::Interactive(Arc::new(Consents("tester")));
    let account = Account::new(options);
    let client = client(&account);
    assert_eq!(call(&client, &bench, "admin").await.unwrap(), StatusCode::OK);
    assert_eq!(account.stored().unwrap().unwrap().tokens.unwrap().scopes, ["read", "admin"]);
    bench.set(Failure::ScopeLoop, true);
    let before = bench.grants("authorization_code");
    call(&client, &bench, "whoami").await.unwrap_err();
    assert!(bench.grants("authorization_code") - before <= 3);
}

#[tokio::test]
async fn o12_huge_answers_are_refused() {
    let (bench, folder) = (start(&[Failure::HugeChallenge]).await, tempfile::tempdir().unwrap());
    let account = Account::new(options(&bench, folder.path()));
    // The head of a response is bounded, so the challenge never becomes one.
    let outcome = call(&client(&account), &bench, "whoami").await;
    assert!(outcome.is_err() || outcome.is_ok_and(|status| status == StatusCode::UNAUTHORIZED));
    bench.set(Failure::HugeChallenge, false);
    bench.set(Failure::RegistrationHuge, true);
    let way = LoginOptions::Page(Arc::new(Consents("tester")));
    let error = account.login_with(way, &[], &[]).await.unwrap_err();
    assert!(matches!(error, OAuthError::Fetch { .. }), "{error}");
}

#[tokio::test]
async fn o03_a_new_issuer_gets_no_secret() {
    let (bench, folder) = (start(&[]).await, tempfile::tempdir().unwrap());
    let account = signed_in(&bench, folder.path()).await;
    bench.set(Failure::Moved, true);
    bench.set(Failure::RefreshRefused, true);
    bench.expire_tokens();
    let error = call(&client(&account), &bench, "whoami").await.unwrap_err();
    assert!(error.to_string().contains("cannot be renewed"), "{error}");
    // The refresh token went to its own issuer only.
    assert_eq!(bench.grants("refresh_token"), 1);
}

#[tokio::test]
async fn every_failure_is_told_apart() {
    let expected = [
        (Failure::OtherResource, "metadata is for the resource `https://other.example/mcp`"),
        (Failure::ResourceList, "`resource` is not a string"),
        (Failure::NoAuthorizationServer, "names no authorization server"),
        (Failure::IssuerUnknown, "no metadata of the authorization server"),
        (Failure::OtherIssuer, "names another issuer, `https://other.example`"),
        (Failure::ScriptEndpoint, "the scheme `javascript` is not supported"),
        (Failure::PrivateEndpoint, "plain http is allowed on this machine only"),
        (Failure::NoPkce, "does not support PKCE"),
        (Failure::PlainPkce, "does not support PKCE"),
        (Failure::NoRegistration, "registers no clients by itself"),
        (Failure::RegistrationRefused, "clients of this kind are not registered"),
        (Failure::Denied, "the login was refused"),
        (Failure::WrongState, "wrong or missing `state`"),
        (Failure::IssMissing, "does not come from"),
        (Failure::IssWrong, "does not come from"),
        (Failure::IssSlash, "does not come from"),
        (Failure::CodeRefused, "invalid_grant (the code is unknown or was used)"),
        (Failure::TokenDown, "answered with status 503"),
        (Failure::TokenPage, "is malformed"),
        (Failure::TokenType, "the token is of the type `mac`"),
    ];
    for (failure, text) in expected {
        let (bench, folder) = (start(&[failure]).await, tempfile::tempdir().unwrap());
        let account = Account::new(options(&bench, folder.path()));
        let way = LoginOptions::Page(Arc::new(Consents("tester")));
        let error = account.login_with(way, &[], &[]).await.unwrap_err().to_string();
        assert!(error.contains(text), "{}: {error}", failure.name());
        assert!(account.stored().unwrap().is_none(), "{}", failure.name());
    }
}

#[tokio::test]
async fn o06_only_the_answer_to_the_login_is_taken_and_the_port_closes() {
    let listener = CallbackListener::bind(None).await.unwrap();
    let address = listener.redirect_uri().to_owned();
    let state = Secret::new("right");
    let ask = async |query: &str| {
        let client = HttpClient::new(HttpOptions { pool_max_idle: 0, ..HttpOptions::default() }).unwrap();
        let target = Target::parse(&format!("{address}{query}")).unwrap();
        let response = client.send(Method::GET, &target, HeaderMap::new(), Bytes::new()).await?;
        let status = response.status();
        let page = trunkline_transport::body::read(response.into_body(), 10_000).await.unwrap();
        Ok::<_, HttpError>((status, String::from_utf8(page.to_vec()).unwrap()))
    };
    let user = async {
        for query in
            ["", "?code=x", "?code=x&state=wrong", "?code=x&state=right&state=right", "/more?state=right"]
        {
            let (status, _) = ask(query).await.unwrap();
            assert!(status.is_client_error(), "{query}");
        }
        let script = "%3Cscript%3Ealert(1)%3C/script%3E";
        let (status, page) =
            ask(&format!("?error={script}&error_description={script}&state=right")).await.unwrap();
        assert_eq!(status, StatusCode::OK);
        assert!(!page.contains("script") && !page.contains("alert"), "{page}");
    };
    let (answer, ()) = tokio::join!(listener.wait("/callback", &state), user);
    assert_eq!(answer.unwrap().error.as_deref(), Some("<script>alert(1)</script>"));
    drop(listener);
    assert!(matches!(ask("?code=x&state=right").await, Err(HttpError::Connect(_))));
}
