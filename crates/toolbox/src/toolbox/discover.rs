//! `server/discover`: the server's name, version and capabilities.

use super::Inner;
use serde_json::json;
use trunkline_protocol::{
    Raw, Revision,
    message::{
        DiscoverResult, ListCapability, ResourcesCapability, ServerCapabilities, TASKS_EXTENSION, meta,
    },
};

impl Inner {
    pub(super) fn discover(&self) -> Raw {
        let versions: Vec<String> = Revision::ALL.iter().rev().map(ToString::to_string).collect();
        let mut result = DiscoverResult::new(versions, self.capabilities());
        result.instructions.clone_from(&self.instructions);
        meta::set(Some(&result.to_raw()), [(meta::SERVER_INFO, self.info.to_raw())])
            .expect("a result is an object, and its `_meta` is absent")
    }

    /// The resources capability is always declared, because truncated results are read as
    /// resources.
    fn capabilities(&self) -> ServerCapabilities {
        let catalog = self.catalog();
        let list = || ListCapability { list_changed: Some(true), ..ListCapability::default() };
        ServerCapabilities {
            tools: Some(list()),
            resources: Some(ResourcesCapability {
                subscribe: Some(true),
                list_changed: Some(true),
                ..ResourcesCapability::default()
            }),
            prompts: (!catalog.prompts.is_empty()).then(list),
            completions: catalog.has_completion().then(Raw::empty_object),
            logging: Some(Raw::empty_object()),
            extensions: catalog.has_tasks().then(|| json!({TASKS_EXTENSION: {}}).into()),
            ..ServerCapabilities::default()
        }
    }
}
