//! TLS of a listener: its certificate, which can be replaced while connections are served, and the
//! certificates that it asks of clients.

use crate::subject;
use arc_swap::ArcSwap;
use rustls::{
    RootCertStore, ServerConfig,
    server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier},
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _};
use std::{fmt, io, sync::Arc};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// The response to a plain HTTP request.
const PLAIN_REFUSED: &[u8] = b"HTTP/1.1 400 Bad Request\r\n\
    content-type: text/plain; charset=utf-8\r\n\
    content-length: 48\r\n\
    connection: close\r\n\
    \r\n\
    this port speaks TLS: use https:// for requests\n";
/// Bytes of a plain request that are read and dropped.
const MAX_PLAIN_REQUEST: u64 = 64 * 1024;

/// The certificate of a listener, and the policy for certificates of clients.
pub struct Tls {
    config: ArcSwap<ServerConfig>,
}

/// PEM texts.
#[derive(Clone)]
pub struct TlsFiles {
    /// The certificate, followed by those of intermediate authorities.
    pub certificate: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
    pub clients: Option<ClientAuthorities>,
}

/// The authorities that issue certificates of clients.
#[derive(Debug, Clone)]
pub struct ClientAuthorities {
    /// Their certificates, as PEM.
    pub authorities: Vec<u8>,
    pub demand: CertificateDemand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateDemand {
    /// A client without a certificate is identified by other credentials.
    Optional,
    /// A client without a certificate cannot connect.
    Required,
}

/// A verified certificate of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The distinguished name, such as `CN=ada, O=Example`; `,`, `+`, `=` and the like are escaped
    /// with `\\` in its values.
    pub subject: String,
}

#[derive(Debug, thiserror::Error)]
pub enum BadTls {
    #[error("the certificate file contains no PEM certificate (-----BEGIN CERTIFICATE-----)")]
    NoCertificate,
    #[error("the key file contains no PEM private key (-----BEGIN PRIVATE KEY-----)")]
    NoKey,
    #[error("the certificate and the private key do not belong together, or are of an unknown kind")]
    Pair(#[source] rustls::Error),
    #[error("the file of client authorities contains no usable PEM certificate")]
    NoAuthority,
    #[error("the client authorities cannot be used")]
    Authorities(#[from] VerifierBuilderError),
}

impl Tls {
    pub fn new(files: &TlsFiles) -> Result<Self, BadTls> {
        Ok(Self { config: ArcSwap::from_pointee(files.config()?) })
    }

    /// Uses other files for connections that are accepted from now on. If they are unusable,
    /// nothing changes.
    pub fn replace(&self, files: &TlsFiles) -> Result<(), BadTls> {
        self.config.store(Arc::new(files.config()?));
        Ok(())
    }

    /// Waits until the client has proven itself. The caller sets the limit. A plain HTTP request
    /// gets a readable response.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(TlsStream<TcpStream>, Option<ClientCertificate>)> {
        if is_plain_http(&stream).await? {
            refuse_plain(stream).await?;
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a plain HTTP request"));
        }
        let stream = TlsAcceptor::from(self.config.load_full()).accept(stream).await?;
        let chain = stream.get_ref().1.peer_certificates();
        let certificate = chain.and_then(<[_]>::first).map(ClientCertificate::of).transpose()?;
        Ok((stream, certificate))
    }
}

impl TlsFiles {
    fn config(&self) -> Result<ServerConfig, BadTls> {
        let certificates = certificates(&self.certificate).ok_or(BadTls::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_| BadTls::NoKey)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(BadTls::Pair)?;
        let builder = match &self.clients {
            None => builder.with_no_client_auth(),
            Some(clients) => builder.with_client_cert_verifier(clients.verifier()?),
        };
        let mut config = builder.with_single_cert(certificates, key).map_err(BadTls::Pair)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl ClientAuthorities {
    fn verifier(&self) -> Result<Arc<dyn ClientCertVerifier>, BadTls> {
        let given = certificates(&self.authorities).ok_or(BadTls::NoAuthority)?;
        let mut roots = RootCertStore::empty();
        for certificate in given {
            roots.add(certificate).map_err(|_| BadTls::NoAuthority)?;
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
        let builder = match self.demand {
            CertificateDemand::Optional => builder.allow_unauthenticated(),
            CertificateDemand::Required => builder,
        };
        Ok(builder.build()?)
    }
}

impl ClientCertificate {
    /// Reads a certificate that was verified.
    fn of(verified: &CertificateDer<'_>) -> io::Result<Self> {
        let (_, certificate) = x509_parser::parse_x509_certificate(verified)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        let unnamed = || io::Error::new(io::ErrorKind::InvalidData, "its subject is empty or not readable");
        Ok(Self { subject: subject::text_of(certificate.subject()).ok_or_else(unnamed)? })
    }
}

/// True if the client begins with a method's name. A TLS record begins with a small number.
async fn is_plain_http(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    let length = stream.peek(&mut first).await?;
    Ok(length == 1 && first[0].is_ascii_uppercase())
}

/// Answers a plain request. Some of the request is read first, because closing a socket with
/// unread input would take the response from the client.
async fn refuse_plain(mut stream: TcpStream) -> io::Result<()> {
    stream.write_all(PLAIN_REFUSED).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(MAX_PLAIN_REQUEST), &mut tokio::io::sink()).await?;
    Ok(())
}

/// All certificates of a PEM text; `None` if it has none or one is malformed.
fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    parsed.ok().filter(|certificates| !certificates.is_empty())
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

/// Shows no key.
impl fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsFiles").field("clients", &self.clients).finish_non_exhaustive()
    }
}
