//! The secure connection: certificates of every wrong kind.

use crate::{
    site::{Site, mcp, serve},
    visit::{Folder, Visit, about},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::{
    cell::RefCell,
    io::{self, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
    sync::Arc,
};
use tokio_rustls::rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer},
};

/// A TLS server with this certificate that speaks MCP.
fn secure_site(certificate: CertificateDer<'static>, key: &KeyPair) -> Site {
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a certificate of the test");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("a certificate of the test")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate of the test");
    let config = Arc::new(config);
    Site::raw("127.0.0.1:0", move |stream: &TcpStream| {
        let connection = ServerConnection::new(config.clone()).expect("a certificate of the test");
        let stream = stream.try_clone().expect("a socket can be cloned");
        let stream = RefCell::new(StreamOwned::new(connection, stream));
        serve(&mut BufReader::new(Half(&stream)), &mut Half(&stream), &mcp);
    })
}

/// The reading or writing side of a TLS stream.
struct Half<'a>(&'a RefCell<StreamOwned<ServerConnection, TcpStream>>);

impl Read for Half<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

impl Write for Half<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "Test Authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a certificate of the test"))
        .expect("a certificate of the test")
}

fn params(name: &str) -> CertificateParams {
    let mut params = CertificateParams::new([name.to_owned()]).expect("a certificate of the test");
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

/// Examines a site whose certificate is signed by a CA that is trusted for this run.
fn trusting(params: &CertificateParams) -> Visit {
    let (authority, key) = (authority(), KeyPair::generate().expect("a certificate of the test"));
    let certificate = params.signed_by(&key, &authority).expect("a certificate of the test");
    let site = secure_site(certificate.der().clone(), &key);
    let folder = Folder::new();
    let pem = folder.file("authority.pem", authority.pem(), 0o644);
    let url = format!("https://127.0.0.1:{}/mcp", site.address.port());
    folder.visit(&["--timeout", "5s", "--cacert", &pem, &url], &[])
}

#[test]
fn a_certificate_that_signs_itself() {
    let key = KeyPair::generate().unwrap();
    let certificate = params("127.0.0.1").self_signed(&key).unwrap();
    let site = secure_site(certificate.der().clone(), &key);
    let visit = about(&format!("https://127.0.0.1:{}/mcp", site.address.port()));
    visit.names("tls-self-signed", 3, "--cacert server.pem");
    assert_eq!(visit.broken_step(), "secure");
}

/// Runs the lines of a fix in a shell, and returns the last run's exit code and output.
fn follow(folder: &Folder, fix: &str) -> (Option<i32>, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_trunkline"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
    let mut shell = Command::new("sh");
    shell.env_clear().env("PATH", path).env("HOME", folder.path()).current_dir(folder.path());
    let output = shell.args(["-ec", fix]).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// `openssl req -x509` makes a certificate that is its own authority, other tools one that is none.
#[test]
fn the_advice_for_a_self_signed_certificate_works_when_followed() {
    for is_ca in [IsCa::Ca(BasicConstraints::Unconstrained), IsCa::ExplicitNoCa, IsCa::NoCa] {
        let key = KeyPair::generate().unwrap();
        let mut params = params("127.0.0.1");
        params.is_ca = is_ca;
        let site = secure_site(params.self_signed(&key).unwrap().der().clone(), &key);
        let folder = Folder::new();
        let url = format!("https://127.0.0.1:{}/mcp", site.address.port());
        let visit = folder.visit(&["--timeout", "5s", &url], &[]);
        visit.names("tls-self-signed", 3, "--cacert server.pem");
        let (code, said) = follow(&folder, &visit.fix());
        assert_eq!(code, Some(0), "{is_ca:?}: {said}");
    }
}

/// A pinned certificate is still checked for its name and its dates.
#[test]
fn a_pinned_certificate_without_a_host_name_gets_advice_to_add_one() {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "127.0.0.1");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).unwrap();
    let site = secure_site(certificate.der().clone(), &key);
    let folder = Folder::new();
    let pem = folder.file("server.pem", certificate.pem(), 0o644);
    let url = format!("https://127.0.0.1:{}/mcp", site.address.port());
    let visit = folder.visit(&["--timeout", "5s", "--cacert", &pem, &url], &[]);
    visit.names("tls-wrong-name", 3, "-addext subjectAltName=IP:127.0.0.1");
}

#[test]
fn a_certificate_of_an_unknown_authority() {
    let (authority, key) = (authority(), KeyPair::generate().unwrap());
    let certificate = params("127.0.0.1").signed_by(&key, &authority).unwrap();
    let site = secure_site(certificate.der().clone(), &key);
    let visit = about(&format!("https://127.0.0.1:{}/mcp", site.address.port()));
    visit.names("tls-unknown-authority", 3, "NODE_EXTRA_CA_CERTS");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("Test Authority"));
}

#[test]
fn a_certificate_for_another_host() {
    let visit = trusting(&params("other.example"));
    visit.names("tls-wrong-name", 3, "use one of these names in the address: other.example");
}

#[test]
fn a_certificate_that_has_expired_or_not_begun() {
    let mut old = params("127.0.0.1");
    (old.not_before, old.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let visit = trusting(&old);
    visit.names("tls-expired", 3, "renew the certificate");
    assert!(visit.said["problem"]["summary"].as_str().unwrap().contains("2021"));
    let mut early = params("127.0.0.1");
    (early.not_before, early.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
    trusting(&early).names("tls-not-yet-valid", 3, "date");
}

#[test]
fn https_on_a_port_for_http_and_the_reverse() {
    let plain = Site::new(mcp);
    let visit = about(&plain.url("/mcp").replace("http:", "https:"));
    visit.names("https-on-http-port", 3, &plain.url("/mcp"));
    assert_eq!(visit.works(), ["http://"]);
    let key = KeyPair::generate().unwrap();
    let certificate = params("127.0.0.1").self_signed(&key).unwrap();
    let secure = secure_site(certificate.der().clone(), &key);
    let visit = about(&secure.url("/mcp"));
    visit.names("http-on-https-port", 3, &secure.url("/mcp").replace("http:", "https:"));
}

#[test]
fn a_server_that_breaks_the_handshake_off() {
    /// A fatal TLS alert (handshake failure), as sent by a server without a common version or
    /// cipher.
    const ALERT: [u8; 7] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28];
    let site = Site::raw("127.0.0.1:0", |mut stream| {
        assert!(stream.read(&mut [0; 4096]).is_ok());
        stream.write_all(&ALERT).ok();
    });
    let visit = about(&format!("https://127.0.0.1:{}/mcp", site.address.port()));
    visit.names("tls-failed", 3, "TLS 1.2");
    assert_eq!(visit.broken_step(), "secure");
}

#[test]
fn an_authority_that_cannot_be_read() {
    let site = Site::new(mcp);
    let url = site.url("/mcp").replace("http:", "https:");
    let visit = Folder::new().visit(&["--cacert", "/nowhere.pem", &url], &[]);
    visit.names("tls-roots", 3, "--cacert");
}

#[test]
fn a_credential_that_would_go_in_the_clear() {
    let visit =
        Folder::new().visit(&["-H", "Authorization: Bearer canary-token", "http://192.0.2.1/mcp"], &[]);
    visit.names("credentials-in-clear", 3, "https://192.0.2.1/mcp");
    assert!(!visit.said.to_string().contains("canary-token"));
}
