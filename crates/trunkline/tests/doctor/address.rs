//! The address: name, port, proxy, path, redirects.

use crate::{
    site::{Said, Site, mcp, reply},
    visit::{Folder, about},
};
use std::{
    net::{TcpListener, TcpStream},
    time::Duration,
};
use tokio::net::TcpSocket;

#[test]
fn a_server_at_an_address_passes_every_step_that_applies() {
    let site = Site::new(mcp);
    let visit = about(&site.url("/mcp"));
    assert_eq!((visit.code, visit.cause()), (0, "none"), "{:#}", visit.said);
    let steps = visit.said["steps"].as_array().unwrap();
    let left: Vec<_> = steps
        .iter()
        .filter(|step| step["outcome"] != "passed")
        .map(|step| step["id"].as_str().unwrap())
        .collect();
    let sign_in = ["authorization-found", "client-known", "token-obtained", "token-renewed"];
    assert_eq!(left, [&["secure"], &sign_in[..], &["session-kept", "first-call"]].concat());
}

#[test]
fn addresses_that_are_none() {
    about("http://").names("address-invalid", 3, "http://host:port/path");
    about("ftp://127.0.0.1/mcp").names("address-invalid", 3, "http://host:port/path");
    about("http://me:pw@127.0.0.1/mcp").names("address-invalid", 3, "Authorization");
}

#[test]
fn an_address_without_its_scheme() {
    let site = Site::new(mcp);
    let visit = about(&format!("{}/mcp", site.address));
    visit.names("scheme-missing", 3, &format!("use {}", site.url("/mcp")));
    assert_eq!(visit.works(), [site.url("/mcp")]);
}

#[test]
fn a_name_that_cannot_be_resolved() {
    about("http://no-such-host.invalid/mcp").names("name-unresolved", 3, "getent hosts no-such-host.invalid");
}

#[test]
fn a_proxy_that_is_set_and_not_used() {
    let proxy = ("HTTPS_PROXY", "http://me:canary@proxy.invalid:3128");
    let visit = Folder::new().visit(&["--timeout", "3s", "https://no-such-host.invalid/mcp"], &[proxy]);
    visit.names("proxy-not-used", 3, "curl -x http://proxy.invalid:3128");
    assert!(!visit.said.to_string().contains("canary"));
    let spared = ("NO_PROXY", ".invalid");
    let visit =
        Folder::new().visit(&["--timeout", "3s", "https://no-such-host.invalid/mcp"], &[proxy, spared]);
    visit.names("name-unresolved", 3, "getent");
}

#[test]
fn a_port_where_nothing_listens() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    about(&format!("http://127.0.0.1:{port}/mcp")).names("port-refused", 3, &format!("sport = :{port}"));
}

#[test]
fn a_host_that_does_not_answer() {
    // A socket with a full backlog drops further connections, as a firewall would.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let visit = |_| TcpStream::connect_timeout(&address, Duration::from_millis(200)).ok();
    let waiting: Vec<TcpStream> = (0..16).map_while(visit).collect();
    assert!(waiting.len() < 16, "the queue is never full");
    about(&format!("http://{address}/mcp")).names("connect-timeout", 3, "firewall");
}

#[test]
fn a_host_to_which_there_is_no_way() {
    // The kernel refuses to connect to the broadcast address without sending a packet.
    let visit = about("http://255.255.255.255/mcp");
    visit.names("unreachable", 3, "check the network connection");
    assert!(visit.evidence().contains("255.255.255.255:80"));
}

#[test]
fn a_server_that_listens_on_the_other_kind_of_address() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let site = Site::at("[::1]:0", mcp);
    let visit = about(&format!("http://127.0.0.1:{}/mcp", site.address.port()));
    let right = format!("use http://[::1]:{}/mcp", site.address.port());
    let by_name = format!("use http://localhost:{}/mcp", site.address.port());
    assert_eq!(visit.cause(), "other-address-family", "{:#}", visit.said);
    assert!(visit.fix().contains(&right) || visit.fix().contains(&by_name), "{:#}", visit.said);
}

#[test]
fn a_path_that_is_wrong_and_the_right_one() {
    let site = Site::new(|asked| if asked.path == "/mcp" { mcp(asked) } else { reply(404, "", "not found") });
    let visit = about(&site.url("/api"));
    visit.names("wrong-path", 3, &format!("use {}", site.url("/mcp")));
    assert_eq!((visit.works(), visit.broken_step()), (vec!["the path /mcp"], "path-right"));
}

#[test]
fn a_path_that_takes_no_post() {
    let site =
        Site::new(|asked| if asked.path == "/x" { reply(405, "allow: GET", "") } else { reply(404, "", "") });
    about(&site.url("/x")).names("post-refused", 3, "allowed there: GET");
}

#[test]
fn a_redirect_that_loses_the_message() {
    let site =
        Site::new(|asked| if asked.path == "/mcp/" { mcp(asked) } else { reply(301, "location: /mcp/", "") });
    let visit = about(&site.url("/mcp"));
    visit.names("redirect-loses-post", 3, &format!("use {}", site.url("/mcp/")));
    assert_eq!(visit.works(), ["the address it redirects to"]);
}

#[test]
fn a_redirect_to_another_host() {
    let site = Site::new(|_| reply(308, "location: https://elsewhere.invalid/mcp", ""));
    let visit = about(&site.url("/mcp"));
    visit.names("redirect-elsewhere", 3, "use https://elsewhere.invalid/mcp");
}

#[test]
fn a_redirect_without_end() {
    let site = Site::new(|asked| reply(307, &format!("location: {}x", asked.path), ""));
    about(&site.url("/mcp")).names("redirect-loop", 3, "redirects");
}

#[test]
fn something_that_speaks_no_http() {
    let site = Site::raw("127.0.0.1:0", |mut stream| {
        use std::io::{Read, Write};
        assert!(stream.read(&mut [0; 1024]).is_ok());
        stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n").ok();
    });
    about(&site.url("/mcp")).names("not-http", 3, "correct the port");
}

#[test]
fn a_connection_that_is_closed_at_once() {
    let site = Site::raw("127.0.0.1:0", |mut stream| {
        use std::io::Read;
        assert!(stream.read(&mut [0; 4096]).is_ok());
    });
    about(&site.url("/mcp")).names("closed-at-once", 3, "logged");
}

#[test]
fn a_request_that_is_never_answered() {
    let site = Site::new(|_| Said::Hang(String::new()));
    about(&site.url("/mcp")).names("http-no-answer", 3, "what the server does with the request");
}
