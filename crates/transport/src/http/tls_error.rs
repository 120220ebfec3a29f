//! Errors of TLS connections.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::{AlertDescription, CertificateError, InvalidMessage};

use super::pinned::is_only_untrusted;

/// A TLS error. There is no option to connect without verification.
#[derive(Debug, Clone, thiserror::Error)]
pub enum TlsError {
    #[error("the server's certificate is not issued by a trusted authority")]
    UnknownIssuer,
    #[error("the server's certificate is for another host")]
    WrongHost,
    #[error("the server's certificate has expired")]
    Expired,
    #[error("the server's certificate is not valid yet")]
    NotYetValid,
    #[error("the server demands a client certificate")]
    ClientCertificateRequired,
    #[error("the server refuses the client certificate")]
    ClientCertificateRefused,
    #[error("the server does not speak TLS")]
    NotTls,
    /// The server answered a plain request with a TLS alert.
    #[error("this port speaks TLS, and the address begins with http://")]
    PlainRequest,
    #[error("no trusted root certificates were found on this system")]
    NoRoots,
    #[error("cannot read {}", path.display())]
    UnreadableFile { path: PathBuf, source: Arc<std::io::Error> },
    #[error("{what} holds no usable {kind}")]
    BadPem { what: String, kind: &'static str },
    #[error("the client certificate cannot be used: {0}")]
    BadClientCertificate(rustls::Error),
    #[error("TLS failed: {0}")]
    Other(rustls::Error),
}

impl TlsError {
    /// Advice for the user.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::UnknownIssuer => Some("if you trust the server, pass its CA certificate with --cacert"),
            Self::WrongHost => Some("use the host name that the certificate was issued for"),
            Self::Expired | Self::NotYetValid => {
                Some("check the clock of both machines, or renew the certificate")
            }
            Self::ClientCertificateRequired => Some("give a client certificate and its key"),
            Self::NotTls => Some("if the server does not use TLS, use http://"),
            Self::PlainRequest => Some("use https://"),
            Self::NoRoots => {
                Some("install the system's ca-certificates, or pass a CA certificate with --cacert")
            }
            _ => None,
        }
    }
}

impl From<&rustls::Error> for TlsError {
    fn from(error: &rustls::Error) -> Self {
        use AlertDescription as Alert;
        use CertificateError as Cert;
        match error {
            rustls::Error::InvalidCertificate(reason) => match reason {
                reason if is_only_untrusted(reason) => Self::UnknownIssuer,
                Cert::NotValidForName | Cert::NotValidForNameContext { .. } => Self::WrongHost,
                Cert::Expired | Cert::ExpiredContext { .. } => Self::Expired,
                Cert::NotValidYet | Cert::NotValidYetContext { .. } => Self::NotYetValid,
                _ => Self::Other(error.clone()),
            },
            rustls::Error::AlertReceived(Alert::CertificateRequired) => Self::ClientCertificateRequired,
            rustls::Error::AlertReceived(
                Alert::BadCertificate
                | Alert::UnknownCA
                | Alert::CertificateExpired
                | Alert::CertificateRevoked
                | Alert::CertificateUnknown
                | Alert::UnsupportedCertificate,
            ) => Self::ClientCertificateRefused,
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Self::NotTls,
            other => Self::Other(other.clone()),
        }
    }
}
