//! A verifier that also accepts the server certificates that were given themselves.
//!
//! `webpki` takes a given certificate as an authority only. A self-signed server certificate is
//! often both (`openssl req -x509` makes it so), which `webpki` refuses; OpenSSL and curl accept
//! it. Nothing is loosened otherwise: the bytes must be equal, and dates and name are checked.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, OtherError, SignatureScheme};

#[derive(Debug)]
pub(super) struct PinnedOrIssued {
    pub(super) issued: Arc<WebPkiServerVerifier>,
    /// The certificates that the user gave.
    pub(super) pinned: Vec<CertificateDer<'static>>,
}

/// True if the only fault of a certificate is that no trusted authority issued it. `webpki` checks
/// the dates first, so they are right.
pub(super) fn is_only_untrusted(error: &CertificateError) -> bool {
    match error {
        CertificateError::UnknownIssuer => true,
        CertificateError::Other(OtherError(error)) => {
            matches!(error.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
        }
        _ => false,
    }
}

impl ServerCertVerifier for PinnedOrIssued {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let issued =
            self.issued.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match issued {
            Err(Error::InvalidCertificate(reason))
                if is_only_untrusted(&reason) && self.pinned.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.issued.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}
