//! Builds the tools and resources from the options, and holds their shared state.

use std::{sync::Arc, time::Duration};

use trunkline_documents::Format;
use trunkline_resilience::FairSlot;
use trunkline_toolbox::{Context, Template, Tool, ToolError};

use super::convert;
use super::convert_url;
use super::converter::{Converted, Converter, SourceFile};
use super::engine::Engine;
use super::export;
use super::handles::Handles;
use super::options::{DocumentsOptions, KeepingLimits};
use super::resources;
use super::work::ExportFormat;
use crate::sandbox::{HardLinks, Sandbox};

/// Time for slots and the store, beside the conversion itself.
const MARGIN: Duration = Duration::from_secs(30);

/// Shared state of the tools.
#[derive(Debug)]
pub(super) struct Documents {
    pub(super) sandbox: Sandbox,
    pub(super) converter: Converter,
    engine: Engine,
    pub(super) handles: Handles,
    pub(super) keeping: KeepingLimits,
}

/// The tools and resources of the pack.
#[derive(Debug)]
pub struct Pack {
    pub tools: Vec<Tool>,
    pub templates: Vec<Template>,
}

/// Builds the pack.
pub fn pack(options: DocumentsOptions) -> Pack {
    let largest = options.conversion.output;
    let documents = Arc::new(Documents {
        sandbox: Sandbox::new(options.roots, options.protected, HardLinks::default()),
        converter: Converter::new(options.program, options.conversion, options.ocr),
        engine: options.engine,
        handles: Handles::new(options.store, options.keeping.clone(), largest),
        keeping: options.keeping,
    });
    let convert = |name, format| convert::tool(&documents, name, format);
    let mut tools = vec![
        convert("convert_pdf", Some(Format::Pdf)),
        convert("convert_docx", Some(Format::Docx)),
        convert("convert_xlsx", Some(Format::Xlsx)),
        convert("convert_pptx", Some(Format::Pptx)),
        convert("convert_document", None),
    ];
    tools.extend(options.fetch.iter().map(|fetch| convert_url::tool(&documents, fetch)));
    let formats = [ExportFormat::Markdown, ExportFormat::Html, ExportFormat::Json];
    tools.extend(formats.map(|to| export::tool(&documents, to)));
    Pack { tools, templates: resources::templates(&documents) }
}

impl Documents {
    /// A slot of the converter for the caller of a tool.
    pub(super) async fn slot(&self, cx: &Context) -> FairSlot {
        self.converter.slot(&cx.caller().id).await
    }

    pub(super) async fn convert(
        &self,
        slot: &FairSlot,
        cx: &Context,
        file: SourceFile<'_>,
    ) -> Result<Converted, ToolError> {
        self.engine.convert(&self.converter, slot, cx, file).await
    }

    /// Time limit of a call that converts a file.
    pub(super) fn longest_call(&self) -> Duration {
        self.converter.limits().longest + MARGIN
    }

    /// Size limit of the text of an answer, with the document in it.
    pub(super) fn result_budget(&self) -> usize {
        self.keeping.inline + (64 << 10)
    }
}
