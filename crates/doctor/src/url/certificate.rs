//! Reads a server's TLS certificate. The handshake is aborted before any data is sent.

use ::url::Url;
use parking_lot::Mutex;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use std::{fmt, sync::Arc, time::Duration};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use x509_parser::prelude::{FromDer, GeneralName, X509Certificate};

/// Maximum number of certificate names shown.
const SHOWN: usize = 8;

/// The fields of a certificate that reports show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Certificate {
    pub(super) subject: String,
    pub(super) issuer: String,
    pub(super) names: Vec<String>,
    pub(super) not_before: String,
    pub(super) not_after: String,
}

/// A verifier that records the certificate and always rejects it.
#[derive(Debug)]
struct Recorder {
    provider: CryptoProvider,
    seen: Mutex<Option<CertificateDer<'static>>>,
}

/// Fetches the certificate of a server; `None` if there is no TLS handshake.
pub(super) async fn look(address: &Url, limit: Duration) -> Option<Certificate> {
    let recorder = Arc::new(Recorder { provider: ring::default_provider(), seen: Mutex::default() });
    let host = address.host_str()?.trim_matches(['[', ']']).to_owned();
    let port = address.port_or_known_default()?;
    let name = ServerName::try_from(host.clone()).ok()?;
    let config = ClientConfig::builder_with_provider(Arc::new(recorder.provider.clone()))
        .with_safe_default_protocol_versions()
        .ok()?
        .dangerous()
        .with_custom_certificate_verifier(recorder.clone())
        .with_no_client_auth();
    let looking = async {
        let stream = TcpStream::connect((host, port)).await.ok()?;
        // This always fails, at the latest in the verifier.
        TlsConnector::from(Arc::new(config)).connect(name, stream).await.err()
    };
    tokio::time::timeout(limit, looking).await.ok()??;
    let seen = recorder.seen.lock().take()?;
    read(&seen)
}

/// True if the server at this address presents a certificate.
pub(crate) async fn speaks_tls(address: &Url, limit: Duration) -> bool {
    look(address, limit).await.is_some()
}

fn read(der: &CertificateDer<'_>) -> Option<Certificate> {
    let (_, certificate) = X509Certificate::from_der(der).ok()?;
    let alternative = certificate.subject_alternative_name().ok().flatten();
    let names = alternative.iter().flat_map(|extension| &extension.value.general_names);
    Some(Certificate {
        subject: certificate.subject().to_string(),
        issuer: certificate.issuer().to_string(),
        names: names.filter_map(name).take(SHOWN).collect(),
        not_before: certificate.validity().not_before.to_string(),
        not_after: certificate.validity().not_after.to_string(),
    })
}

fn name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress([a, b, c, d]) => Some(format!("{a}.{b}.{c}.{d}")),
        GeneralName::IPAddress(bytes) => {
            let bytes: [u8; 16] = (*bytes).try_into().ok()?;
            Some(std::net::Ipv6Addr::from(bytes).to_string())
        }
        _ => None,
    }
}

impl Certificate {
    pub(super) fn is_self_signed(&self) -> bool {
        self.subject == self.issuer
    }
}

impl fmt::Display for Certificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "for {}, issued by {}, until {}", self.names.join(", "), self.issuer, self.not_after)
    }
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        *self.seen.lock() = Some(end_entity.clone().into_owned());
        Err(Error::General("only looked at".to_owned()))
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only looked at".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("only looked at".to_owned()))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
