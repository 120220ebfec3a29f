//! Checks that the declared lists can be fetched and parsed.

use super::{
    super::{
        cause::Cause,
        diagnosis::Problem,
        evidence::Evidence,
        examination::{Checked, passed},
        options::DoctorOptions,
    },
    problem_of,
    trial::Session,
};
use std::sync::Arc;
use trunkline_client::Listing;
use trunkline_protocol::{
    Fault, FaultKind,
    message::{BadItem, Prompt, Resource, Tool},
    method,
};
use trunkline_secrets::counted;

/// Number of invalid entries that are shown.
const SHOWN: usize = 5;

/// The lists of the server.
#[derive(Debug, Default)]
pub(super) struct Offered {
    pub(super) tools: Option<Arc<Listing<Tool>>>,
    pub(super) resources: Option<Arc<Listing<Resource>>>,
    pub(super) prompts: Option<Arc<Listing<Prompt>>>,
}

pub(super) async fn read(session: &Session, options: &DoctorOptions) -> Checked<Offered> {
    let client = &session.client;
    let mut offered = Offered::default();
    let mut told = Vec::new();
    if client.has_capability("tools") {
        let list = within(options, client.tools()).await;
        offered.tools = Some(usable(list, method::TOOLS_LIST, session, |list| &list.bad)?);
        told.push(counted(offered.tools.as_ref().map_or(0, |list| list.items.len()), "tool"));
    }
    if client.has_capability("resources") {
        let list = within(options, client.resources()).await;
        offered.resources = Some(usable(list, method::RESOURCES_LIST, session, |list| &list.bad)?);
        told.push(counted(offered.resources.as_ref().map_or(0, |list| list.items.len()), "resource"));
    }
    if client.has_capability("prompts") {
        let list = within(options, client.prompts()).await;
        offered.prompts = Some(usable(list, method::PROMPTS_LIST, session, |list| &list.bad)?);
        told.push(counted(offered.prompts.as_ref().map_or(0, |list| list.items.len()), "prompt"));
    }
    let detail = if told.is_empty() { "it declares no lists".to_owned() } else { told.join(", ") };
    passed(offered, detail)
}

async fn within<T>(
    options: &DoctorOptions,
    list: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let limit = options.limits.step;
    tokio::time::timeout(limit, list).await.unwrap_or_else(|_| {
        Err(Fault::new(FaultKind::Timeout, format!("no end of the list within {} s", limit.as_secs_f64())))
    })
}

fn usable<T>(
    list: Result<Arc<Listing<T>>, Fault>,
    method: &str,
    session: &Session,
    bad: impl Fn(&Listing<T>) -> &Vec<BadItem>,
) -> Result<Arc<Listing<T>>, Box<Problem>> {
    let list = list.map_err(|fault| {
        let fix = format!("answer `{method}`, or take it out of \"capabilities\"");
        let otherwise =
            if fault.kind() == FaultKind::BadAnswer { Cause::ListUnreadable } else { Cause::ListFails };
        Box::new(problem_of(&fault, &format!("`{method}`"), otherwise).proofs(session.last_frames()).fix(fix))
    })?;
    let unreadable = bad(&list);
    if unreadable.is_empty() {
        return Ok(list);
    }
    let summary = format!("{} of `{method}` cannot be read", counted(unreadable.len(), "entry"));
    let shown = unreadable.iter().take(SHOWN).map(|item| Evidence::fact(item.to_string()));
    let first = unreadable[0].to_string();
    Err(Box::new(
        Problem::new(Cause::ListUnreadable, summary).proofs(shown).fix(format!("correct the entry: {first}")),
    ))
}
