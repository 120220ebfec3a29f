//! TLS of the listener: reads its files, and reads them again when they change.

use super::reread::Reread;
use crate::failure::Failure;
use std::{path::Path, sync::Arc};
use trunkline_config::{ClientCertificates, Seen, Tls as Settings, read_regular};
use trunkline_serve::{CertificateDemand, ClientAuthorities, Encryption, Tls, TlsFiles};

/// Largest certificate or key file.
const MAX_FILE: u64 = 1024 * 1024;

/// The encryption of a listener. Watches the files for as long as the process lives.
pub(crate) fn encryption(settings: Option<&Settings>, insecure_http: bool) -> Result<Encryption, Failure> {
    let Some(settings) = settings else {
        return Ok(if insecure_http { Encryption::NotHere } else { Encryption::None });
    };
    let watched = settings.clone();
    let changes = Reread::new(move || seen(&watched));
    let tls = Tls::new(&files(settings)?).map_err(|error| unusable(settings, &error))?;
    let tls = Arc::new(tls);
    let (settings, replaced) = (settings.clone(), tls.clone());
    changes.by(move || reload(&settings, &replaced));
    Ok(Encryption::Tls(tls))
}

fn reload(settings: &Settings, tls: &Tls) {
    let replaced =
        files(settings).and_then(|files| tls.replace(&files).map_err(|error| unusable(settings, &error)));
    match replaced {
        Ok(()) => tracing::info!("the certificate was read again; new connections use it"),
        // A certificate and its key are two files, which rarely change at the same moment.
        Err(failure) => {
            tracing::warn!(reason = failure.to_text(), "the changed certificate is not used");
        }
    }
}

fn seen(settings: &Settings) -> Vec<Seen> {
    let Settings { certificate, key, client_authorities, .. } = settings;
    [Some(certificate), Some(key), client_authorities.as_ref()]
        .into_iter()
        .flatten()
        .map(|path| Seen::now(path.clone()))
        .collect()
}

fn files(settings: &Settings) -> Result<TlsFiles, Failure> {
    let clients = settings.client_authorities.as_deref().map(|path| {
        let demand = match settings.client_certificates {
            ClientCertificates::Optional => CertificateDemand::Optional,
            ClientCertificates::Required => CertificateDemand::Required,
        };
        Ok::<_, Failure>(ClientAuthorities { authorities: read(path)?, demand })
    });
    Ok(TlsFiles {
        certificate: read(&settings.certificate)?,
        key: read(&settings.key)?,
        clients: clients.transpose()?,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_regular(path, MAX_FILE)
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())).hint("see `tls`"))
}

fn unusable(settings: &Settings, error: &dyn std::error::Error) -> Failure {
    let reason = error.source().map(|source| format!(" ({source})")).unwrap_or_default();
    let file = settings.certificate.display();
    Failure::usage(format!("the listener's certificate {file} cannot be used: {error}{reason}"))
}
