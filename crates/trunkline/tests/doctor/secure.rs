//! The secure connection: certificates of every wrong kind.

use crate::{
    site::{Site, mcp, serve},
    visit::{Folder, Visit, about},
};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use std::{io::BufReader, net::TcpStream, sync::Arc};
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
        let mut reader = BufReader::new(StreamOwned::new(
            connection,
            stream.try_clone().expect("a certificate of the test"),
        ));
        let mut answers = Vec::new();
        // One request per connection, because reading and writing share the stream.
        serve(&mut OneRequest(&mut reader), &mut answers, &mcp);
        std::io::Write::write_all(reader.get_mut(), &answers).ok();
        reader.get_mut().conn.send_close_notify();
        std::io::Write::flush(reader.get_mut()).ok();
    })
}

/// Ends after the first request, so that its answer can be sent.
struct OneRequest<'a, R>(&'a mut R);

impl<R: std::io::BufRead> std::io::Read for OneRequest<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R: std::io::BufRead> std::io::BufRead for OneRequest<'_, R> {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        self.0.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.0.consume(amount);
    }

    fn read_line(&mut self, line: &mut String) -> std::io::Result<usize> {
        self.0.read_line(line)
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
        use std::io::{Read, Write};
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
