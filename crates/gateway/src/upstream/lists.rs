//! Reads a server's lists: all pages, within bounds, each item checked by itself.

use super::{
    item::{NAME_SHOWN, Quarantined, examine, name_of},
    offer::Kind,
    options::ListOptions,
};
use serde::Deserialize;
use std::{
    collections::HashSet,
    sync::{Arc, LazyLock},
    time::Duration,
};
use tokio::time::Instant;
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Object, Raw, Session,
    message::{CacheHints, meta::SET_ASIDE, next_cursor},
    method,
};
use trunkline_resilience::timeout;

/// The caller of the gateway's own requests.
static OURSELVES: LazyLock<Arc<Caller>> = LazyLock::new(|| Arc::new(Caller::named("")));

/// Members of a page that each hop writes itself; only their place is kept.
const OURS: [&str; 4] = ["nextCursor", "resultType", "ttlMs", "cacheScope"];

/// One list as last read.
#[derive(Debug, Clone)]
pub(super) struct ReadList {
    pub(super) items: Arc<[Raw]>,
    /// The members of a page: `_meta` and unknown ones as the server wrote them, null for the items
    /// and for those of [`OURS`], which have their place here and nothing else. If pages disagree,
    /// the first one counts.
    pub(super) beside: Object,
    /// Number of changes that the server announced.
    pub(super) announced: u64,
    pub(super) quarantined: Vec<Quarantined>,
    /// Broken items beyond those that are listed.
    pub(super) unnamed: usize,
    /// The reason why the list may be incomplete.
    pub(super) warning: Option<String>,
    /// The server's answer, if it has never been a list.
    pub(super) fault: Option<Fault>,
    pub(super) read_at: Option<Instant>,
    /// The server's TTL.
    pub(super) ttl: Option<Duration>,
}

/// A request of the gateway itself.
pub(super) fn own_call(name: &'static str, params: Option<Raw>) -> Call {
    let mut call = Call::new(name, params);
    call.caller = OURSELVES.clone();
    call
}

/// True if the server declares such a list, or declares nothing at all.
pub(super) fn is_declared(introduction: &Raw, kind: Kind) -> bool {
    let Some(capabilities) = introduction.member("capabilities") else { return true };
    capabilities.member(capability_of(kind)).is_some_and(|declared| declared.is_object())
}

/// True if the server declares that it announces changes of the list.
pub(super) fn tells_changes(introduction: &Raw, kind: Kind) -> bool {
    let declared = introduction.member("capabilities").and_then(|all| all.member(capability_of(kind)));
    declared.and_then(|declared| declared.member_as("listChanged")).unwrap_or(false)
}

/// Reads one list to its end. `limit` is the timeout of each page.
pub(super) async fn read(
    session: &dyn Session,
    kind: Kind,
    limits: &ListOptions,
    limit: Duration,
) -> Result<ReadList, Fault> {
    let mut reader = Reader::new(kind, limits);
    let mut cursor = None;
    loop {
        let call = own_call(method_of(kind), cursor.take());
        let page = match timeout(limit, session.call(call).outcome()).await {
            Some(Ok(page)) => page,
            // The server declares a list that it does not have: joined with others, it is empty.
            Some(Err(fault)) if fault.kind() == FaultKind::NotAvailable => {
                return Ok(ReadList { fault: Some(fault), ..reader.done() });
            }
            Some(Err(fault)) => return Err(fault),
            None => {
                let fault = format!("`{}` was not answered within {limit:?}", method_of(kind));
                return Err(Fault::new(FaultKind::Timeout, fault));
            }
        };
        match reader.take(&page)? {
            Some(next) => cursor = Some(next),
            None => return Ok(reader.done()),
        }
    }
}

/// An item that the client left out of a page, because it is not valid JSON of one meaning.
#[derive(Deserialize)]
struct SetAside {
    #[serde(default)]
    index: usize,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    reason: String,
}

struct Reader<'a> {
    kind: Kind,
    limits: &'a ListOptions,
    kept: Vec<Raw>,
    beside: Object,
    names: HashSet<String>,
    cursors: HashSet<String>,
    quarantined: Vec<Quarantined>,
    unnamed: usize,
    warning: Option<String>,
    ttl: Option<Duration>,
    pages: usize,
    items: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    fn new(kind: Kind, limits: &'a ListOptions) -> Self {
        Self {
            kind,
            limits,
            kept: Vec::new(),
            beside: Object::new(),
            names: HashSet::new(),
            cursors: HashSet::new(),
            quarantined: Vec::new(),
            unnamed: 0,
            warning: None,
            ttl: None,
            pages: 0,
            items: 0,
            bytes: 0,
        }
    }

    /// Takes a page; returns the next cursor, if there is one and the bounds allow it.
    fn take(&mut self, page: &Raw) -> Result<Option<Raw>, Fault> {
        self.pages += 1;
        self.bytes += page.as_bytes().len();
        if self.bytes > self.limits.bytes {
            return Ok(self.cut(format!("the list is larger than {} bytes", self.limits.bytes)));
        }
        let items: Vec<Raw> = page.member_as(member_of(self.kind)).ok_or_else(|| {
            let fault = format!("the answer to `{}` has no `{}`", method_of(self.kind), member_of(self.kind));
            Fault::new(FaultKind::BadAnswer, fault)
        })?;
        for item in items {
            if self.items == self.limits.items {
                return Ok(self.cut(format!("the list has more than {} items", self.limits.items)));
            }
            self.judge(item);
            self.items += 1;
        }
        self.note(page);
        let ttl = CacheHints::of(page).ttl_ms;
        if ttl > 0 {
            let ttl = Duration::from_millis(ttl);
            self.ttl = Some(self.ttl.map_or(ttl, |least| least.min(ttl)));
        }
        let Some(next) = next_cursor(page) else { return Ok(None) };
        if self.pages == self.limits.pages {
            return Ok(self.cut(format!("the list has more than {} pages", self.limits.pages)));
        }
        let mut params = Object::new();
        params.set("cursor", Raw::string(&next));
        if !self.cursors.insert(next) {
            return Ok(self.cut("the server gave the same cursor twice".to_owned()));
        }
        Ok(Some(params.to_raw()))
    }

    /// Keeps the members in addition to the items, and the order of all.
    fn note(&mut self, page: &Raw) {
        for (name, value) in page.object().unwrap_or_default().iter() {
            if self.beside.get(name).is_none() {
                let ours = OURS.contains(&name) || name == member_of(self.kind);
                self.beside.set(name.to_owned(), if ours { Raw::null() } else { value.clone() });
            }
        }
        let aside = page.member("_meta").and_then(|meta| meta.member_as::<Vec<SetAside>>(SET_ASIDE));
        for SetAside { index, name, reason } in aside.unwrap_or_default() {
            if self.quarantined.len() < self.limits.quarantined {
                let short = |text: String| text.chars().take(NAME_SHOWN).collect();
                let (name, reason) = (name.map(short), short(reason));
                self.quarantined.push(Quarantined { kind: self.kind, index, name, reason });
            } else {
                self.unnamed += 1;
            }
        }
    }

    /// Stops reading; what was read is kept.
    fn cut(&mut self, why: String) -> Option<Raw> {
        self.warning = Some(why);
        None
    }

    fn judge(&mut self, item: Raw) {
        let verdict = examine(self.kind, &item, self.limits).and_then(|name| {
            if self.names.insert(name) { Ok(()) } else { Err("it is listed twice".to_owned()) }
        });
        match verdict {
            Ok(()) => self.kept.push(item),
            Err(reason) if self.quarantined.len() < self.limits.quarantined => {
                let name = name_of(self.kind, &item);
                self.quarantined.push(Quarantined { kind: self.kind, index: self.items, name, reason });
            }
            Err(_) => self.unnamed += 1,
        }
    }

    fn done(self) -> ReadList {
        ReadList {
            items: self.kept.into(),
            beside: self.beside,
            announced: 0,
            quarantined: self.quarantined,
            unnamed: self.unnamed,
            warning: self.warning,
            fault: None,
            read_at: Some(Instant::now()),
            ttl: self.ttl,
        }
    }
}

impl Default for ReadList {
    /// A list that was never read.
    fn default() -> Self {
        Self {
            items: Arc::new([]),
            beside: Object::new(),
            announced: 0,
            quarantined: Vec::new(),
            unnamed: 0,
            warning: None,
            fault: None,
            read_at: None,
            ttl: None,
        }
    }
}

fn method_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => method::TOOLS_LIST,
        Kind::Prompts => method::PROMPTS_LIST,
        Kind::Resources => method::RESOURCES_LIST,
        Kind::Templates => method::RESOURCES_TEMPLATES,
    }
}

fn member_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tools",
        Kind::Prompts => "prompts",
        Kind::Resources => "resources",
        Kind::Templates => "resourceTemplates",
    }
}

fn capability_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Tools => "tools",
        Kind::Prompts => "prompts",
        Kind::Resources | Kind::Templates => "resources",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_pages_say_beside_their_items_is_kept_once() {
        let limits = ListOptions::default();
        let mut reader = Reader::new(Kind::Tools, &limits);
        let first = r#"{"tools":[],"nextCursor":"2","resultType":"complete","ttlMs":9,"cacheScope":"public","x":1.50,"_meta":{"io.modelcontextprotocol/serverInfo":{},"a/b":1}}"#;
        assert!(reader.take(&Raw::parse(first).unwrap()).unwrap().is_some());
        let second = r#"{"tools":[],"x":2,"y":[ ],"_meta":{"c/d":1}}"#;
        assert!(reader.take(&Raw::parse(second).unwrap()).unwrap().is_none());
        let kept = reader.done();
        assert_eq!(
            kept.beside.to_raw().as_str(),
            r#"{"tools":null,"nextCursor":null,"resultType":null,"ttlMs":null,"cacheScope":null,"x":1.50,"_meta":{"io.modelcontextprotocol/serverInfo":{},"a/b":1},"y":[ ]}"#
        );
    }
}
