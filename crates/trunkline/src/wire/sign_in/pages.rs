//! The pages of our door that a browser visits to sign in.

use super::desk::{DeskError, Finished, LoginDesk, Offer};
use futures_util::future::FutureExt;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use std::sync::Arc;
use trunkline_oauth::CallbackParams;
use trunkline_secrets::visible;
use trunkline_serve::{BrowserPages, BrowserRequest};
use url::Url;

/// Name of the cookie, before the part that differs by login.
const COOKIE: &str = "trunkline_login_";
/// Letters of the browser's secret that tell the cookies of several logins apart.
const COOKIE_PART: usize = 8;
/// The page may be shown in no frame and loads nothing. Browsers send `Origin` with its form only
/// if the referrer is not suppressed there.
const HEADERS: [(header::HeaderName, &str); 5] = [
    (header::CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

/// The pages at `/login`.
pub(crate) fn pages(desk: LoginDesk) -> BrowserPages {
    Arc::new(move |request| {
        let desk = desk.clone();
        async move { answer(&desk, &request).await }.boxed()
    })
}

async fn answer(desk: &LoginDesk, request: &BrowserRequest) -> Response<String> {
    let link = parameter(&request.uri, "link").unwrap_or_default();
    match (request.method.clone(), request.uri.path()) {
        (Method::GET, "/login") => desk.look(&link).map_or_else(|error| failed(&error), |offer| ask(&offer)),
        // A form of another site has another origin, or none.
        (Method::POST, "/login") if !request.headers.contains_key(header::ORIGIN) => {
            page(StatusCode::FORBIDDEN, "<p>This browser does not say which page the form is from.</p>")
        }
        (Method::POST, "/login") => match desk.start(&link).await {
            Ok(started) => redirect(&started.page, &started.browser, is_encrypted(&request.headers)),
            Err(error) => failed(&error),
        },
        (Method::GET, "/login/callback") => {
            let url = Url::parse(&format!("http://callback{}", request.uri)).ok();
            let params = url.as_ref().map(CallbackParams::from_url).unwrap_or_default();
            let is_browser = |secret: &str| has_cookie(&request.headers, secret);
            desk.finish(params, is_browser).await.map_or_else(|error| failed(&error), |done| finished(&done))
        }
        _ => page(StatusCode::NOT_FOUND, "<p>There is nothing here.</p>"),
    }
}

/// Names the caller and the server, so that nobody signs in for somebody else unknowingly.
fn ask(offer: &Offer) -> Response<String> {
    let mut address = offer.address.clone();
    address.set_query(None);
    let (caller, server) = (escape(&offer.caller), escape(offer.server.as_ref()));
    let more = match offer.missing.as_slice() {
        [] => String::new(),
        missing => format!("<p>It asks for more rights than before: {}.</p>", escape(&missing.join(" "))),
    };
    let text = format!(
        "<p>The caller <b>{caller}</b> of this gateway wants to use your account at <b>{server}</b> \
         ({}).</p>{more}<p>Continue only if you are this caller and have just asked for this. Whoever sent \
         you this link would get access to your account.</p>\
         <form method=post><button>Sign in to {server}</button></form>",
        escape(address.as_str())
    );
    page(StatusCode::OK, &text)
}

fn finished(done: &Finished) -> Response<String> {
    let text = match done {
        Finished::SignedIn => "<p>You are signed in. You can close this page.</p>".to_owned(),
        Finished::ShowCode(code) => format!(
            "<p>One step is left: give this code to the client that you started from.</p>\
             <p style=\"font-size:2em\"><code>{code}</code></p>\
             <p>Give it to nobody else: it gives access to your account.</p>"
        ),
    };
    page(StatusCode::OK, &text)
}

fn failed(error: &DeskError) -> Response<String> {
    tracing::debug!(%error, "a login of a caller failed");
    page(StatusCode::BAD_REQUEST, &format!("<p>{}</p>", escape(&error.to_string())))
}

fn redirect(page: &Url, browser: &str, encrypted: bool) -> Response<String> {
    let part = browser.get(..COOKIE_PART).unwrap_or_default();
    let secure = if encrypted { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE}{part}={browser}; Path=/login; HttpOnly; SameSite=Lax; Max-Age=3600{secure}");
    let mut response = self::page(StatusCode::SEE_OTHER, "");
    for (name, value) in [(header::LOCATION, page.as_str()), (header::SET_COOKIE, &cookie)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn page(status: StatusCode, text: &str) -> Response<String> {
    let mut response = Response::new(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>Trunkline</title>\
         <body style=\"font-family:sans-serif;margin:4em\"><h1>Trunkline</h1>{text}</body></html>"
    ));
    *response.status_mut() = status;
    let headers = HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value)));
    response.headers_mut().extend(headers);
    response
}

/// True if the page itself was loaded over TLS, by us or by a proxy in front of us.
fn is_encrypted(headers: &HeaderMap) -> bool {
    headers.get(header::ORIGIN).is_some_and(|origin| origin.as_bytes().starts_with(b"https://"))
}

fn has_cookie(headers: &HeaderMap, secret: &str) -> bool {
    let texts = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut cookies =
        texts.flat_map(|text| text.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.any(|(name, value)| name.starts_with(COOKIE) && value == secret)
}

fn parameter(uri: &Uri, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(uri.query()?.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// A text as HTML, without control characters.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible::line(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_cannot_become_html() {
        assert_eq!(escape("<a href='x'>&\u{7}"), "&lt;a href=&#39;x&#39;&gt;&amp;␇");
    }

    #[test]
    fn only_the_cookie_of_this_login_counts() {
        let mut headers = HeaderMap::new();
        headers.insert(header::COOKIE, "a=1; trunkline_login_sec=secret; b=other".parse().unwrap());
        assert!(has_cookie(&headers, "secret"));
        assert!(!has_cookie(&headers, "other") && !has_cookie(&headers, "1"));
    }
}
