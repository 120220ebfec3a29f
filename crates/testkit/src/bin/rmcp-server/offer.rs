//! The `ServerHandler`: resources, prompts, completion, subscriptions and tasks.

use crate::{
    shared_state::{Change, SharedState},
    tools,
};
use parking_lot::{Mutex, MutexGuard};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams, CompleteResult,
        CompletionInfo, GetPromptRequestParams, GetPromptResponse, GetPromptResult, GetTaskParams,
        GetTaskResult, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, LoggingLevel, PaginatedRequestParams, PromptMessage, ProtocolVersion,
        ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents, Role,
        ServerCapabilities, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext},
};
use serde_json::json;
use std::{
    borrow::Cow,
    collections::{HashSet, VecDeque},
    sync::Arc,
};
use tokio::sync::broadcast;

pub(crate) const NOTE: &str = "note://hello";
const NOTE_TEXT: &str = "hello from a note";
/// Long enough that a client lists again only after a change notification.
const LIST_TTL_MS: u64 = 600_000;
const NAMES: [&str; 3] = ["Ada", "Adele", "Grace"];
/// Cursors of the pages of the resource list; that of the second page is the empty string.
const PAGES: [Option<&str>; 3] = [None, Some(""), Some("last")];

/// The handler of one session, or of one modern request.
pub(crate) struct Peer {
    pub(crate) shared: Arc<SharedState>,
    versions: Vec<ProtocolVersion>,
    session: Mutex<Session>,
    /// Subscriptions made before a listener's acknowledgement is sent, since a change may follow
    /// it at once.
    pending_subscriptions: Mutex<VecDeque<broadcast::Receiver<Change>>>,
}

/// State of a legacy client's session.
#[derive(Default)]
struct Session {
    level: Option<LoggingLevel>,
    subscribed: HashSet<String>,
    visited: bool,
}

pub(crate) fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

impl Peer {
    pub(crate) fn new(shared: Arc<SharedState>, versions: Vec<ProtocolVersion>) -> Self {
        Self { shared, versions, session: Mutex::default(), pending_subscriptions: Mutex::default() }
    }

    /// Returns the minimum level of log messages for this caller. A modern caller gives it in its
    /// request; without it, it gets none.
    pub(crate) fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if is_modern(context) { context.meta.log_level() } else { self.session(|session| session.level) }
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.session(|session| session.subscribed.contains(uri))
    }

    /// Returns true if this session called it before.
    pub(crate) fn visit_again(&self) -> bool {
        self.session(|session| std::mem::replace(&mut session.visited, true))
    }

    fn pending_subscriptions(&self) -> MutexGuard<'_, VecDeque<broadcast::Receiver<Change>>> {
        self.pending_subscriptions.lock()
    }

    fn session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> T {
        act(&mut self.session.lock())
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("rmcp-peer", "1.0.0"))
            .with_instructions("A server for tests.")
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.versions.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = ListToolsResult::with_all_items(tools::list(&self.shared));
        result.ttl_ms = Some(LIST_TTL_MS);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tools::call(self, &request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|params| params.cursor);
        let page = PAGES.iter().position(|page| *page == cursor.as_deref());
        let page = page.ok_or_else(|| ErrorData::invalid_params(format!("no page {cursor:?}"), None))?;
        let uri = note(page);
        let resource = json!({"uri": uri, "name": format!("note {page}"), "mimeType": "text/plain"});
        let resource = serde_json::from_value(resource).expect("a resource of this server is well formed");
        let mut result = ListResourcesResult::with_all_items(vec![resource]);
        result.next_cursor = PAGES.get(page + 1).copied().flatten().map(str::to_owned);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "note://{name}", "name": "note"});
        let template = serde_json::from_value(template).expect("the template of this server is well formed");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if (0..PAGES.len()).all(|page| note(page) != request.uri) {
            return Err(ErrorData::resource_not_found(format!("no resource {}", request.uri), None));
        }
        Ok(ReadResourceResult::new(vec![ResourceContents::text(NOTE_TEXT, request.uri)]).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = json!({"name": "greet", "arguments": [{"name": "name", "required": true}]});
        let prompt = serde_json::from_value(prompt).expect("the prompt of this server is well formed");
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request.arguments.as_ref().and_then(|arguments| arguments.get("name"));
        let name = name.and_then(|name| name.as_str());
        let name = name.ok_or_else(|| ErrorData::invalid_params("`name` is missing", None))?;
        let text = format!("Please greet {name} in one sentence.");
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let begun = &request.argument.value;
        let values =
            NAMES.into_iter().filter(|name| name.starts_with(begun.as_str())).map(str::to_owned).collect();
        let values = CompletionInfo::with_all_values(values)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session(|session| session.level = Some(request.level));
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session(|session| session.subscribed.insert(request.uri));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session(|session| session.subscribed.remove(&request.uri));
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.pending_subscriptions().push_back(self.shared.changes.subscribe());
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let subscription = self.pending_subscriptions().pop_front();
        let mut changes =
            subscription.ok_or_else(|| ErrorData::internal_error("no subscription was accepted", None))?;
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // The sink returns an error for a change that the listener did not subscribe to.
            let sent = match change {
                Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                Ok(Change::Resource(uri)) => context.sink().notify_resource_updated(uri).await,
                Err(_) => return Ok(()),
            };
            drop(sent);
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.shared.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.cancel_task(&request.task_id)
    }
}

/// Returns the URI of the one resource on a page.
fn note(page: usize) -> String {
    if page == 0 { NOTE.to_owned() } else { format!("note://page-{page}") }
}
