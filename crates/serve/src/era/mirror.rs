//! Checks that the headers of a modern request agree with its body.

use super::{
    head::Head,
    modern::{ModernRequest, Refused},
};
use crate::service::{Service, plain_meta};
use http::{HeaderMap, HeaderName};
use parking_lot::Mutex;
use std::{
    borrow::Cow,
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};
use trunkline_protocol::{
    Call, Caller, Carried, ErrorObject, Object, Origin, Raw,
    message::{HeaderKind, HeaderParam, ListToolsResult, header_params, header_values, next_cursor},
    method,
};
use trunkline_transport::headers::{
    MCP_METHOD, MCP_NAME, MCP_PARAM_PREFIX, MCP_PROTOCOL_VERSION, decode_value,
};

/// Most callers in the cache.
const MAX_CALLERS: usize = 64;
/// Lifetime of a cached entry. Change notifications clear the cache earlier, but the server's own
/// subscription may not see the changes of every caller's tools.
const MAX_AGE: Duration = Duration::from_secs(30);
/// Most pages of `tools/list` that are read.
const MAX_PAGES: usize = 1000;

/// Per caller, the tool arguments that must be repeated as headers (`x-mcp-header`).
#[derive(Default)]
pub(crate) struct ToolHeaders(Mutex<HashMap<String, CachedRules>>);

/// The rules of one caller's tools, and the time they were read.
struct CachedRules {
    rules: Arc<Rules>,
    /// The parts of the request that they were read with, which may decide what servers list.
    carried: Option<Arc<Carried>>,
    at: Instant,
}

pub(crate) type Rules = HashMap<String, Vec<HeaderParam>>;

impl ToolHeaders {
    /// Clears the cache, after the tools changed.
    pub(crate) fn forget(&self) {
        self.map().clear();
    }

    /// The cached rules of a caller's tools, if they are fresh.
    pub(crate) fn known(&self, caller: &Caller) -> Option<Arc<Rules>> {
        let fresh = |seen: &&CachedRules| seen.at.elapsed() < MAX_AGE && seen.carried == caller.carried;
        self.map().get(&caller.id).filter(fresh).map(|seen| seen.rules.clone())
    }

    /// The rules of a caller's tools; lists the tools if the cache has no fresh entry.
    pub(crate) async fn rules(&self, service: &Service, caller: &Arc<Caller>) -> Arc<Rules> {
        if let Some(known) = self.known(caller) {
            return known;
        }
        let rules = Arc::new(list_rules(service, caller).await);
        let mut map = self.map();
        if map.len() >= MAX_CALLERS {
            map.clear();
        }
        let carried = caller.carried.clone();
        map.insert(caller.id.clone(), CachedRules { rules: rules.clone(), carried, at: Instant::now() });
        rules
    }

    fn map(&self) -> parking_lot::MutexGuard<'_, HashMap<String, CachedRules>> {
        self.0.lock()
    }
}

async fn list_rules(service: &Service, caller: &Arc<Caller>) -> Rules {
    let mut rules = Rules::new();
    let mut params = Object::new();
    params.set("_meta", plain_meta().to_raw());
    for _ in 0..MAX_PAGES {
        let mut call = Call::new(method::TOOLS_LIST, Some(params.to_raw()));
        call.caller = caller.clone();
        call.origin = Origin::Ourselves;
        let Ok(page) = service.handler.call(call).outcome().await else { break };
        let tools = page.decode::<ListToolsResult>().map(|list| list.items().0).unwrap_or_default();
        for tool in tools {
            if let Ok(params) = header_params(&tool.input_schema)
                && !params.is_empty()
            {
                rules.insert(tool.name, params);
            }
        }
        let Some(cursor) = next_cursor(&page) else { break };
        params.set("cursor", Raw::string(&cursor));
    }
    rules
}

impl ModernRequest {
    /// Refuses the request if `Mcp-Method` or `Mcp-Name` differs from the body.
    pub(crate) fn check_headers(&self, headers: &HeaderMap) -> Result<(), Refused> {
        equal(headers, &MCP_METHOD, &self.method)?;
        if let Some(member) = method::named_by(&self.method) {
            let named = self.params.as_ref().and_then(|params| params.member(member));
            match named.as_ref().and_then(Raw::text) {
                Some(name) => equal(headers, &MCP_NAME, &name)?,
                None if headers.contains_key(MCP_NAME) => {
                    return Err(mismatch("Mcp-Name was sent, but the body names nothing"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Refuses the request if an argument that `rules` require as a header differs from that
    /// header.
    pub(crate) fn check_arguments(&self, headers: &HeaderMap, rules: &Rules) -> Result<(), Refused> {
        if rules.is_empty() {
            return Ok(());
        }
        let params = self.params.as_ref();
        let [name, arguments] = params.map_or([const { None }; 2], |p| p.pick(["name", "arguments"]));
        let name = name.as_ref().and_then(Raw::text).unwrap_or_default();
        let Some(rules) = rules.get(name.as_ref()) else { return Ok(()) };
        let arguments = arguments.unwrap_or_else(Raw::empty_object);
        let expected = header_values(rules, &arguments);
        for rule in rules {
            let name = format!("{MCP_PARAM_PREFIX}{}", rule.header).to_ascii_lowercase();
            let Ok(header) = HeaderName::try_from(name.as_str()) else { continue };
            let value = expected
                .iter()
                .find(|(expected, _)| expected.eq_ignore_ascii_case(&name))
                .map(|(_, value)| value);
            match value {
                Some(value) if rule.kind == HeaderKind::Integer => equal_numbers(headers, &header, value)?,
                Some(value) => equal(headers, &header, value)?,
                None if headers.contains_key(&header) => {
                    return Err(mismatch(&format!("{name} was sent, but the body has no such argument")));
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// Refuses the request if `Mcp-Protocol-Version` differs from the version in the body.
pub(crate) fn check_version(headers: &HeaderMap, head: &Head) -> Result<(), Refused> {
    let version = head.version.as_ref().and_then(Raw::text);
    version.map_or(Ok(()), |version| equal(headers, &MCP_PROTOCOL_VERSION, &version))
}

fn equal(headers: &HeaderMap, name: &HeaderName, expected: &str) -> Result<(), Refused> {
    let mut values = headers.get_all(name).iter();
    if let (Some(value), None) = (values.next(), values.next())
        && is_plain(expected)
        && value.as_bytes() == expected.as_bytes()
    {
        return Ok(());
    }
    let value = only(headers, name)?;
    if value == expected {
        Ok(())
    } else {
        Err(mismatch(&format!("{name} says `{value}`, the body says `{expected}`")))
    }
}

/// True if a header carries this text unencoded and it cannot be mistaken for an encoded value.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_graphic()) && !text.starts_with('=')
}

/// Compares integers by value, so that `+5` and `5` are equal.
fn equal_numbers(headers: &HeaderMap, name: &HeaderName, expected: &str) -> Result<(), Refused> {
    let value = only(headers, name)?;
    let same = value == expected
        || matches!((value.parse::<i128>(), expected.parse::<i128>()), (Ok(a), Ok(b)) if a == b);
    if same { Ok(()) } else { Err(mismatch(&format!("{name} says `{value}`, the body says `{expected}`"))) }
}

fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Cow<'a, str>, Refused> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => decode_value(value).map_err(|error| mismatch(&format!("{name}: {error}"))),
        (None, _) => Err(mismatch(&format!("{name} is missing"))),
        (Some(_), Some(_)) => Err(mismatch(&format!("{name} was sent twice"))),
    }
}

fn mismatch(why: &str) -> Refused {
    Refused { status: 400, error: ErrorObject::new(-32020, format!("headers and body differ: {why}")) }
}
