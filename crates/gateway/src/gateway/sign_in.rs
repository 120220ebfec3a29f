//! Calls of tools that are unknown until the caller has signed in to their server.

use super::{Inner, faults};
use crate::{
    catalog::{Catalog, Server},
    view::View,
};
use futures_util::{StreamExt, future, stream};
use std::sync::Arc;
use trunkline_protocol::{Call, Fault, Object, Part, Raw, Reply, message::meta, method};
use trunkline_resilience::Moment;

impl Inner {
    /// Signs the caller in to the server of an unknown tool, then calls the tool. `None` if that
    /// is no reason why it is unknown.
    pub(super) fn once_signed_in(
        self: &Arc<Self>,
        catalog: &Catalog,
        view: &View,
        call: &Call,
        unknown: &Fault,
    ) -> Option<Reply> {
        let (server, tool) = signed_out(catalog, view, call)?;
        let permit = catalog.policy.permit_contact(&call.caller, view, server)?;
        let mut ask = call.clone();
        ask.method = method::TOOLS_CALL.into();
        ask.params = Some(sign_in(tool, call));
        let asking = permit.call(ask);
        let mut rest = Some((Arc::clone(self), Arc::clone(server), call.clone(), unknown.clone()));
        Some(Reply::new(asking.flat_map(move |part| match (part, rest.take()) {
            (Part::Final(Ok(result)), Some(_)) if result.member_as("isError") == Some(true) => {
                stream::once(future::ready(Part::Final(Ok(result)))).left_stream()
            }
            (Part::Final(Ok(_)), Some((inner, server, call, unknown))) => {
                stream::once(inner.once_listed(server, call, unknown)).flatten().right_stream()
            }
            (part, kept) => {
                rest = kept;
                stream::once(future::ready(part)).left_stream()
            }
        })))
    }

    /// Answers a call when the lists of a server are there that the caller signed in to.
    async fn once_listed(self: Arc<Self>, server: Arc<Server>, call: Call, unknown: Fault) -> Reply {
        let before = server.offer().cloned();
        let is_listed = |_: &Catalog, view: &View| {
            view.server(server.name().as_ref()).is_none_or(|server| {
                let is_new = match (&before, server.offer()) {
                    (Some(before), Some(now)) => !Arc::ptr_eq(before, now),
                    (None, now) => now.is_some(),
                    (Some(_), None) => false,
                };
                is_new && !server.is_stale() && server.sign_in_tool().is_none()
            })
        };
        let until = Moment::now() + self.shared.options.patience;
        if !self.wait(&call, until, is_listed).await {
            return Reply::ready(Err(faults::unconnected(&server)));
        }
        let catalog = self.now.load_full();
        match catalog.view(call.view.as_deref()).filter(|view| super::call::is_usable(&catalog, view, &call))
        {
            Some(view) => self.answer(&catalog, view, call),
            None => Reply::ready(Err(unknown)),
        }
    }
}

/// The server that the call's name belongs to, if the caller has to sign in there and may use the
/// tool.
pub(super) fn signed_out<'a>(
    catalog: &Catalog,
    view: &'a View,
    call: &Call,
) -> Option<(&'a Arc<Server>, &'static str)> {
    let name = call.params.as_ref()?.text_of("name")?;
    let (server, own) = view.server_of(&name)?;
    let tool = server.sign_in_tool()?;
    let is_admitted = catalog.policy.admits_name(&call.caller, server.name(), &name, own);
    is_admitted.then_some((server, tool))
}

/// The parameters of a call of the tool that signs in, for the same client.
fn sign_in(tool: &str, call: &Call) -> Raw {
    let mut params = Object::new();
    params.set("name", Raw::string(tool));
    params.set("arguments", Raw::empty_object());
    if let Some(meta) = call.params.as_ref().and_then(|params| params.member("_meta")) {
        let mut meta = meta.object().unwrap_or_default();
        // Progress of the login would not be progress of the tool.
        meta.remove(meta::PROGRESS_TOKEN);
        params.set("_meta", meta.to_raw());
    }
    params.to_raw()
}
