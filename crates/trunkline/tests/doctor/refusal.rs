//! Responses that are not from an MCP server: web pages, statuses, open streams, lost sessions.

use crate::{
    site::{Asked, Said, Site, json, mcp, reply},
    visit::{Folder, about},
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Examines a site that gives the same response to every request.
fn always(status: u16, headers: &'static str, body: &'static str) -> crate::visit::Visit {
    about(&Site::new(move |_| reply(status, headers, body)).url("/mcp"))
}

#[test]
fn statuses_about_headers() {
    always(406, "", "").names("not-acceptable", 3, "Accept: application/json, text/event-stream");
    always(415, "", "").names("media-type-refused", 3, "Content-Type: application/json");
}

#[test]
fn a_web_page() {
    let visit = always(200, "content-type: text/html", "<html><title>My Shop</title></html>");
    visit.names("html-page", 3, "/mcp");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("my shop"));
}

#[test]
fn a_page_to_sign_in_at() {
    let page = "<!doctype html><title>Company SSO</title><form><input type=\"password\"></form>";
    always(200, "content-type: text/html", page).names("login-page", 3, "bearer tokens");
}

#[test]
fn a_page_that_wants_a_human_being() {
    let page = "<html><title>Just a moment...</title></html>";
    always(403, "content-type: text/html\ncf-mitigated: challenge\nserver: cloudflare", page).names(
        "cdn-challenge",
        3,
        "bot protection",
    );
}

#[test]
fn json_that_is_no_message() {
    always(200, "content-type: application/json", "{\"status\":\"ok\"}").names("not-mcp", 3, "MCP endpoint");
}

#[test]
fn too_many_requests() {
    always(429, "retry-after: 120", "").names("rate-limited", 3, "Retry-After: 120");
}

#[test]
fn failures_inside_and_in_front() {
    always(500, "", "boom").names("server-error", 3, "log of the server");
    always(503, "retry-after: 30\nserver: nginx", "").names("backend-down", 3, "Retry-After: 30");
    always(502, "server: nginx", "<html><h1>502 Bad Gateway</h1></html>").names(
        "backend-down",
        3,
        "proxy in front",
    );
}

#[test]
fn an_answer_that_is_compressed_unasked() {
    always(200, "content-type: application/json\ncontent-encoding: gzip", "xxxx").names(
        "content-encoded",
        3,
        "gzip off",
    );
}

#[test]
fn an_event_stream_that_is_held_back() {
    let open = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let site = Site::new(move |_| Said::Hang(open.to_owned()));
    about(&site.url("/mcp")).names("stream-held", 3, "proxy_buffering off");
    let old = Site::new(move |asked| {
        if asked.method == "GET" { Said::Hang(open.to_owned()) } else { reply(405, "allow: GET", "") }
    });
    about(&old.url("/sse")).names("stream-held", 3, "proxy_buffering off");
}

#[test]
fn an_old_stream_that_names_another_host() {
    let event = "event: endpoint\ndata: http://inner.invalid:8000/messages\n\n";
    let open = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n{event}"
    );
    let site = Site::new(
        move |asked| if asked.method == "GET" { Said::Hang(open.clone()) } else { reply(404, "", "") },
    );
    about(&site.url("/sse")).names("foreign-endpoint", 3, "data: /messages");
}

/// A server that knows its sessions only on every second request.
fn forgetful(count: &AtomicUsize, asked: &Asked) -> Said {
    let Said::Whole(answer) = mcp(asked) else { return reply(500, "", "") };
    if asked.body.contains("\"initialize\"") {
        return Said::Whole(answer.replacen("\r\n", "\r\nmcp-session-id: abc\r\n", 1));
    }
    let lost = asked.head.contains("mcp-session-id: abc") && count.fetch_add(1, Ordering::Relaxed) % 2 == 1;
    if lost { reply(404, "", "{\"error\":\"unknown session\"}") } else { Said::Whole(answer) }
}

#[test]
fn a_session_that_is_lost_behind_a_load_balancer() {
    let count = AtomicUsize::new(0);
    let site = Site::new(move |asked| forgetful(&count, asked));
    let visit = about(&site.url("/mcp"));
    visit.names("session-lost", 1, "hash $http_mcp_session_id");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("2 of 4"), "{:#}", visit.said);
}

#[test]
fn a_foreign_origin_and_an_unknown_host() {
    let site = Site::new(|asked| {
        if asked.head.contains("\norigin:") { reply(403, "", "Forbidden origin") } else { mcp(asked) }
    });
    let visit = Folder::new().visit(&["-H", "Origin: https://app.example", &site.url("/mcp")], &[]);
    visit.names("origin-refused", 3, "leave the header `Origin` out");
    assert_eq!(visit.works(), ["without the header `Origin`"]);
    let site = Site::new(|asked| {
        if asked.head.contains("\nhost: localhost") {
            mcp(asked)
        } else {
            reply(403, "", "Invalid Host header")
        }
    });
    let visit = about(&site.url("/mcp"));
    visit.names("host-refused", 3, &format!("use http://localhost:{}/mcp", site.address.port()));
    assert_eq!(visit.works(), ["the name localhost"]);
}

#[test]
fn simply_forbidden() {
    let site = Site::new(|_| reply(403, "", "no"));
    about(&site.url("/mcp")).names("forbidden", 3, "account or a token");
}

#[test]
fn an_era_that_the_server_does_not_speak() {
    let site = Site::new(mcp);
    let visit = Folder::new().visit(&["--era", "modern", &site.url("/mcp")], &[]);
    visit.names("legacy-only", 3, "must send `initialize`");
    assert_eq!(visit.works(), ["in the era that it speaks"]);
}

#[test]
fn an_event_stream_that_ends_without_an_answer() {
    let site = Site::new(|_| reply(200, "content-type: text/event-stream", ": nothing\n\n"));
    about(&site.url("/mcp")).names("connection-breaks", 3, "logged");
    let site = Site::new(|_| json("[]"));
    about(&site.url("/mcp")).names("not-mcp", 3, "MCP endpoint");
}
