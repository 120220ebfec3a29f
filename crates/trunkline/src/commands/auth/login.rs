//! `auth login`: signs in and keeps the tokens.

use super::{
    ServerArgs, failed,
    page::{BrowserPlace, Page, shared},
    status,
};
use crate::{
    args::parse_duration,
    commands::{Context, Ending},
    failure::Failure,
    runtime,
    stop::Stop,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use std::time::Duration;
use trunkline_oauth::{
    Account, CallbackListener, ClientSource, DeviceCode, LoginOptions, OAuthError, StoredLogin,
};
use trunkline_protocol::{Fault, FaultKind};
use trunkline_transport::http::{HttpClient, HttpOptions, Target};
use url::Url;

/// Timeout of the request that makes the server name its authorization server.
const PROBE_TIMEOUT: Duration = Duration::from_secs(30);

/// Sign in to a server and keep the login
///
/// Opens the server's authorization page in the browser and waits for the answer on a free port of
/// this machine. `BROWSER` names another program to open the page with. The exit status is 0 if you
/// are signed in, 1 if the login was refused, 2 for a wrong server, 3 if a server cannot be
/// reached.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    server: ServerArgs,
    /// Ask for this scope in addition to those that the server names; may be repeated
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// Open no browser here: enter a code on another device if the server supports that, else
    /// print the address and read back the address that the browser ended at
    #[arg(long)]
    headless: bool,
    /// Sign in by a code that is entered on another device
    #[arg(long, conflicts_with = "headless")]
    device: bool,
    /// Timeout of the login
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_duration)]
    timeout: Duration,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<Ending, Failure> {
    let options = args.server.account(&context.environment)?;
    let runtime = runtime::start()?;
    let outcome = runtime.block_on(async {
        let mut stop = Stop::listen_on_terminal()?;
        let account = Account::new(options);
        let login = tokio::select! {
            login = sign_in(context, &account, args) => login?,
            stopped = stop.stopped() => return Err(stopped),
        };
        if context.output.json {
            return context.print_json(&status::to_json(&login, &account.place()));
        }
        context.print(&format!("signed in\n{}", status::to_text(&login, &account.place())))
    });
    // A thread may still be reading standard input.
    runtime.shutdown_background();
    outcome
}

async fn sign_in(context: &Context, account: &Account, args: &Args) -> Result<StoredLogin, Failure> {
    let (status, challenges) = probe(&account.options().server, &account.options().http).await?;
    let discovered = account.discover(&challenges).await.map_err(|error| failed(&error))?;
    if status != StatusCode::UNAUTHORIZED && discovered.metadata.is_none() {
        let text = format!("the server did not ask for a login; it answered with status {}", status.as_u16());
        return Err(Failure::usage(text).hint("`trunkline list` shows whether it can be used without one"));
    }
    let before = account.stored().map_err(|error| failed(&error))?;
    let earlier = before.as_ref().and_then(|login| login.tokens.as_ref());
    let mut scopes = earlier.map(|tokens| tokens.scopes.clone()).unwrap_or_default();
    scopes.extend(args.scopes.iter().cloned());
    let has_device = discovered.issuer.device_endpoint().is_ok();
    if args.device || (args.headless && has_device) {
        match by_device(context, account, &challenges, &scopes).await {
            // The client may not be allowed to use this grant, although the server has it.
            Err(error) if args.headless && is_refusal(&error) => {
                context.screen.note(&format!("no login by code: {error}"));
            }
            outcome => return outcome.map_err(|error| failed(&error)),
        }
    }
    let listener = listen(account, before.as_ref()).await?;
    let page = Page {
        context: context.clone(),
        listener,
        redirect_uri: account.options().redirect_uri.clone(),
        place: if args.headless { BrowserPlace::Elsewhere } else { BrowserPlace::Here },
        limit: args.timeout,
    };
    let way = LoginOptions::Page(shared(page));
    account.login_with(way, &challenges, &scopes).await.map_err(|error| failed(&error))
}

async fn by_device(
    context: &Context,
    account: &Account,
    challenges: &[String],
    scopes: &[String],
) -> Result<StoredLogin, OAuthError> {
    let screen = context.screen.clone();
    let prompt = move |code: &DeviceCode| {
        let page = code.verification_uri_complete.as_deref().unwrap_or(&code.verification_uri);
        let text = format!("Sign in on any device:\n\n  page: {page}\n  code: {}\n\n", code.user_code);
        screen.tell(&crate::render::safe::text(&text));
    };
    account.login_with(LoginOptions::Device(&prompt), challenges, scopes).await
}

fn is_refusal(error: &OAuthError) -> bool {
    matches!(error, OAuthError::Status { .. } | OAuthError::Registration { .. })
        || matches!(error, OAuthError::Token { code, .. } if code == "unauthorized_client")
}

/// Listens on the configured port, else on that of the registered client, else on a free one.
async fn listen(account: &Account, before: Option<&StoredLogin>) -> Result<CallbackListener, Failure> {
    let busy = |error: std::io::Error| Failure::usage(format!("the callback port cannot be opened: {error}"));
    let port = |uri: &str| Url::parse(uri).ok().and_then(|url| url.port());
    let configured = account.options().redirect_uri.as_deref().and_then(port);
    if let Some(port) = account.options().callback_port.or(configured) {
        return CallbackListener::bind(Some(port)).await.map_err(busy);
    }
    let registered = before.filter(|login| login.client.source == ClientSource::Registered);
    let known = registered.and_then(|login| login.client.redirect_uri.as_deref()).and_then(port);
    if let Some(port) = known
        && let Ok(listener) = CallbackListener::bind(Some(port)).await
    {
        return Ok(listener);
    }
    CallbackListener::bind(None).await.map_err(busy)
}

/// Asks the server without a token; returns the status and the challenges.
async fn probe(server: &Url, options: &HttpOptions) -> Result<(StatusCode, Vec<String>), Failure> {
    let bad = |text: String| Failure::usage(text);
    let options = HttpOptions { head_timeout: Some(PROBE_TIMEOUT), ..options.clone() };
    let client = HttpClient::new(options).map_err(|error| bad(error.to_string()))?;
    let target = Target::new(server.clone()).map_err(|error| bad(error.to_string()))?;
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let response = client.send(Method::POST, &target, headers, body).await.map_err(|error| {
        Failure::connecting(
            Fault::new(FaultKind::CannotConnect, "the server cannot be reached")
                .with_detail(error.to_string()),
        )
    })?;
    let challenges = response.headers().get_all(header::WWW_AUTHENTICATE).iter();
    let challenges = challenges.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    Ok((response.status(), challenges.collect()))
}
