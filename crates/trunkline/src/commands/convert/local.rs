//! Converts in child processes of this program.

use super::job::Convert;
use crate::{environment::Environment, failure::Failure, wire::documents::converting};
use trunkline_config::Documents;
use trunkline_documents::Format;
use trunkline_packs::documents::{
    Converter, DocumentFailure, ExportFormat, ExportStyle, FetchUrl, Part, format_of_file, format_of_url,
};

pub(super) struct Local {
    converter: Converter,
    fetcher: converting::UrlFetcher,
}

impl Local {
    pub(super) fn new(settings: &Documents, environment: &Environment) -> Result<Self, Failure> {
        let ocr = converting::ocr(settings, environment);
        let converter = Converter::new(converting::program()?, converting::conversion(settings), ocr);
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
        let converted = self.converter.convert(bytes, format, name).await?;
        self.converter.export_in(&converted.json, to, Part::Whole, ExportStyle::Reading).await
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
