//! Completion: suggested values for a partly typed argument.

use crate::{Context, ToolError};
use futures_util::{FutureExt, future::BoxFuture};
use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

/// A request to complete one argument.
#[derive(Debug, Clone)]
pub struct CompletionRequest {
    /// The argument or variable.
    pub argument: String,
    /// The text typed so far.
    pub value: String,
    /// Arguments that are already filled in, by name.
    pub arguments: BTreeMap<String, String>,
}

pub(crate) type Completer = Arc<
    dyn Fn(Context, CompletionRequest) -> BoxFuture<'static, Result<Vec<String>, ToolError>> + Send + Sync,
>;

/// The completers of a prompt or a template, by argument.
#[derive(Clone, Default)]
pub(crate) struct Completers(HashMap<String, Completer>);

impl Completers {
    pub(crate) fn add<F, Fut>(&mut self, argument: String, completer: F)
    where
        F: Fn(Context, CompletionRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<String>, ToolError>> + Send + 'static,
    {
        self.0.insert(argument, Arc::new(move |cx, request| completer(cx, request).boxed()));
    }

    pub(crate) fn add_values(&mut self, argument: String, values: Vec<String>) {
        self.add(argument, move |_, request| {
            let fits = values.iter().filter(|value| value.starts_with(&request.value));
            std::future::ready(Ok(fits.cloned().collect()))
        });
    }

    pub(crate) fn get(&self, argument: &str) -> Option<Completer> {
        self.0.get(argument).cloned()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Completers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completers").field("len", &self.0.len()).finish()
    }
}
