//! Reading a server's lists: all their pages, within bounds, every item judged by itself.

use super::{
    connect::Session,
    item::{Quarantined, examine, name_of},
    offer::Kind,
    options::ListOptions,
};
use std::{
    collections::HashSet,
    sync::{Arc, LazyLock},
    time::Duration,
};
use tokio::time::{Instant, timeout};
use trunkline_protocol::{
    Call, Caller, Fault, FaultKind, Object, Raw,
    message::{CacheHints, next_cursor},
    method,
};

/// The gateway itself, when it asks on nobody's behalf.
static OURSELVES: LazyLock<Arc<Caller>> =
    LazyLock::new(|| Arc::new(Caller { id: String::new(), roles: Vec::new(), scopes: Vec::new() }));

/// One list as it was last read.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) items: Arc<[Raw]>,
    pub(super) quarantined: Vec<Quarantined>,
    /// Broken items beyond those that are told of.
    pub(super) unnamed: usize,
    /// Why the list may not be whole.
    pub(super) warning: Option<String>,
    pub(super) read_at: Option<Instant>,
    /// How long the server says it stays as it is.
    pub(super) ttl: Option<Duration>,
}

/// A call that the gateway makes for itself.
pub(super) fn own_call(name: &'static str, params: Option<Raw>) -> Call {
    let mut call = Call::new(name, params);
    call.caller = OURSELVES.clone();
    call
}

/// Whether the server says that it has such a list. One that says nothing at all is asked.
pub(super) fn is_declared(introduction: &Raw, kind: Kind) -> bool {
    let Some(capabilities) = introduction.member("capabilities") else { return true };
    capabilities.member(capability_of(kind)).is_some_and(|declared| declared.is_object())
}

/// Whether the server says that it tells when the list changes.
pub(super) fn tells_changes(introduction: &Raw, kind: Kind) -> bool {
    let declared = introduction.member("capabilities").and_then(|all| all.member(capability_of(kind)));
    declared.and_then(|declared| declared.member_as("listChanged")).unwrap_or(false)
}

/// Reads one list to its end. `limit` is for each page.
pub(super) async fn read(
    session: &dyn Session,
    kind: Kind,
    limits: &ListOptions,
    limit: Duration,
) -> Result<Kept, Fault> {
    let mut reader = Reader::new(kind, limits);
    let mut cursor = None;
    loop {
        let call = own_call(method_of(kind), cursor.take());
        let page = match timeout(limit, session.call(call).outcome()).await {
            Ok(Ok(page)) => page,
            // A server that declares more than it has: nothing is there.
            Ok(Err(fault)) if fault.kind() == FaultKind::NotAvailable => return Ok(reader.done()),
            Ok(Err(fault)) => return Err(fault),
            Err(_) => {
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

struct Reader<'a> {
    kind: Kind,
    limits: &'a ListOptions,
    kept: Vec<Raw>,
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

    /// Takes in a page; what to ask next, if there is more and it may be asked for.
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

    fn done(self) -> Kept {
        Kept {
            items: self.kept.into(),
            quarantined: self.quarantined,
            unnamed: self.unnamed,
            warning: self.warning,
            read_at: Some(Instant::now()),
            ttl: self.ttl,
        }
    }
}

impl Default for Kept {
    /// A list that was never read.
    fn default() -> Self {
        Self {
            items: Arc::new([]),
            quarantined: Vec::new(),
            unnamed: 0,
            warning: None,
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
