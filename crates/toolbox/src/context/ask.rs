//! Requests from a running call to its client: elicitation, sampling and roots.
//!
//! While a request is open the call releases its slot and its clock is paused. A client that did
//! not declare the capability is never asked: the call fails and names the missing capability.

use super::{Context, Item};
use crate::{ToolError, schema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::{borrow::Cow, sync::Arc};
use tokio::sync::oneshot;
use trunkline_protocol::{
    Fault, FaultKind, Question, Raw,
    message::{
        Action, CreateMessageParams, CreateMessageResult, ElicitResult, FormParams, ListRootsResult, Root,
        UrlParams,
    },
    method,
};

/// The user's reaction to a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicited<T> {
    Accepted(T),
    Declined,
    Cancelled,
}

impl Context {
    /// The same call, with this key for its next question. A client that sends `inputResponses`
    /// with the request matches its answers to questions by key.
    #[must_use]
    pub fn question(&self, key: impl Into<Arc<str>>) -> Self {
        Self { shared: Arc::clone(&self.shared), key: Some(key.into()) }
    }

    /// Asks the user to fill in a form. Its fields come from `T`: strings, numbers, booleans and
    /// enums, not nested.
    pub async fn elicit<T: JsonSchema + DeserializeOwned>(
        &self,
        message: impl Into<String>,
    ) -> Result<Elicited<T>, ToolError> {
        let answer = self.elicit_form(message, schema::of_form::<T>()).await?;
        match (&answer.action, &answer.content) {
            (Action::Accept, Some(content)) => content
                .decode()
                .map(Elicited::Accepted)
                .map_err(|e| ToolError::new(format!("the answer does not fit the form: {e}"))),
            (Action::Accept, None) => Err(ToolError::new("the form was accepted without its content")),
            (Action::Decline, _) => Ok(Elicited::Declined),
            _ => Ok(Elicited::Cancelled),
        }
    }

    /// Asks the user to fill in a form with a schema written by hand.
    pub async fn elicit_form(
        &self,
        message: impl Into<String>,
        requested_schema: Raw,
    ) -> Result<ElicitResult, ToolError> {
        let elicitation = self.client_capabilities().and_then(|c| c.elicitation.as_ref());
        if !elicitation.is_some_and(trunkline_protocol::message::ElicitationCapability::has_form) {
            return Err(missing(&json!({"elicitation": {"form": {}}})));
        }
        let mut params = FormParams::new(message, requested_schema);
        params.mode = Some("form".to_owned());
        self.ask_for(method::ELICIT, Some(params.to_raw())).await
    }

    /// Asks the user to open a page. `Accept` is consent to open it; it does not mean that the
    /// user has finished there.
    pub async fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<ElicitResult, ToolError> {
        let elicitation = self.client_capabilities().and_then(|c| c.elicitation.as_ref());
        if !elicitation.is_some_and(trunkline_protocol::message::ElicitationCapability::has_url) {
            return Err(missing(&json!({"elicitation": {"url": {}}})));
        }
        self.ask_for(method::ELICIT, Some(UrlParams::new(message, url).to_raw())).await
    }

    /// Asks the client's model (`sampling/createMessage`).
    pub async fn sample(&self, params: CreateMessageParams) -> Result<CreateMessageResult, ToolError> {
        let sampling = self.client_capabilities().and_then(|c| c.sampling.as_ref());
        match sampling {
            None => return Err(missing(&json!({"sampling": {}}))),
            Some(sampling) if params.tools.is_some() && sampling.tools.is_none() => {
                return Err(missing(&json!({"sampling": {"tools": {}}})));
            }
            Some(_) => {}
        }
        self.ask_for(method::CREATE_MESSAGE, Some(params.to_raw())).await
    }

    /// The client's roots. They are advice, not access control.
    pub async fn roots(&self) -> Result<Vec<Root>, ToolError> {
        if self.client_capabilities().is_none_or(|c| c.roots.is_none()) {
            return Err(missing(&json!({"roots": {}})));
        }
        let roots: ListRootsResult = self.ask_for(method::ROOTS_LIST, None).await?;
        Ok(roots.items().0)
    }

    async fn ask_for<T: DeserializeOwned>(
        &self,
        method: &'static str,
        params: Option<Raw>,
    ) -> Result<T, ToolError> {
        let answer = self.ask(method, params).await?;
        answer
            .decode()
            .map_err(|e| ToolError::new(format!("the client's answer to `{method}` cannot be read: {e}")))
    }

    /// The answer to the next question, if the request already contains it.
    ///
    /// The serving layer stores the state of suspended calls and resumes them itself, so a
    /// `requestState` that reaches this point was not issued by this server.
    fn answered_before(&self) -> Result<Option<Raw>, ToolError> {
        if self.request_state().is_some() {
            let fault = "`requestState` is not one that was given for this call";
            return Err(Fault::new(FaultKind::InvalidRequest, fault).into());
        }
        let answer = self.key.as_ref().and_then(|key| self.input_responses()?.get(key).cloned());
        match answer {
            Some(answer) if !answer.is_object() => {
                Err(Fault::new(FaultKind::InvalidRequest, "an input response is not an object").into())
            }
            answer => Ok(answer),
        }
    }

    /// Sends any request to the client without checking its capabilities, and waits for the
    /// answer.
    pub async fn ask(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: Option<Raw>,
    ) -> Result<Raw, ToolError> {
        let method = method.into();
        if let Some(answer) = self.answered_before()? {
            return Ok(answer);
        }
        let (tell, heard) = oneshot::channel();
        let mut question = Question::new(method.clone(), params, move |outcome| drop(tell.send(outcome)));
        question.key = self.key.as_deref().map(str::to_owned);
        let pause = self.shared.clock.pause();
        self.shared.outbox.push(Item::Question(question));
        self.shared.slot.release();
        let heard = tokio::select! {
            heard = tokio::time::timeout(self.shared.answer_time, heard) => heard,
            () = self.cancelled() => return Err(ToolError::new("the call is over")),
        };
        drop(pause);
        let outcome = heard.map_err(|_| unanswered(&method))?.map_err(|_| unanswered(&method))?;
        self.shared.slot.take().await.map_err(|full| {
            ToolError::new(format!("the server is busy: {full}")).hint("Wait a moment, then call again")
        })?;
        outcome.map_err(|fault| {
            ToolError::new(format!("the client refused `{method}`: {}", fault.message()))
                .hint("Go on without the answer, or ask the user")
        })
    }
}

fn unanswered(method: &str) -> ToolError {
    ToolError::new(format!("nobody answered `{method}` in time")).hint("Call again when the user can answer")
}

fn missing(capabilities: &serde_json::Value) -> ToolError {
    let data = json!({"requiredCapabilities": capabilities});
    let message = format!("this needs a client that declares {capabilities}");
    Fault::new(FaultKind::ClientCapabilityMissing, message).with_data(data.into()).into()
}
