//! Identity and capabilities of client and server: `initialize` and `server/discover`.

use super::{CacheScope, Icon};
use crate::{Number, Raw, view::view};

view! {
    /// Name and version that a program reports about itself. Not verified, so no decision may
    /// depend on it.
    pub struct Implementation {
        name: String = "name",
        version: String = "version",
    } optional {
        title: String = "title",
        description: String = "description",
        icons: Vec<Icon> = "icons",
        website_url: String = "websiteUrl",
    }

    /// The parameters of `initialize`.
    pub struct InitializeParams {
        protocol_version: String = "protocolVersion",
        capabilities: ClientCapabilities = "capabilities",
        client_info: Implementation = "clientInfo",
    } optional {
        meta: Raw = "_meta",
    }

    /// The result of `initialize`.
    pub struct InitializeResult {
        protocol_version: String = "protocolVersion",
        capabilities: ServerCapabilities = "capabilities",
        server_info: Implementation = "serverInfo",
    } optional {
        instructions: String = "instructions",
        meta: Raw = "_meta",
    }

    /// The result of `server/discover`. The server's identity is in `_meta`.
    pub struct DiscoverResult {
        supported_versions: Vec<String> = "supportedVersions",
        capabilities: ServerCapabilities = "capabilities",
    } optional {
        instructions: String = "instructions",
        result_type: String = "resultType",
        ttl_ms: Number = "ttlMs",
        cache_scope: CacheScope = "cacheScope",
        meta: Raw = "_meta",
    }

    /// The capabilities of a client.
    pub struct ClientCapabilities {
    } optional {
        roots: ListCapability = "roots",
        sampling: SamplingCapability = "sampling",
        elicitation: ElicitationCapability = "elicitation",
        /// 2025-11-25.
        tasks: TasksCapability = "tasks",
        /// An object: extension → its settings.
        extensions: Raw = "extensions",
        experimental: Raw = "experimental",
    }

    /// The capabilities of a server.
    pub struct ServerCapabilities {
    } optional {
        tools: ListCapability = "tools",
        resources: ResourcesCapability = "resources",
        prompts: ListCapability = "prompts",
        completions: Raw = "completions",
        logging: Raw = "logging",
        /// 2025-11-25.
        tasks: TasksCapability = "tasks",
        /// An object: extension → its settings.
        extensions: Raw = "extensions",
        experimental: Raw = "experimental",
    }

    /// The server has this list and may announce when it changes.
    pub struct ListCapability {
    } optional {
        list_changed: bool = "listChanged",
    }

    /// The server has resources and may support subscriptions to single ones.
    pub struct ResourcesCapability {
    } optional {
        subscribe: bool = "subscribe",
        list_changed: bool = "listChanged",
    }

    /// The client can query a model.
    pub struct SamplingCapability {
    } optional {
        context: Raw = "context",
        tools: Raw = "tools",
    }

    /// The client can ask the user.
    pub struct ElicitationCapability {
    } optional {
        form: Raw = "form",
        url: Raw = "url",
    }

    /// Requests can be run as tasks, in 2025-11-25.
    pub struct TasksCapability {
    } optional {
        list: Raw = "list",
        cancel: Raw = "cancel",
        /// An object: area → method → object, such as `{"tools":{"call":{}}}`.
        requests: Raw = "requests",
    }
}

impl ClientCapabilities {
    /// The settings of an extension; `None` if it is not declared.
    pub fn extension(&self, name: &str) -> Option<Raw> {
        self.extensions.as_ref()?.member(name)
    }
}

impl ServerCapabilities {
    /// The settings of an extension; `None` if it is not declared.
    pub fn extension(&self, name: &str) -> Option<Raw> {
        self.extensions.as_ref()?.member(name)
    }
}

impl ElicitationCapability {
    /// True if forms are supported. An empty object means forms only, because forms existed before
    /// the modes.
    pub fn has_form(&self) -> bool {
        declared(self.form.as_ref()) || !self.has_url()
    }

    pub fn has_url(&self) -> bool {
        declared(self.url.as_ref())
    }
}

impl TasksCapability {
    /// True if requests of this method, such as `tools/call`, can be run as tasks.
    pub fn covers(&self, method: &str) -> bool {
        let Some((area, verb)) = method.split_once('/') else { return false };
        let declaration = self.requests.as_ref().and_then(|r| r.member(area)?.member(verb));
        declared(declaration.as_ref())
    }
}

fn declared(capability: Option<&Raw>) -> bool {
    capability.is_some_and(Raw::is_object)
}
