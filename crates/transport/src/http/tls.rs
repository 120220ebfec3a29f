//! The TLS settings of a client, built when the first `https` URL is used: loading the system's
//! roots takes milliseconds, which users of local servers should not pay.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::sync::OnceCell;

use super::options::{ClientCertificate, Pem};
use super::pinned::PinnedOrIssued;
use super::tls_error::TlsError;

/// The settings, once built.
#[derive(Debug)]
pub(super) struct Tls {
    sources: Arc<Sources>,
    config: OnceCell<Arc<ClientConfig>>,
}

#[derive(Debug)]
struct Sources {
    ca_certificates: Vec<Pem>,
    client_certificate: Option<ClientCertificate>,
}

impl Tls {
    pub(super) fn new(ca_certificates: Vec<Pem>, client_certificate: Option<ClientCertificate>) -> Self {
        let sources = Arc::new(Sources { ca_certificates, client_certificate });
        Self { sources, config: OnceCell::new() }
    }

    /// Builds the settings once. A failure is not cached, because a missing file may exist at the
    /// next call.
    pub(super) async fn config(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let build = || async {
            let sources = Arc::clone(&self.sources);
            let built = tokio::task::spawn_blocking(move || sources.build()).await;
            built.expect("building the settings does not panic and is not aborted").map(Arc::new)
        };
        self.config.get_or_try_init(build).await.cloned()
    }
}

impl Sources {
    fn build(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Other)?;
        let pinned = self.pinned()?;
        let roots = roots(&pinned)?;
        let builder = if pinned.is_empty() {
            builder.with_root_certificates(roots)
        } else {
            let issued = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
            let issued = issued.build().map_err(|_| TlsError::NoRoots)?;
            let verifier = PinnedOrIssued { issued, pinned };
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        };
        let mut config = match &self.client_certificate {
            None => builder.with_no_client_auth(),
            Some(client) => builder
                .with_client_auth_cert(certificates(&client.chain)?, key(&client.key)?)
                .map_err(TlsError::BadClientCertificate)?,
        };
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }

    /// The certificates that the user gave, in the order of their files.
    fn pinned(&self) -> Result<Vec<CertificateDer<'static>>, TlsError> {
        let mut all = Vec::new();
        for pem in &self.ca_certificates {
            let certificates = certificates(pem)?;
            let usable = |given: &CertificateDer<'_>| webpki::anchor_from_trusted_cert(given).is_ok();
            if !certificates.iter().all(usable) {
                return Err(bad(pem, "certificate"));
            }
            all.extend(certificates);
        }
        Ok(all)
    }
}

/// The system's roots and the given certificates.
fn roots(given: &[CertificateDer<'static>]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::debug!(%error, "some of the system's roots could not be loaded");
    }
    roots.add_parsable_certificates(native.certs);
    roots.add_parsable_certificates(given.iter().cloned());
    if roots.is_empty() { Err(TlsError::NoRoots) } else { Ok(roots) }
}

fn certificates(pem: &Pem) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = contents(pem)?;
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match parsed {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(bad(pem, "certificate")),
    }
}

fn key(pem: &Pem) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&contents(pem)?).map_err(|_| bad(pem, "private key"))
}

fn contents(pem: &Pem) -> Result<Vec<u8>, TlsError> {
    match pem {
        Pem::Bytes(bytes) => Ok(bytes.clone()),
        Pem::File(path) => std::fs::read(path)
            .map_err(|source| TlsError::UnreadableFile { path: path.clone(), source: Arc::new(source) }),
    }
}

fn bad(pem: &Pem, kind: &'static str) -> TlsError {
    let what = match pem {
        Pem::File(path) => path.display().to_string(),
        Pem::Bytes(_) => "the given PEM text".to_owned(),
    };
    TlsError::BadPem { what, kind }
}
