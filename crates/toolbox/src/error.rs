//! `ToolError`: the failure of a tool, with a hint for the caller.

use trunkline_protocol::{
    Fault, FaultKind, Raw,
    message::{CallToolResult, meta::ERROR_DATA},
};

/// A failure of a tool. It becomes a result with `isError`, so that the model can read it and
/// continue; only a violation of the protocol (a [`Fault`]) becomes a JSON-RPC error.
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
    BadArguments,
    Timeout,
    Known(FaultKind),
    Fault(Fault),
}

impl ToolError {
    /// An error with a message for the model and the user.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(message.into(), Kind::Failed)
    }

    /// The requested thing does not exist. A resource reports this as the protocol's "resource not
    /// found".
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::of(message.into(), Kind::NotFound)
    }

    /// A failure that the catalogue of errors has a row for.
    pub fn known(kind: FaultKind, message: impl Into<String>) -> Self {
        Self::of(message.into(), Kind::Known(kind))
    }

    /// The arguments do not fit the tool's schema.
    pub(crate) fn bad_arguments(message: String) -> Self {
        Self::of(message, Kind::BadArguments)
    }

    /// The tool was stopped at its time limit.
    pub(crate) fn timeout(message: String) -> Self {
        Self::of(message, Kind::Timeout)
    }

    fn of(message: String, kind: Kind) -> Self {
        Self(Box::new(Inner { message, hint: None, detail: None, data: None, kind }))
    }

    /// Adds a hint on what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Adds a detail that is written to the log and not sent to the caller.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds machine-readable data, sent in `_meta`.
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

    /// The detail that is written to the log and not sent to the caller.
    pub fn log_detail(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The text for the model: the message, then the hint.
    pub fn text(&self) -> String {
        match &self.0.hint {
            Some(hint) => format!("{}\n{hint}", self.0.message),
            None => self.0.message.clone(),
        }
    }

    /// The failed result, or the fault if this error wraps one.
    pub(crate) fn into_outcome(self) -> Result<CallToolResult, Fault> {
        if let Kind::Fault(fault) = self.0.kind {
            return Err(fault);
        }
        let kind = match self.0.kind {
            Kind::BadArguments => FaultKind::InvalidRequest,
            Kind::Timeout => FaultKind::Timeout,
            Kind::Known(kind) => kind,
            Kind::Failed | Kind::NotFound | Kind::Fault(_) => FaultKind::ToolFailed,
        };
        let mut result = CallToolResult::failure(kind, self.text());
        if let Some(data) = self.0.data {
            let mut meta = result.meta.as_ref().and_then(Raw::object).unwrap_or_default();
            meta.set(ERROR_DATA, data);
            result.meta = Some(meta.to_raw());
        }
        Ok(result)
    }

    /// As a fault, for prompts, resources and completion, which have no `isError` result.
    pub(crate) fn into_fault(self) -> Fault {
        let text = self.text();
        let fault = match self.0.kind {
            Kind::Fault(fault) => return fault,
            Kind::NotFound => Fault::new(FaultKind::ResourceNotFound, text),
            Kind::BadArguments => Fault::new(FaultKind::InvalidRequest, text),
            Kind::Timeout => Fault::new(FaultKind::Timeout, text),
            Kind::Known(kind) => Fault::new(kind, text),
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
