//! What the server offers besides tools, and the SDK's side of it.

use crate::{
    board::{Board, Change},
    tools,
};
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
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::broadcast;

pub(crate) const NOTE: &str = "note://hello";
const NOTE_TEXT: &str = "hello from a note";
/// Long enough that only a change makes a client ask again.
const LIST_TTL_MS: u64 = 600_000;
const NAMES: [&str; 3] = ["Ada", "Adele", "Grace"];
/// The pages of the resource list, by the cursor that leads to each; the second has a cursor of no characters.
const PAGES: [Option<&str>; 3] = [None, Some(""), Some("last")];

/// One session's handler, or one modern request's.
pub(crate) struct Peer {
    pub(crate) board: Arc<Board>,
    versions: Vec<ProtocolVersion>,
    session: Mutex<Session>,
    /// Taken before a listener is told that it is heard, since changes may come right after.
    ears: Mutex<VecDeque<broadcast::Receiver<Change>>>,
}

/// What a legacy client asked for.
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
    pub(crate) fn new(board: Arc<Board>, versions: Vec<ProtocolVersion>) -> Self {
        Self { board, versions, session: Mutex::default(), ears: Mutex::default() }
    }

    /// The least level of what this caller wants to hear; a modern one says so in its request, and else wants nothing.
    pub(crate) fn level(&self, context: &RequestContext<RoleServer>) -> Option<LoggingLevel> {
        if is_modern(context) { context.meta.log_level() } else { self.session(|session| session.level) }
    }

    pub(crate) fn is_subscribed(&self, uri: &str) -> bool {
        self.session(|session| session.subscribed.contains(uri))
    }

    /// Whether the caller was here before.
    pub(crate) fn visit_again(&self) -> bool {
        self.session(|session| std::mem::replace(&mut session.visited, true))
    }

    fn ears(&self) -> MutexGuard<'_, VecDeque<broadcast::Receiver<Change>>> {
        self.ears.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session<T>(&self, act: impl FnOnce(&mut Session) -> T) -> T {
        act(&mut self.session.lock().unwrap_or_else(PoisonError::into_inner))
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
        let mut result = ListToolsResult::with_all_items(tools::list(&self.board));
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
        self.ears().push_back(self.board.changes.subscribe());
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let ear = self.ears().pop_front();
        let mut changes = ear.ok_or_else(|| ErrorData::internal_error("nobody was accepted", None))?;
        loop {
            let change = tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => change,
            };
            // What a listener did not ask for, the sink refuses to send.
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
        self.board.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.board.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.board.tasks.cancel_task(&request.task_id)
    }
}

/// The one resource of a page.
fn note(page: usize) -> String {
    if page == 0 { NOTE.to_owned() } else { format!("note://page-{page}") }
}
