//! The fault of a server with a reference that cannot be resolved, such as an unset variable. It is
//! a server that cannot start, with texts of its own.

use serde_json::json;
use trunkline_protocol::{Fault, FaultKind};

pub(crate) const TITLE: &str = "A reference in its configuration cannot be resolved";
pub(crate) const ACTION: &str = "`trunkline config check` names it";

pub(crate) fn fault(reason: &str) -> Fault {
    Fault::new(FaultKind::CannotStart, "a reference in its configuration cannot be resolved")
        .with_detail(reason)
        .with_action(ACTION)
        .with_data(json!({"userMessage": TITLE, "suggestedAction": ACTION}).into())
}

/// True if this is such a fault, here or told by a gateway. Other texts of a peer are not taken for
/// ours.
pub(crate) fn is(fault: &Fault) -> bool {
    let told = fault.data().and_then(|data| data.member_as::<String>("suggestedAction"));
    fault.kind() == FaultKind::CannotStart && told.as_deref() == Some(ACTION)
}
