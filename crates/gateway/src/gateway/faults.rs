//! Faults that the gateway answers itself. A forbidden item gets exactly the same answer as one
//! that does not exist.

use crate::catalog::{Server, shown};
use crate::policy::{Asked, Denial};
use tokio::task::JoinError;
use trunkline_protocol::{Fault, FaultKind, Raw, Reply};

/// A call that the policy denies, though others of the same item may be allowed.
pub(super) fn denied(denial: Denial) -> Reply {
    let fault = denial.fault(|| Fault::new(FaultKind::DeniedByPolicy, "the policy does not allow this"));
    tracing::info!(%fault, "denied by the policy");
    Reply::ready(Err(fault))
}

/// A call that needs consent, where nobody can be asked.
pub(super) fn unasked(asked: &Asked) -> Fault {
    let text = format!("`{}` needs the consent of a person, who cannot be asked here", asked.subject);
    Fault::new(FaultKind::ApprovalRefused, text).with_detail(asked.rule.clone())
}

pub(super) fn unknown(what: &str, name: &str) -> Fault {
    // The specification's code for an unknown name is that of invalid params.
    Fault::new(FaultKind::NotAvailable, format!("unknown {what} `{}`", shown(name))).with_rpc_code(-32602)
}

pub(super) fn no_resource(uri: &str) -> Fault {
    let data = serde_json::json!({"uri": uri});
    Fault::new(FaultKind::ResourceNotFound, format!("there is no resource `{}`", shown(uri)))
        .with_data(data.into())
}

pub(super) fn no_method(method: &str) -> Fault {
    Fault::new(FaultKind::NotAvailable, format!("there is no method `{}`", shown(method)))
}

pub(super) fn no_view(view: Option<&str>) -> Fault {
    Fault::new(FaultKind::NotAvailable, format!("there is no view `{}`", shown(view.unwrap_or_default())))
}

/// Too many callers have catalogs of their own, all with calls in flight.
pub(super) fn no_catalog(most: usize) -> Fault {
    let text =
        format!("{most} callers with their own servers are busy; `limits.personalCatalogs` allows more");
    Fault::new(FaultKind::Overloaded, text).harmless_to_repeat()
}

/// The catalog of a caller could not be built, because the thread panicked or the gateway stops.
pub(super) fn unbuilt(error: &JoinError) -> Fault {
    tracing::error!(%error, "the catalog of a caller could not be built");
    Fault::new(FaultKind::Unavailable, "the servers of this caller could not be listed").harmless_to_repeat()
}

/// The end of a subscription whose caller called nothing while all catalogs were taken.
pub(super) fn given_up() -> Fault {
    Fault::new(FaultKind::Overloaded, "other callers needed the place of this one; subscribe again")
        .harmless_to_repeat()
}

pub(super) fn missing(member: &str) -> Fault {
    Fault::new(FaultKind::InvalidRequest, format!("`params.{member}` must be a string"))
}

pub(super) fn bad_cursor() -> Fault {
    Fault::new(
        FaultKind::InvalidRequest,
        "the cursor does not belong to this list; list again from the start",
    )
}

/// The server's definitions could not be compared with the accepted ones in time; nothing was sent
/// to it.
pub(super) fn unverified(server: &Server) -> Fault {
    let text =
        format!("the tools of server `{}` could not be compared with the lock file in time", server.name());
    Fault::new(FaultKind::Timeout, text).harmless_to_repeat()
}

/// The server has not connected in time, so its offer is unknown; nothing was sent to it.
pub(super) fn unconnected(server: &Server) -> Fault {
    let text = format!("server `{}` is not connected yet", server.name());
    let data = serde_json::json!({"server": server.name().as_ref()});
    Fault::new(FaultKind::Timeout, text).with_data(Raw::from(data)).harmless_to_repeat()
}
