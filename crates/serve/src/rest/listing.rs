//! `GET …/tools` and `GET …/tools/{name}`.

use super::{
    VERSION,
    answer::{RestError, counted},
};
use crate::http::{AdmittedRequest, Body, empty};
use crate::service::plain_meta;
use ::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use serde_json::json;
use std::{
    borrow::Cow,
    hash::{DefaultHasher, Hash, Hasher},
    ops::ControlFlow,
};
use trunkline_protocol::{Call, Fault, Object, Raw, message::meta::TOOL_METADATA, method};
use trunkline_resilience::OutOfMemory;

/// Pages of the handler's list that are read at most.
const MAX_PAGES: usize = 1000;
/// Tools in one answer, unless `limit` says less.
const MAX_LIMIT: usize = 1000;

pub(super) async fn list(request: &AdmittedRequest, query: Option<&str>) -> Response<Body> {
    let answer = async {
        let filter = Filter::read(query.unwrap_or_default())?;
        let tools = tools(request).await.map_err(|fault| RestError::of_fault(&fault))?;
        Ok(page(tools, &filter))
    };
    let answer: Result<Raw, RestError> = answer.await;
    answer
        .and_then(|body| Ok(tagged(&request.headers, &body)?))
        .unwrap_or_else(|error| RestError::respond(&error))
}

pub(super) async fn describe(request: &AdmittedRequest, name: &str) -> Response<Body> {
    let mut found = None;
    let searched = each_tool(request, |tool| {
        if tool.member("name").and_then(|it| it.text().map(|text| text == name)) != Some(true) {
            return ControlFlow::Continue(());
        }
        found = Described::of(&tool, server_of(request));
        ControlFlow::Break(())
    });
    match searched.await {
        Ok(()) => match found {
            Some(tool) => {
                tagged(&request.headers, &tool.object).unwrap_or_else(|full| RestError::from(full).respond())
            }
            None => RestError::no_such_tool(name).respond(),
        },
        Err(fault) => RestError::of_fault(&fault).respond(),
    }
}

/// A tool as REST describes it: the listed object, with the facts of its metadata as members.
pub(super) struct Described {
    pub(super) name: String,
    /// The server behind it, if the handler has several.
    server: Option<String>,
    pub(super) object: Raw,
}

/// All tools that this caller sees.
pub(super) async fn tools(request: &AdmittedRequest) -> Result<Vec<Described>, Fault> {
    let mut tools = Vec::new();
    let all = each_tool(request, |tool| {
        tools.extend(Described::of(&tool, server_of(request)));
        ControlFlow::Continue(())
    });
    all.await?;
    Ok(tools)
}

/// Visits the tools that this caller sees, page by page, until one breaks off.
async fn each_tool(
    request: &AdmittedRequest,
    mut visit: impl FnMut(Raw) -> ControlFlow<()>,
) -> Result<(), Fault> {
    let mut cursor = None::<Raw>;
    for _ in 0..MAX_PAGES {
        let mut params = Object::new();
        if let Some(cursor) = cursor.take() {
            params.set("cursor", cursor);
        }
        params.set("_meta", plain_meta().to_raw());
        let mut call = Call::new(method::TOOLS_LIST, Some(params.to_raw()));
        call.caller = request.caller.clone();
        let result = request.service.handler.call(call).outcome().await?;
        let listed: Vec<Raw> = result.member_as("tools").unwrap_or_default();
        if listed.into_iter().try_for_each(&mut visit).is_break() {
            break;
        }
        cursor = result.member("nextCursor").filter(|cursor| !cursor.is_null());
        if cursor.is_none() {
            break;
        }
    }
    Ok(())
}

/// Finds the server behind a tool.
fn server_of(request: &AdmittedRequest) -> impl Fn(&str) -> Option<String> {
    let view = request.service.path.strip_prefix('/');
    move |tool| request.service.options.server_of.as_ref()?(&request.caller, view, tool)
}

impl Described {
    fn of(tool: &Raw, server: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let mut members = tool.object()?;
        let name = members.get("name")?.text()?.into_owned();
        let metadata = members.get("_meta").and_then(|meta| meta.member(TOOL_METADATA));
        for (fact, value) in metadata.and_then(|metadata| metadata.object()).unwrap_or_default().iter() {
            if members.get(fact).is_none() {
                members.set(fact.to_owned(), value.clone());
            }
        }
        let server = server(&name);
        if let Some(server) = &server {
            members.set("server", Raw::string(server));
        }
        Some(Self { name, server, object: members.to_raw() })
    }

    fn fits(&self, filter: &Filter) -> bool {
        let text = |member: &str| self.object.member_as::<String>(member).unwrap_or_default();
        let tags: Vec<String> = self.object.member_as("tags").unwrap_or_default();
        let says = |word: &str| {
            [self.name.clone(), text("title"), text("description")]
                .iter()
                .any(|text| text.to_lowercase().contains(word))
        };
        filter.server.as_ref().is_none_or(|wanted| Some(wanted) == self.server.as_ref())
            && filter.category.as_ref().is_none_or(|wanted| *wanted == text("category"))
            && filter.tags.iter().all(|wanted| tags.contains(wanted))
            && filter.text.as_deref().is_none_or(says)
    }
}

#[derive(Debug, Default)]
struct Filter {
    server: Option<String>,
    category: Option<String>,
    tags: Vec<String>,
    text: Option<String>,
    limit: usize,
    /// The name after which the page begins.
    after: Option<String>,
}

impl Filter {
    fn read(query: &str) -> Result<Self, RestError> {
        let mut filter = Self { limit: MAX_LIMIT, ..Self::default() };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value: Cow<'_, str> = value;
            match name.as_ref() {
                "server" => filter.server = Some(value.into_owned()),
                "category" => filter.category = Some(value.into_owned()),
                "tag" => filter.tags.push(value.into_owned()),
                "q" => filter.text = Some(value.to_lowercase()),
                "cursor" => filter.after = Some(value.into_owned()),
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    let reason = format!("it must be a number from 1 to {MAX_LIMIT}");
                    filter.limit = limit.ok_or_else(|| RestError::invalid("limit", &reason, json!(value)))?;
                }
                other => {
                    let reason = "the parameters are server, category, tag, q, limit and cursor";
                    return Err(RestError::invalid(other, reason, json!(value)));
                }
            }
        }
        Ok(filter)
    }
}

/// The page that the filter asks for. Names are unique, so a page can begin after one; the order
/// is by name, so that tools which come and go move nothing.
fn page(mut tools: Vec<Described>, filter: &Filter) -> Raw {
    tools.retain(|tool| tool.fits(filter));
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    if let Some(after) = &filter.after {
        tools.retain(|tool| tool.name > *after);
    }
    let more = tools.len() > filter.limit;
    tools.truncate(filter.limit);
    let mut body = Object::new();
    body.set("version", Raw::string(VERSION));
    if more && let Some(last) = tools.last() {
        body.set("nextCursor", Raw::string(&last.name));
    }
    let described: Vec<&Raw> = tools.iter().map(|tool| &tool.object).collect();
    body.set("tools", Raw::encode(&described).unwrap_or_else(|_| json!([]).into()));
    body.to_raw()
}

/// Equal for equal texts, also in another process.
pub(super) fn fingerprint(text: &Raw) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.as_bytes().hash(&mut hasher);
    hasher.finish()
}

/// The answer with its tag, or 304 if the client has it already.
fn tagged(headers: &HeaderMap, body: &Raw) -> Result<Response<Body>, OutOfMemory> {
    let tag = format!("\"{:016x}\"", fingerprint(body));
    let known = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|value| value.split(',')).map(str::trim);
    let mut response = if known.into_iter().any(|one| one == "*" || one.trim_start_matches("W/") == tag) {
        empty(StatusCode::NOT_MODIFIED)
    } else {
        counted(StatusCode::OK, body)?
    };
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(response)
}
