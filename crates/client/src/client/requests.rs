//! Requests that have one response and no options.

use super::{Client, driver::read};
use crate::era::Ask;
use serde::Serialize;
use trunkline_protocol::{
    Era, Fault, FaultKind, Notification, Object, Outcome, Raw,
    message::{CompleteParams, CompleteResult, GetPromptResult, Level, ReadResourceResult},
    method,
};

impl Client {
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, Fault> {
        self.needs("resources")?;
        let result = self.send(Ask::new(method::RESOURCES_READ, one("uri", uri))).await?;
        read(&result, method::RESOURCES_READ)
    }

    pub async fn prompt(
        &self,
        name: &str,
        arguments: Vec<(String, String)>,
    ) -> Result<GetPromptResult, Fault> {
        self.needs("prompts")?;
        let mut params = one("name", name);
        if !arguments.is_empty() {
            let arguments: Object =
                arguments.iter().map(|(name, value)| (name.clone(), Raw::string(value))).collect();
            params.set("arguments", arguments.to_raw());
        }
        let result = self.send(Ask::new(method::PROMPTS_GET, params)).await?;
        read(&result, method::PROMPTS_GET)
    }

    /// Requests completions of an argument. Servers of 2024-11-05 cannot declare this capability,
    /// so for them it is not checked.
    pub async fn complete(&self, params: CompleteParams) -> Result<CompleteResult, Fault> {
        if self.server().revision.declares_completions() {
            self.needs("completions")?;
        }
        let result = self.send(Ask::new(method::COMPLETE, object_of(&params)?)).await?;
        read(&result, method::COMPLETE)
    }

    /// Checks that the server answers. The modern era has no `ping`, so `server/discover` is sent.
    pub async fn ping(&self) -> Result<(), Fault> {
        let name = match self.server().era() {
            Era::Legacy => method::PING,
            Era::Modern => method::DISCOVER,
        };
        self.send(Ask::new(name, Object::new())).await.map(drop)
    }

    /// Sets the log level: by a request in the legacy era, by a `_meta` member of each later
    /// request in the modern one.
    pub async fn set_log_level(&self, level: Level) -> Result<(), Fault> {
        self.needs("logging")?;
        match self.server().era() {
            Era::Modern => self.0.connection.set_level(level.as_str()),
            Era::Legacy => {
                self.send(Ask::new(method::SET_LEVEL, one("level", level.as_str()))).await?;
            }
        }
        Ok(())
    }

    /// Notifies a legacy server that the roots changed; a modern one asks for them each time.
    pub async fn roots_changed(&self) -> Result<(), Fault> {
        match self.server().era() {
            Era::Modern => Ok(()),
            Era::Legacy => {
                self.0.connection.notify_server(Notification::new(method::ROOTS_CHANGED, None)).await
            }
        }
    }

    /// Sends a request of any method. The host answers questions; the outcome is the final result.
    pub async fn ask(&self, name: &str, params: Object) -> Outcome {
        self.send(Ask::new(name.to_owned(), params)).await
    }
}

pub(super) fn one(name: &'static str, value: &str) -> Object {
    let mut params = Object::new();
    params.set(name, Raw::string(value));
    params
}

pub(super) fn object_of<T: Serialize>(params: &T) -> Result<Object, Fault> {
    let raw = Raw::encode(params).map_err(|e| Fault::new(FaultKind::InvalidRequest, e.to_string()))?;
    Ok(raw.object().unwrap_or_default())
}
