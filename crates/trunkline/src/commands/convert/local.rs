//! Converts in child processes of this program.

use super::job::Convert;
use crate::{environment::Environment, failure::Failure, wire::documents::converting};
use trunkline_config::Documents;
use trunkline_documents::Format;
use trunkline_packs::documents::{
    ConversionLimits, Converter, DocumentFailure, ExportFormat, ExportStyle, FetchUrl, SourceFile, Written,
    format_of_file, format_of_url,
};
use trunkline_protocol::FaultKind;

/// The name of the only caller.
const CALLER: &str = "local";

pub(super) struct Local {
    converter: Converter,
    fetcher: converting::UrlFetcher,
}

impl Local {
    pub(super) fn new(settings: &Documents, environment: &Environment) -> Result<Self, Failure> {
        let ocr = converting::ocr(settings, environment);
        let limits = converting::conversion(settings);
        // There are no others whom this caller could delay.
        let limits = ConversionLimits { per_caller: Some(limits.concurrency), ..limits };
        let converter = Converter::new(converting::program()?, limits, ocr);
        Ok(Self { converter, fetcher: converting::fetcher(&settings.fetch)? })
    }

    pub(super) fn concurrency(&self) -> usize {
        self.converter.limits().concurrency
    }

    async fn convert(
        &self,
        bytes: &[u8],
        format: Format,
        name: Option<&str>,
        to: ExportFormat,
    ) -> Result<String, DocumentFailure> {
        let slot = self.converter.slot(CALLER).await;
        let written = Written { to, style: ExportStyle::Reading };
        let (_, document) =
            self.converter.convert_to(&slot, SourceFile { bytes, format, name }, written).await?;
        String::from_utf8(document)
            .map_err(|_| DocumentFailure::new(FaultKind::ConversionFailed, "the document is not UTF-8"))
    }
}

impl Convert for Local {
    fn largest(&self) -> u64 {
        self.converter.limits().file
    }

    async fn file(
        &self,
        bytes: Vec<u8>,
        name: Option<&str>,
        to: ExportFormat,
    ) -> Result<String, DocumentFailure> {
        let format = format_of_file(name, &bytes)?;
        self.convert(&bytes, format, name, to).await
    }

    async fn url(&self, url: &str, to: ExportFormat) -> Result<String, DocumentFailure> {
        let fetched = self.fetcher.fetch(url.to_owned()).await?;
        let format = format_of_url(&fetched)?;
        self.convert(&fetched.bytes, format, fetched.name(), to).await
    }
}
