//! Fetches of URLs that strangers chose.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use std::collections::VecDeque;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use flate2::{Compression, write::GzEncoder};
use http::HeaderMap;
use http_support::{Connection, Peer, headers};
use parking_lot::Mutex;
use tokio::io::BufReader;
use tokio::net::TcpListener;
use trunkline_transport::foreign::{
    AddressGuard, AllowedHosts, FetchLimits, Fetched, ForeignError, ForeignFetcher, Lookup, Resolve,
};
use trunkline_transport::http::{ConnectFailure, HttpError, HttpOptions};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A resolver whose answers are given one after the other; the last one is repeated.
#[derive(Debug)]
struct Scripted {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: Mutex<Vec<String>>,
}

impl Scripted {
    fn new<const N: usize>(answers: [&[&str]; N]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
        Arc::new(Self { answers: Mutex::new(answers.iter().map(parse).collect()), asked: Mutex::default() })
    }

    fn asked(&self) -> usize {
        self.asked.lock().len()
    }
}

impl Resolve for Scripted {
    fn resolve(&self, host: &str) -> Lookup {
        self.asked.lock().push(host.to_owned());
        let mut answers = self.answers.lock();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { Ok(answer.unwrap_or_default()) })
    }
}

fn fetcher(allowed: &[&str], resolver: &Arc<Scripted>, limits: FetchLimits) -> ForeignFetcher {
    let allowed = AllowedHosts::parse(allowed.iter().copied()).unwrap();
    let resolver: Arc<dyn Resolve> = Arc::<Scripted>::clone(resolver);
    ForeignFetcher::new(AddressGuard::with_resolver(allowed, resolver), HttpOptions::default(), limits)
}

/// A fetcher that reaches the peers of a test as `peer.test`.
fn to_peers(limits: FetchLimits) -> ForeignFetcher {
    fetcher(&["peer.test"], &Scripted::new([&["127.0.0.1"]]), limits)
}

fn url(peer: &Peer) -> String {
    format!("http://peer.test:{}/", peer.port)
}

async fn fetch(fetcher: &ForeignFetcher, url: &str) -> Result<Fetched, ForeignError> {
    fetcher.fetch(url, HeaderMap::new()).await
}

fn is_forbidden(error: &ForeignError) -> bool {
    let ForeignError::Unreachable(error) = error else { return false };
    matches!(&**error, HttpError::Connect(error) if matches!(error.failure, ConnectFailure::Forbidden(_)))
}

#[tokio::test]
async fn r01_private_addresses_are_refused_in_every_spelling() {
    let peer = Peer::start().await;
    let fetcher = fetcher(&[], &Scripted::new([&["127.0.0.1"]]), FetchLimits::default());
    let hosts = [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0177.0.0.1",
        "0x7f000001",
        "0x7f.0.0.1",
        "127.0.0.1.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "[fe80::1]",
        "[fd00::1]",
        "127.0.0.1.nip.io",
        "localhost",
    ];
    for scheme in ["http", "https"] {
        for host in hosts {
            let url = format!("{scheme}://{host}:{}/", peer.port);
            let error = fetch(&fetcher, &url).await.unwrap_err();
            assert!(is_forbidden(&error), "{url}: {error:?}");
        }
    }
    peer.assert_untouched();
}

#[tokio::test]
async fn r02_every_redirect_is_checked() {
    let (first, second) = (Peer::start().await, Peer::start().await);
    let fetcher = to_peers(FetchLimits::default());
    let location = format!("http://127.0.0.1:{}/secret", second.port);
    let url = url(&first);
    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        first.request().await.0.answer(302, &[("location", &location)], "").await;
    });
    assert!(is_forbidden(&error), "{error:?}");
    second.assert_untouched();
}

#[tokio::test]
async fn r02_more_than_five_redirects_are_refused() {
    let peer = Peer::start().await;
    let fetcher = to_peers(FetchLimits::default());
    let url = url(&peer);
    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        for _ in 0..6 {
            peer.request().await.0.answer(307, &[("location", "/again")], "").await;
        }
    });
    assert!(matches!(error, ForeignError::TooManyRedirects { limit: 5 }), "{error:?}");
    peer.assert_untouched();
}

#[tokio::test]
async fn r02_headers_stay_with_their_origin() {
    let (first, second) = (Peer::start().await, Peer::start().await);
    let fetcher = to_peers(FetchLimits::default());
    let (here, there) = (url(&first), format!("http://peer.test:{}/there", second.port));
    let sent = headers(&[("authorization", "Bearer x"), ("cookie", "a=b")]);
    let (fetched, ()) = tokio::join!(fetcher.fetch(&here, sent), async {
        let (mut connection, request) = first.request().await;
        assert_eq!(request.headers["authorization"], "Bearer x");
        connection.answer(302, &[("location", "/next"), ("set-cookie", "c=d")], "").await;
        let (mut connection, request) = first.request().await;
        assert_eq!(request.headers["cookie"], "a=b");
        connection.answer(302, &[("location", &there)], "").await;
        let (mut connection, request) = second.request().await;
        assert!(!request.headers.contains_key("authorization"));
        assert!(!request.headers.contains_key("cookie"));
        connection.answer(200, &[], "hello").await;
    });
    let fetched = fetched.unwrap();
    assert_eq!((fetched.url.as_str(), &*fetched.body), (&*there, &b"hello"[..]));
}

#[tokio::test]
async fn r03_only_the_checked_address_is_connected_to() {
    let listener = TcpListener::bind("127.0.0.2:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let other = TcpListener::bind((HERE, port)).await.unwrap();
    // A client that resolves the name again to connect would use the second answer.
    let resolver = Scripted::new([&["127.0.0.2"], &["127.0.0.1"]]);
    let fetcher = fetcher(&["127.0.0.2/32"], &resolver, FetchLimits::default());
    let url = format!("http://rebinding.test:{port}/");
    let (fetched, ()) = tokio::join!(fetch(&fetcher, &url), async {
        let mut connection = Connection(BufReader::new(listener.accept().await.unwrap().0));
        connection.request().await;
        connection.answer(200, &[], "checked").await;
    });
    assert_eq!(fetched.unwrap().body, "checked");
    assert_eq!(resolver.asked(), 1);

    let error = fetch(&fetcher, &url).await.unwrap_err();
    assert!(is_forbidden(&error), "{error:?}");
    let untouched = other.into_std().unwrap().accept().unwrap_err();
    assert_eq!(untouched.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn r03_one_private_address_among_public_ones_refuses_the_name() {
    let mixed: [&[&str]; 3] =
        [&["93.184.216.34", "10.0.0.1"], &["10.0.0.1", "93.184.216.34"], &["2606:4700::1111", "::1"]];
    for answer in mixed {
        let fetcher = fetcher(&[], &Scripted::new([answer]), FetchLimits::default());
        let error = fetch(&fetcher, "http://mixed.test/").await.unwrap_err();
        assert!(is_forbidden(&error), "{answer:?}: {error:?}");
    }
}

#[tokio::test]
async fn r04_the_host_that_is_checked_is_the_host_that_is_connected_to() {
    let resolver = Scripted::new([&["10.0.0.1"]]);
    let fetcher = fetcher(&[], &resolver, FetchLimits::default());
    let forbidden = [
        "http://127。0。0。1/",
        "http://127.0.\t0.1/",
        "http://127.0.\n0.1/",
        "http://１２７.0.0.1/",
        "http:\\\\127.0.0.1\\x",
        "http:127.0.0.1/",
        "http://%31%32%37.0.0.1/",
        " http://127.0.0.1/ ",
        "http://good.test\\@127.0.0.1/",
    ];
    for url in forbidden {
        let error = fetch(&fetcher, url).await.unwrap_err();
        assert!(is_forbidden(&error), "{url:?}: {error:?}");
    }
    assert_eq!(*resolver.asked.lock(), ["good.test"]);
    for url in ["http://good.test@127.0.0.1/", "http://good.test:80@127.0.0.1/", "http://", "http://a b/"] {
        let error = fetch(&fetcher, url).await.unwrap_err();
        assert!(matches!(error, ForeignError::InvalidUrl(_)), "{url:?}: {error:?}");
    }
}

#[tokio::test]
async fn r05_only_http_and_https_are_fetched() {
    let resolver = Scripted::new([&["127.0.0.1"]]);
    let fetcher = fetcher(&["peer.test"], &resolver, FetchLimits::default());
    for url in [
        "gopher://peer.test/",
        "ftp://peer.test/",
        "file:///etc/passwd",
        "unix:/run/x.sock",
        "data:,x",
        "http+unix://x/",
        "ws://peer.test/",
        "javascript:1",
        "peer.test",
        "",
    ] {
        let error = fetch(&fetcher, url).await.unwrap_err();
        assert!(matches!(error, ForeignError::InvalidUrl(_)), "{url:?}: {error:?}");
    }
    assert_eq!(resolver.asked(), 0);
}

#[tokio::test]
async fn r06_content_above_the_limit_is_not_read() {
    let peer = Peer::start().await;
    let fetcher = to_peers(FetchLimits { body: 100_000, ..FetchLimits::default() });
    let url = url(&peer);
    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        let mut connection = peer.request().await.0;
        connection.write("HTTP/1.1 200 X\r\ncontent-length: 1000000000\r\n\r\n").await;
        connection.closed().await;
    });
    assert!(matches!(error, ForeignError::TooLarge { limit: 100_000 }), "{error:?}");
    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        let mut connection = peer.request().await.0;
        connection.begin(&[]).await;
        connection.write_until_closed(format!("1000\r\n{}\r\n", "x".repeat(4096)).as_bytes()).await;
    });
    assert!(matches!(error, ForeignError::TooLarge { limit: 100_000 }), "{error:?}");
}

#[tokio::test]
async fn r06_a_compressed_bomb_is_cut_at_the_limit() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![0; 1 << 20];
    (0..100).for_each(|_| bomb.write_all(&zeros).unwrap());
    let bomb = bomb.finish().unwrap();
    let peer = Peer::start().await;
    let fetcher = to_peers(FetchLimits::default());
    let url = url(&peer);
    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        let mut connection = peer.request().await.0;
        let length = bomb.len();
        let head = format!("HTTP/1.1 200 X\r\ncontent-encoding: gzip\r\ncontent-length: {length}\r\n\r\n");
        connection.write(head).await;
        connection.write(&bomb).await;
    });
    assert!(matches!(error, ForeignError::TooLarge { limit: 10_000_000 }), "{error:?}");
}

#[tokio::test]
async fn r06_a_coding_that_was_not_requested_is_refused() {
    let peer = Peer::start().await;
    let fetcher = to_peers(FetchLimits::default());
    let url = url(&peer);
    for coding in ["br", "gzip, gzip", "zstd"] {
        let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
            peer.request().await.0.answer(200, &[("content-encoding", coding)], "x").await;
        });
        assert!(matches!(error, ForeignError::Coding { .. }), "{coding}: {error:?}");
    }
}

#[tokio::test]
async fn r06_silence_and_trickled_bytes_end_the_fetch() {
    let peer = Peer::start().await;
    let silence = Duration::from_millis(300);
    let fetcher = to_peers(FetchLimits { silence, ..FetchLimits::default() });
    let url = url(&peer);
    let (error, mut connection) =
        tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async { peer.request().await.0 });
    assert!(matches!(error, ForeignError::TooSlow { .. }), "{error:?}");
    connection.closed().await;

    let (error, ()) = tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async {
        let mut connection = peer.request().await.0;
        connection.write("HTTP/1.1 200 X\r\nconnection: close\r\n\r\n").await;
        let mut pace = tokio::time::interval(silence / 10);
        while tokio::io::AsyncWriteExt::write_all(&mut connection.0, b"x").await.is_ok() {
            pace.tick().await;
        }
    });
    assert!(matches!(error, ForeignError::TooSlow { .. }), "{error:?}");
}

#[tokio::test]
async fn r06_the_whole_fetch_has_a_limit() {
    let peer = Peer::start().await;
    let total = Duration::from_millis(300);
    let fetcher = to_peers(FetchLimits { total, ..FetchLimits::default() });
    let url = url(&peer);
    let (error, _connection) =
        tokio::join!(async { fetch(&fetcher, &url).await.unwrap_err() }, async { peer.request().await.0 });
    assert!(matches!(error, ForeignError::TimedOut { .. }), "{error:?}");
}

#[tokio::test]
async fn r06_errors_do_not_describe_our_network() {
    let closed = {
        let listener = TcpListener::bind((HERE, 0)).await.unwrap();
        listener.local_addr().unwrap().port()
    };
    let refused = fetch(&to_peers(FetchLimits::default()), &format!("http://peer.test:{closed}/")).await;
    let fetcher = fetcher(&[], &Scripted::new([&["10.1.2.3"], &[]]), FetchLimits::default());
    let private = fetch(&fetcher, "http://internal.test/").await;
    let unknown = fetch(&fetcher, "http://unknown.test/").await;
    let texts = [refused, private, unknown].map(|outcome| outcome.unwrap_err().to_string());
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[1], texts[2]);
    assert!(!texts[0].contains("10."), "{}", texts[0]);
}
