//! Turns settings into the documents pack.

use super::packs::Offered;
use crate::{environment::Environment, failure::Failure};
use std::{sync::Arc, time::Duration};
use trunkline_config::Documents;
use trunkline_packs::sandbox::{Protected, Roots};
use trunkline_store::Store;

/// The parts of the pack that do not depend on its directories.
pub(crate) struct DocumentParts<'a> {
    pub(crate) settings: &'a Documents,
    pub(crate) store: &'a Arc<dyn Store>,
    pub(crate) environment: &'a Environment,
}

/// Time for the queue, the fetch of a URL and the store, beside the longest conversion.
const BESIDE_CONVERSION: Duration = Duration::from_mins(3);

impl DocumentParts<'_> {
    /// Time limit of a call of these tools. They have shorter ones of their own, by size.
    pub(super) fn longest_call(&self) -> Duration {
        self.settings.timeout + BESIDE_CONVERSION
    }
}

/// The tools and resources of the pack.
#[cfg(feature = "documents")]
pub(super) fn offered(
    parts: &DocumentParts<'_>,
    roots: &Roots,
    protected: Protected,
) -> Result<Offered, Failure> {
    Ok(trunkline_packs::documents::pack(converting::options(parts, roots, protected)?).into())
}

/// Without the feature, there are no tools for documents.
#[cfg(not(feature = "documents"))]
pub(super) fn offered(parts: &DocumentParts<'_>, _: &Roots, _: Protected) -> Result<Offered, Failure> {
    let DocumentParts { settings, store, .. } = parts;
    tracing::debug!(?settings, ?store, "this build cannot convert documents");
    Ok(Offered::default())
}

#[cfg(feature = "documents")]
pub(crate) mod converting {
    //! The converter and the fetcher, which `trunkline convert` uses, too.

    use super::DocumentParts;
    use crate::{
        environment::{self, Environment},
        failure::Failure,
    };
    use futures_util::future::BoxFuture;
    use http::{HeaderMap, header};
    use std::{path::PathBuf, sync::Arc};
    use trunkline_config::{DocumentFetch, Documents, OcrSetting};
    use trunkline_packs::{
        documents::{
            ConversionLimits, DocumentFailure, DocumentsOptions, Engine, FetchUrl, FetchedUrl, KeepingLimits,
            Ocr, OcrPrograms,
        },
        sandbox::{Protected, Roots},
    };
    use trunkline_process::{DEFAULT_PATH, is_executable, search_path};
    use trunkline_protocol::FaultKind;
    use trunkline_transport::{
        foreign::{AddressGuard, AllowedHosts, FetchLimits, Fetched, ForeignError, ForeignFetcher},
        http::HttpOptions,
    };

    /// The program to start as a child: this one, even if its file was replaced meanwhile.
    pub(crate) fn program() -> Result<PathBuf, Failure> {
        let own = PathBuf::from(format!("/proc/{}/exe", std::process::id()));
        if own.exists() {
            return Ok(own);
        }
        std::env::current_exe()
            .map_err(|error| Failure::usage(format!("the path of this program is not known: {error}")))
    }

    pub(in crate::wire) fn options(
        parts: &DocumentParts<'_>,
        roots: &Roots,
        protected: Protected,
    ) -> Result<DocumentsOptions, Failure> {
        Ok(DocumentsOptions {
            roots: roots.clone(),
            protected,
            program: program()?,
            engine: Engine::Child,
            ocr: ocr(parts.settings, parts.environment),
            conversion: conversion(parts.settings),
            keeping: keeping(parts.settings),
            store: Arc::clone(parts.store),
            fetch: Some(Arc::new(fetcher(&parts.settings.fetch)?)),
        })
    }

    /// The programs that recognise text, if they are on the PATH.
    pub(crate) fn ocr(settings: &Documents, environment: &Environment) -> Ocr {
        if settings.ocr == OcrSetting::Off {
            return Ocr::Off;
        }
        let path = environment.get(environment::PATH).unwrap_or(DEFAULT_PATH);
        let places = search_path(path.as_ref());
        let find = |program: &str| {
            places.iter().map(|place| place.join(program)).find(|program| is_executable(program))
        };
        let Some(tesseract) = find("tesseract") else { return Ocr::Missing };
        let variable = |name: &str| Some((name.to_owned(), environment.get_filled(name)?.to_owned()));
        Ocr::With(OcrPrograms {
            tesseract,
            pdftoppm: find("pdftoppm"),
            languages: settings.ocr_languages.clone(),
            pages: settings.ocr_pages,
            variables: environment::OCR.iter().filter_map(|name| variable(name)).collect(),
        })
    }

    pub(crate) fn conversion(settings: &Documents) -> ConversionLimits {
        ConversionLimits {
            file: settings.file_bytes,
            memory: settings.memory_bytes,
            output: bytes(settings.output_bytes),
            concurrency: super::super::serve::size(settings.concurrency),
            per_caller: settings.concurrency_per_caller.map(super::super::serve::size),
            longest: settings.timeout,
        }
    }

    pub(super) fn keeping(settings: &Documents) -> KeepingLimits {
        KeepingLimits {
            inline: bytes(settings.inline_bytes),
            lifetime: settings.keep,
            per_caller: settings.kept_bytes_per_caller,
            total: settings.kept_bytes,
        }
    }

    pub(crate) fn fetcher(settings: &DocumentFetch) -> Result<UrlFetcher, Failure> {
        let allowed = AllowedHosts::parse(settings.allow.iter().map(String::as_str))
            .map_err(|error| Failure::usage(format!("documents.fetch.allow: {error}")))?;
        let limits = FetchLimits {
            body: bytes(settings.bytes),
            silence: settings.silence,
            total: settings.timeout,
            ..FetchLimits::default()
        };
        Ok(UrlFetcher(ForeignFetcher::new(AddressGuard::new(allowed), HttpOptions::default(), limits)))
    }

    fn bytes(number: u64) -> usize {
        usize::try_from(number).unwrap_or(usize::MAX)
    }

    /// Fetches URLs for the pack.
    #[derive(Debug)]
    pub(crate) struct UrlFetcher(ForeignFetcher);

    impl FetchUrl for UrlFetcher {
        fn fetch(&self, url: String) -> BoxFuture<'static, Result<FetchedUrl, DocumentFailure>> {
            let fetcher = self.0.clone();
            Box::pin(async move {
                let fetched = fetcher.fetch(&url, HeaderMap::new()).await.map_err(|error| failure(&error))?;
                let Fetched { url, headers, body } = fetched;
                let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
                let media_type = media_type
                    .and_then(|value| value.split(';').next())
                    .map(|value| value.trim().to_ascii_lowercase());
                Ok(FetchedUrl { url: url.into(), media_type, bytes: body })
            })
        }
    }

    fn failure(error: &ForeignError) -> DocumentFailure {
        let kind = match error {
            ForeignError::InvalidUrl(_) => FaultKind::UrlInvalid,
            ForeignError::TooManyRedirects { .. }
            | ForeignError::Downgrade
            | ForeignError::BadRedirect(_)
            | ForeignError::Coding { .. } => FaultKind::UrlRefused,
            ForeignError::TooLarge { .. } => FaultKind::FileTooLarge,
            _ => FaultKind::UrlUnreachable,
        };
        let failure = DocumentFailure::new(kind, error.to_string()).detail(chain(error));
        match error {
            ForeignError::Unreachable(_) => failure
                .hint("check the URL; hosts that are not public must be listed in `documents.fetch.allow`"),
            ForeignError::TooLarge { .. } => failure.hint("raise `documents.fetch.bytes`, or pass the file"),
            _ => failure,
        }
    }

    /// An error with its sources, for the log.
    fn chain(error: &dyn std::error::Error) -> String {
        let sources = std::iter::successors(Some(error), |error| error.source());
        sources.map(ToString::to_string).collect::<Vec<_>>().join(": ")
    }
}
