//! TLS: the servers that the client trusts, the errors for others, and no fallback to plain http.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod http_support;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, Version};
use http_support::{Connection, JSON, Peer};
use hyper::body::{Body, Frame, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{CertificateParams, CertifiedIssuer, ExtendedKeyUsagePurpose, IsCa, KeyPair, date_time_ymd};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use rustls_pki_types::PrivateKeyDer;
use tokio::io::BufReader;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use trunkline_transport::http::{ClientCertificate, HttpClient, HttpError, HttpOptions, Pem, TlsError};
use trunkline_transport::streamable_http::{Endpoint, Exchange, Resume};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    named_authority("a test authority")
}

fn named_authority(name: &str) -> Authority {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params.distinguished_name.push(rcgen::DnType::CommonName, name);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A server's settings with a certificate issued by `issuer`; with `clients`, it requires a client
/// certificate issued by that authority.
fn config(params: &CertificateParams, issuer: &Authority, clients: Option<&Authority>) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let builder =
        ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(clients.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    builder.with_single_cert(vec![certificate.der().clone()], key).unwrap()
}

fn trusting(authority: &Authority) -> HttpOptions {
    HttpOptions { ca_certificates: vec![Pem::Bytes(authority.pem().into_bytes())], ..HttpOptions::default() }
}

fn client_certificate(issuer: &Authority) -> ClientCertificate {
    let key = KeyPair::generate().unwrap();
    let chain = params("client").signed_by(&key, issuer).unwrap();
    ClientCertificate {
        chain: Pem::Bytes(chain.pem().into_bytes()),
        key: Pem::Bytes(key.serialize_pem().into_bytes()),
    }
}

async fn post(peer: &Peer, options: HttpOptions) -> Result<Exchange, HttpError> {
    let url = peer.url().replace("http:", "https:");
    let endpoint = Endpoint::new(HttpClient::new(options).unwrap(), &url).unwrap();
    endpoint.post(Bytes::from_static(b"{}"), HeaderMap::new(), Resume::Never).await
}

/// Posts to a server with these settings that answers one request if the handshake succeeds.
async fn exchange(config: ServerConfig, options: HttpOptions) -> Result<Exchange, HttpError> {
    let peer = Peer::start().await;
    let server = async {
        let tcp = peer.accept().await.0.into_inner();
        let tls = match TlsAcceptor::from(Arc::new(config)).accept(tcp).into_fallible().await {
            Ok(tls) => tls,
            // Kept open, so that a reset does not overtake the alert with the reason.
            Err((_, mut tcp)) => {
                tokio::io::copy(&mut tcp, &mut tokio::io::sink()).await.ok();
                return;
            }
        };
        let mut connection = Connection(BufReader::new(tls));
        connection.request().await;
        connection.answer(200, &[JSON], "{}").await;
        connection.closed().await;
    };
    tokio::select! {
        answer = post(&peer, options) => answer,
        ((), never) = async { (server.await, std::future::pending().await) } => never,
    }
}

async fn failure(config: ServerConfig, options: HttpOptions) -> TlsError {
    match exchange(config, options).await {
        Err(error @ HttpError::Tls(_)) => {
            assert!(!error.is_transient() && !error.may_have_been_processed());
            let HttpError::Tls(error) = error else { unreachable!() };
            *error
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_named_authority_is_trusted() {
    let authority = authority();
    let config = config(&params("127.0.0.1"), &authority, None);
    assert_eq!(exchange(config, trusting(&authority)).await.unwrap().status().unwrap(), 200);
}

#[tokio::test]
async fn an_authority_may_be_named_by_file() {
    let authority = authority();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    let ca_certificates = vec![Pem::File(file.path().to_owned())];
    let config = config(&params("127.0.0.1"), &authority, None);
    let options = HttpOptions { ca_certificates, ..HttpOptions::default() };
    assert_eq!(exchange(config, options).await.unwrap().status().unwrap(), 200);
}

#[tokio::test]
async fn an_unknown_authority_is_not_trusted() {
    let config = config(&params("127.0.0.1"), &authority(), None);
    let failure = failure(config, trusting(&named_authority("another authority"))).await;
    assert!(matches!(failure, TlsError::UnknownIssuer), "{failure:?}");
}

/// A server's settings with a self-signed certificate, and the certificate as PEM.
fn self_signed(params: &CertificateParams) -> (ServerConfig, Pem) {
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (config, Pem::Bytes(certificate.pem().into_bytes()))
}

fn pinning(certificate: Pem) -> HttpOptions {
    HttpOptions { ca_certificates: vec![certificate], ..HttpOptions::default() }
}

fn also_authority(name: &str) -> CertificateParams {
    let mut params = params(name);
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    params
}

#[tokio::test]
async fn a_self_signed_certificate_is_not_trusted() {
    for params in [params("127.0.0.1"), also_authority("127.0.0.1")] {
        let failure = failure(self_signed(&params).0, trusting(&authority())).await;
        assert!(matches!(failure, TlsError::UnknownIssuer), "{failure:?}");
        assert!(failure.hint().unwrap().contains("--cacert"));
    }
}

#[tokio::test]
async fn a_certificate_that_is_given_itself_is_trusted() {
    for params in [params("127.0.0.1"), also_authority("127.0.0.1")] {
        let (config, certificate) = self_signed(&params);
        assert_eq!(exchange(config, pinning(certificate)).await.unwrap().status().unwrap(), 200);
    }
    // Also without its authority, as curl accepts it.
    let key = KeyPair::generate().unwrap();
    let certificate = params("127.0.0.1").signed_by(&key, &authority()).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let pinned = pinning(Pem::Bytes(certificate.pem().into_bytes()));
    assert_eq!(exchange(config, pinned).await.unwrap().status().unwrap(), 200);
}

#[tokio::test]
async fn a_certificate_that_is_given_itself_is_checked_for_name_and_dates() {
    let mut expired = also_authority("127.0.0.1");
    expired.not_after = date_time_ymd(2020, 1, 1);
    let (config, certificate) = self_signed(&expired);
    let failed = failure(config, pinning(certificate)).await;
    assert!(matches!(failed, TlsError::Expired), "{failed:?}");

    let (config, certificate) = self_signed(&also_authority("example.com"));
    let failed = failure(config, pinning(certificate)).await;
    assert!(matches!(failed, TlsError::WrongHost), "{failed:?}");

    // The same names with another key: not the certificate that was given.
    let (config, _) = self_signed(&also_authority("127.0.0.1"));
    let (_, other) = self_signed(&also_authority("127.0.0.1"));
    let failed = failure(config, pinning(other)).await;
    assert!(matches!(failed, TlsError::UnknownIssuer), "{failed:?}");
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let authority = authority();
    for name in ["example.com", "127.0.0.2", "localhost"] {
        let config = config(&params(name), &authority, None);
        let failure = failure(config, trusting(&authority)).await;
        assert!(matches!(failure, TlsError::WrongHost), "{failure:?}");
    }
}

#[tokio::test]
async fn a_certificate_out_of_its_time_is_refused() {
    let authority = authority();
    let mut expired = params("127.0.0.1");
    expired.not_after = date_time_ymd(2020, 1, 1);
    let failed = failure(config(&expired, &authority, None), trusting(&authority)).await;
    assert!(matches!(failed, TlsError::Expired), "{failed:?}");
    let mut early = params("127.0.0.1");
    early.not_before = date_time_ymd(3000, 1, 1);
    let failed = failure(config(&early, &authority, None), trusting(&authority)).await;
    assert!(matches!(failed, TlsError::NotYetValid), "{failed:?}");
}

#[tokio::test]
async fn a_client_certificate_is_shown_when_demanded() {
    let authority = authority();
    let config = || config(&params("127.0.0.1"), &authority, Some(&authority));
    let failed = failure(config(), trusting(&authority)).await;
    assert!(matches!(failed, TlsError::ClientCertificateRequired), "{failed:?}");

    let client = Some(client_certificate(&authority));
    let options = HttpOptions { client_certificate: client, ..trusting(&authority) };
    assert_eq!(exchange(config(), options).await.unwrap().status().unwrap(), 200);

    let stranger = Some(client_certificate(&named_authority("another authority")));
    let options = HttpOptions { client_certificate: stranger, ..trusting(&authority) };
    let failed = failure(config(), options).await;
    assert!(matches!(failed, TlsError::ClientCertificateRefused), "{failed:?}");
}

#[tokio::test]
async fn a_server_without_tls_is_never_spoken_to_in_the_clear() {
    let peer = Peer::start().await;
    let server = async {
        let mut connection = peer.accept().await;
        let mut hello = [0; 5];
        tokio::io::AsyncReadExt::read_exact(&mut connection.0, &mut hello).await.unwrap();
        assert_eq!(hello[0], 0x16, "not a TLS handshake");
        connection.write("HTTP/1.1 400 Bad Request\r\n\r\n").await;
        connection
    };
    let (_connection, answer) = tokio::join!(server, post(&peer, trusting(&authority())));
    assert!(
        matches!(&answer, Err(HttpError::Tls(error)) if matches!(**error, TlsError::NotTls)),
        "{answer:?}"
    );
    peer.assert_untouched();
}

#[tokio::test]
async fn unusable_files_are_named_and_do_not_matter_without_tls() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let missing = empty.path().with_extension("missing");
    for (path, expected) in [(empty.path(), "holds no usable certificate"), (&missing, "cannot read")] {
        let ca_certificates = vec![Pem::File(path.to_owned())];
        let options = HttpOptions { ca_certificates, ..HttpOptions::default() };
        let peer = Peer::start().await;
        let error = post(&peer, options.clone()).await.unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(path.to_str().unwrap()), "{error}");
        peer.assert_untouched();

        let peer = Peer::start().await;
        let endpoint = peer.endpoint(options);
        let server = async { peer.request().await.0.answer(202, &[], "").await };
        let post = endpoint.post(Bytes::new(), HeaderMap::new(), Resume::Never);
        tokio::join!(server, post).1.unwrap();
    }
}

/// A stream with one event that never ends, and signals its drop.
struct Unending(Option<Bytes>, Option<oneshot::Sender<()>>);

impl Body for Unending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.take().map_or(Poll::Pending, |data| Poll::Ready(Some(Ok(Frame::data(data)))))
    }
}

impl Drop for Unending {
    fn drop(&mut self) {
        if let Some(dropped) = self.1.take() {
            let _gone = dropped.send(());
        }
    }
}

#[tokio::test]
async fn over_http_2_a_dropped_exchange_ends_its_stream_and_not_the_connection() {
    let authority = authority();
    let mut config = config(&params("127.0.0.1"), &authority, None);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let peer = Peer::start().await;
    let (dropped, was_dropped) = oneshot::channel();
    let dropped = std::sync::Mutex::new(Some(dropped));
    let service = hyper::service::service_fn(|request: Request<Incoming>| {
        assert_eq!(request.version(), Version::HTTP_2);
        let body = Unending(Some(Bytes::from_static(b"data: {}\n\n")), dropped.lock().unwrap().take());
        let response = Response::builder().header("content-type", "text/event-stream").body(body);
        std::future::ready(response)
    });
    let server = async {
        let tcp = peer.accept().await.0.into_inner();
        let tls = TlsAcceptor::from(Arc::new(config)).accept(tcp).await.unwrap();
        let builder = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
        builder.serve_connection(TokioIo::new(tls), service).await.unwrap();
        panic!("the connection ended");
    };
    let client = async {
        let url = peer.url().replace("http:", "https:");
        let endpoint = Endpoint::new(HttpClient::new(trusting(&authority)).unwrap(), &url).unwrap();
        let post = || endpoint.post(Bytes::from_static(b"{}"), HeaderMap::new(), Resume::Never);
        let mut first = post().await.unwrap();
        let mut second = post().await.unwrap();
        assert_eq!(first.next().await.unwrap().unwrap(), "{}");
        drop(first);
        was_dropped.await.unwrap();
        assert_eq!(second.next().await.unwrap().unwrap(), "{}");
        assert_eq!(post().await.unwrap().next().await.unwrap().unwrap(), "{}");
    };
    tokio::select! {
        () = client => {}
        () = server => {}
    }
}
