//! Finds the tool that a name means, listed or not.

use crate::{
    catalog::{Catalog, Route, Server},
    view::View,
};
use std::sync::Arc;
use trunkline_protocol::Call;

pub(super) enum Located<'a> {
    Route(&'a Route),
    /// The server that the name belongs to, and its own name of the tool.
    Unlisted(&'a Arc<Server>, String),
}

impl<'a> Located<'a> {
    pub(super) fn find(catalog: &Catalog, view: &'a View, name: &str) -> Option<Self> {
        if let Some(route) = view.tools.get(name) {
            return Some(Self::Route(route));
        }
        let (server, public) = view.server_of(name)?;
        Some(Self::Unlisted(server, server.access(&catalog.policy).own_name(public)))
    }

    /// The tool that a call names.
    pub(super) fn of_call(catalog: &Catalog, view: &'a View, call: &Call) -> Option<Self> {
        Self::find(catalog, view, &call.params.as_ref()?.text_of("name")?)
    }

    pub(super) fn server(&self) -> &'a Server {
        match self {
            Self::Route(route) => route.server(),
            Self::Unlisted(server, _) => server,
        }
    }
}
