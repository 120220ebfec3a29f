//! `ToolError`: why a tool could not do what was asked, told so that the caller can do better.

use trunkline_protocol::{
    Fault, FaultKind, Object, Raw,
    message::{CallToolResult, ContentBlock},
};

/// A failure of a tool. It becomes a result with `isError`, because the model shall read it and go on; only what breaks
/// the protocol itself (a [`Fault`]) becomes a JSON-RPC error.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", self.0.message)]
pub struct ToolError(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    message: String,
    hint: Option<String>,
    detail: Option<String>,
    data: Option<Raw>,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Failed,
    NotFound,
    Fault(Fault),
}

/// Under this key of `_meta` stands what a failed result tells a program.
const ERROR_META: &str = "trunkline/error";

impl ToolError {
    /// What happened, for the model and the person before it.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(message.into(), Kind::Failed)
    }

    /// What was asked for does not exist; from a resource this is the protocol's "resource not found".
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::of(message.into(), Kind::NotFound)
    }

    fn of(message: String, kind: Kind) -> Self {
        Self(Box::new(Inner { message, hint: None, detail: None, data: None, kind }))
    }

    /// What to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// What only the log may see.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Facts for a program, sent along in `_meta`.
    #[must_use]
    pub fn data(mut self, data: Raw) -> Self {
        self.0.data = Some(data);
        self
    }

    pub fn message(&self) -> &str {
        &self.0.message
    }

    pub fn next_step(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// What only the log may see.
    pub fn log_detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The text as the model reads it: what happened, then what to do.
    pub fn text(&self) -> String {
        match &self.0.hint {
            Some(hint) => format!("{}\n{hint}", self.0.message),
            None => self.0.message.clone(),
        }
    }

    /// The failed result, or the fault where the protocol itself is concerned.
    pub(crate) fn into_outcome(self) -> Result<CallToolResult, Fault> {
        if let Kind::Fault(fault) = self.0.kind {
            return Err(fault);
        }
        let meta = self.0.data.clone().map(|data| {
            let mut meta = Object::new();
            meta.set(ERROR_META, data);
            meta.to_raw()
        });
        Ok(CallToolResult {
            content: Some(vec![ContentBlock::text(self.text())]),
            is_error: Some(true),
            meta,
            ..CallToolResult::default()
        })
    }

    /// As a fault, where there is no such thing as a failed result: prompts, resources, completion.
    pub(crate) fn into_fault(self) -> Fault {
        let text = self.text();
        let fault = match self.0.kind {
            Kind::Fault(fault) => return fault,
            Kind::NotFound => Fault::new(FaultKind::ResourceNotFound, text),
            Kind::Failed => Fault::new(FaultKind::Unavailable, text),
        };
        let fault = match self.0.data {
            Some(data) => fault.with_data(data),
            None => fault,
        };
        match self.0.detail {
            Some(detail) => fault.with_detail(detail),
            None => fault,
        }
    }
}

impl From<Fault> for ToolError {
    fn from(fault: Fault) -> Self {
        Self::of(fault.message().to_owned(), Kind::Fault(fault))
    }
}
