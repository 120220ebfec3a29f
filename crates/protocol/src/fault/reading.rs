//! Maps a peer's JSON-RPC code to a failure of the catalogue.
//!
//! The specification's codes take precedence. The unofficial codes of requirement C2 (−32001,
//! −32002, −32003) are recognised only from legacy peers; a modern peer that sends −32001, −32003
//! or −32004 was built before those codes were renumbered.

use super::{CATALOGUE, FaultKind};
use crate::{Era, ErrorObject, method};

/// The kind of an error that was made from the catalogue, and if the call may be repeated. Code and
/// name must fit together, so that other uses of the same member names are not mistaken for ours.
pub(super) fn from_catalogue(error: &ErrorObject) -> Option<(FaultKind, bool)> {
    let data = error.data.as_ref()?;
    let (code, name): (String, String) = (data.member_as("appCode")?, data.member_as("code")?);
    let (kind, _) = CATALOGUE.iter().find(|(_, entry)| entry.code == code && entry.name == name)?;
    Some((*kind, data.member_as("retryable")?))
}

/// The code of the error behind an error of the catalogue.
pub(super) fn original_code(error: &ErrorObject) -> Option<i64> {
    from_catalogue(error)?;
    error.data.as_ref()?.member_as("originalMcpCode")
}

pub(super) fn kind_of(code: i64, era: Era, asked: &str) -> FaultKind {
    match (code, era) {
        (-32700 | -32600 | -32602, _) => FaultKind::InvalidRequest,
        (-32601, _) => FaultKind::NotAvailable,
        (-32002, Era::Modern) => FaultKind::ResourceNotFound,
        (-32002, Era::Legacy) if asked == method::RESOURCES_READ => FaultKind::ResourceNotFound,
        (-32002, Era::Legacy) => FaultKind::ConversionFailed,
        (-32020, _) | (-32001, Era::Modern) => FaultKind::HeaderMismatch,
        (-32021, _) | (-32003, Era::Modern) => FaultKind::ClientCapabilityMissing,
        (-32022, _) | (-32004, Era::Modern) => FaultKind::UnsupportedRevision,
        (-32001, Era::Legacy) => FaultKind::Timeout,
        (-32003, Era::Legacy) => FaultKind::ExportFailed,
        (-32042, _) => FaultKind::UrlElicitationRequired,
        (-1, Era::Legacy) if asked == method::CREATE_MESSAGE => FaultKind::Declined,
        _ => FaultKind::Unavailable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_table_holds_for_legacy_peers() {
        for (code, app_code, retryable) in [
            (-32700, "E203", false),
            (-32600, "E203", false),
            (-32601, "E204", false),
            (-32602, "E203", false),
            (-32603, "E201", true),
            (-32000, "E201", true),
            (-32001, "E202", true),
            (-32002, "E302", true),
            (-32003, "E303", true),
            (4711, "E201", true),
        ] {
            let entry = kind_of(code, Era::Legacy, method::TOOLS_CALL).entry();
            assert_eq!((entry.code, entry.retryable), (app_code, retryable), "{code}");
        }
    }

    #[test]
    fn the_specification_comes_first_where_it_speaks() {
        assert_eq!(kind_of(-32002, Era::Legacy, method::RESOURCES_READ), FaultKind::ResourceNotFound);
        assert_eq!(kind_of(-32042, Era::Legacy, method::TOOLS_CALL), FaultKind::UrlElicitationRequired);
        for (code, kind) in [
            (-32020, FaultKind::HeaderMismatch),
            (-32021, FaultKind::ClientCapabilityMissing),
            (-32022, FaultKind::UnsupportedRevision),
        ] {
            assert_eq!(kind_of(code, Era::Modern, method::TOOLS_CALL), kind);
            assert_eq!(kind_of(code, Era::Legacy, method::TOOLS_CALL), kind);
        }
        assert_eq!(kind_of(-32003, Era::Modern, method::TOOLS_CALL), FaultKind::ClientCapabilityMissing);
    }
}
