//! The files that the built-in tools must not touch.

use crate::{
    load::Inputs,
    programs,
    settings::{IssuedTokens, JwksPlace, Settings, StorePlace},
    watch::Seen,
};
use std::path::{Path, PathBuf};

/// Files and directories with secrets, or with records of all callers. The tools neither read nor
/// change them.
pub(crate) fn private(inputs: &Inputs<'_>, settings: &Settings) -> impl Iterator<Item = PathBuf> {
    let store = match &settings.store {
        StorePlace::Path(path) => Some(path.clone()),
        StorePlace::Memory | StorePlace::Url(_) => None,
    };
    let named = [
        // It has the operator's secret, the approvals and the audit trails.
        inputs.approvals.as_deref().and_then(Path::parent).map(Path::to_owned),
        settings.tls.as_ref().map(|tls| tls.key.clone()),
        settings.auth.keys.clone(),
        settings.auth.state_key.clone(),
        settings.audit.directory.clone(),
        settings.audit.signing.key.clone(),
        settings.access_log.file.clone(),
        store,
    ];
    named.into_iter().flatten()
}

/// Private files, and those that control the settings or are run as servers. The tools may read
/// the others, but change none of them.
pub(crate) fn guarded(inputs: &Inputs<'_>, settings: &Settings, watched: &[Seen]) -> Vec<PathBuf> {
    let file = |place: &JwksPlace| match place {
        JwksPlace::File(path) => Some(path.clone()),
        JwksPlace::Url(_) => None,
    };
    let issuers = settings.auth.issuers.values().filter_map(|issuer| match &issuer.tokens {
        IssuedTokens::Signed(place) => file(place),
        IssuedTokens::Opaque(_) => None,
    });
    let tls = settings.tls.as_ref();
    let named = [
        tls.map(|tls| tls.certificate.clone()),
        tls.and_then(|tls| tls.client_authorities.clone()),
        settings.auth.jwt.as_ref().and_then(|jwt| file(&jwt.jwks)),
        inputs.user_directory.clone(),
    ];
    private(inputs, settings)
        .chain(named.into_iter().flatten())
        .chain(issuers)
        .chain(watched.iter().map(|seen| seen.path.clone()))
        .chain(programs::files(settings, &inputs.variables))
        .collect()
}
