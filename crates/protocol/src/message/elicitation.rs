//! Elicitation: a server asks the user, with a form or with a web page to visit.

use super::TaskParams;
use crate::{
    Raw,
    view::{view, words},
};

view! {
    /// The parameters of `elicitation/create` for a form; `mode` is `form` or absent.
    pub struct FormParams {
        message: String = "message",
        /// Read it with [`read_form`](super::read_form).
        requested_schema: Raw = "requestedSchema",
    } optional {
        mode: String = "mode",
        /// 2025-11-25.
        task: TaskParams = "task",
        meta: Raw = "_meta",
    }

    /// The parameters of `elicitation/create` for a web page. The URL is untrusted: show it in
    /// full and never fetch it.
    pub struct UrlParams tagged "mode" = "url" {
        message: String = "message",
        url: String = "url",
    } optional {
        /// 2025-11-25 only.
        elicitation_id: String = "elicitationId",
        /// 2025-11-25.
        task: TaskParams = "task",
        meta: Raw = "_meta",
    }

    /// The result of `elicitation/create`. Only an accepted form has `content`; in URL mode
    /// `accept` means consent, not completion.
    pub struct ElicitResult {
        action: Action = "action",
    } optional {
        content: Raw = "content",
        meta: Raw = "_meta",
    }

    /// `notifications/elicitation/complete` of 2025-11-25.
    pub struct ElicitationComplete {
        elicitation_id: String = "elicitationId",
    } optional {
        meta: Raw = "_meta",
    }
}

words! {
    /// The user's decision.
    pub enum Action {
        Accept = "accept",
        Decline = "decline",
        Cancel = "cancel",
    }
}

/// The parameters of `elicitation/create`, by mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicitation {
    Form(FormParams),
    Url(UrlParams),
    /// A mode of a later revision. The caller refuses it with −32602.
    UnknownMode(String),
}

impl Elicitation {
    /// Reads the parameters of `elicitation/create`.
    pub fn read(params: &Raw) -> Result<Self, serde_json::Error> {
        match params.member("mode").filter(|mode| !mode.is_null()) {
            None => params.decode().map(Self::Form),
            Some(mode) => match mode.decode::<String>()?.as_str() {
                "form" => params.decode().map(Self::Form),
                "url" => params.decode().map(Self::Url),
                other => Ok(Self::UnknownMode(other.to_owned())),
            },
        }
    }
}

impl ElicitResult {
    pub fn accept(content: Option<Raw>) -> Self {
        Self { content, ..Self::new(Action::Accept) }
    }

    pub fn decline() -> Self {
        Self::new(Action::Decline)
    }

    pub fn cancel() -> Self {
        Self::new(Action::Cancel)
    }
}
