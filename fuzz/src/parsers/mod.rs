//! The properties of each parser that must hold for any input. The fuzz targets generate inputs;
//! the tests of the workspace check the same properties with the checked-in seeds and mutations of
//! them.

pub mod arguments;
pub mod audit;
pub mod authorization;
pub mod challenge;
pub mod config;
mod cutting;
pub mod document;
pub mod document_docx;
pub mod document_html;
pub mod document_pdf;
pub mod document_pptx;
pub mod document_xlsx;
mod documents;
pub mod envelope;
pub mod gateway;
pub mod header_params;
pub mod header_value;
pub mod http_answer;
pub mod http_request;
pub mod import;
pub mod json;
pub mod names;
pub mod output;
pub mod paths;
pub mod schemas;
pub mod secrets;
pub mod sse;
pub mod stdio;
pub mod template;

/// Checks the properties of a parser for one input; panics if one does not hold.
pub type Holds = fn(&[u8]);

/// All parsers, by the names of their targets.
pub const ALL: &[(&str, Holds)] = &[
    ("arguments", arguments::holds),
    ("audit", audit::holds),
    ("authorization", authorization::holds),
    ("challenge", challenge::holds),
    ("config", config::holds),
    ("document", document::holds),
    ("document_docx", document_docx::holds),
    ("document_html", document_html::holds),
    ("document_pdf", document_pdf::holds),
    ("document_pptx", document_pptx::holds),
    ("document_xlsx", document_xlsx::holds),
    ("envelope", envelope::holds),
    ("gateway", gateway::holds),
    ("header_params", header_params::holds),
    ("header_value", header_value::holds),
    ("http_answer", http_answer::holds),
    ("http_request", http_request::holds),
    ("import", import::holds),
    ("json", json::holds),
    ("names", names::holds),
    ("output", output::holds),
    ("paths", paths::holds),
    ("schemas", schemas::holds),
    ("secrets", secrets::holds),
    ("sse", sse::holds),
    ("stdio", stdio::holds),
    ("template", template::holds),
];
