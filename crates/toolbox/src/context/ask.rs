//! How a running call asks: the user, the user's model, the client.
//!
//! While a question is open the call gives up its slot and its clock stands still. A client that did not declare that it can
//! answer is never asked: the call fails with what it would have needed.

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

/// What the user did with a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elicited<T> {
    Accepted(T),
    Declined,
    Cancelled,
}

impl Context {
    /// The same call, whose next question has this name. Names matter to clients that answer before they are asked.
    #[must_use]
    pub fn question(&self, key: impl Into<Arc<str>>) -> Self {
        Self { shared: Arc::clone(&self.shared), key: Some(key.into()) }
    }

    /// Has the user fill in a form whose fields come from the type: texts, numbers, booleans and choices, not nested.
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

    /// Has the user fill in a form.
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

    /// Has the user visit a page. Accepting is consent to go there, not word that they are done.
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

    /// Asks the client's model.
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

    /// The places the client lets us know of. They are advice, not access control.
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

    /// The answer to the next question, where it came with the request.
    ///
    /// Whoever serves us keeps the state of calls that ask this way and resumes them by it. So a state that comes through to
    /// here was made up.
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

    /// Asks any question, without a look at what the client declared, and waits for the answer.
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
        self.shared.seat.leave();
        let heard = tokio::select! {
            heard = tokio::time::timeout(self.shared.answer_time, heard) => heard,
            () = self.cancelled() => return Err(ToolError::new("the call is over")),
        };
        drop(pause);
        let outcome = heard.map_err(|_| unanswered(&method))?.map_err(|_| unanswered(&method))?;
        self.shared.seat.take().await.map_err(|full| {
            ToolError::new(format!("the server is busy: {full}")).hint("Wait a moment, then call again")
        })?;
        outcome.map_err(|fault| {
            ToolError::new(format!("the client refused `{method}`: {}", fault.message()))
                .hint("Go on without the answer, or ask the user")
        })
    }
}

fn unanswered(method: &str) -> ToolError {
    ToolError::new(format!("nobody answered `{method}` in time")).hint("Call again when somebody can answer")
}

fn missing(capabilities: &serde_json::Value) -> ToolError {
    let data = json!({"requiredCapabilities": capabilities});
    let message = format!("this needs a client that declares {capabilities}");
    Fault::new(FaultKind::ClientCapabilityMissing, message).with_data(data.into()).into()
}
