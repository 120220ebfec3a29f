//! What cannot pass between two eras, and the clause that makes it so.

/// Why a scenario of a revision cannot pass in front of a server of this era.
pub(super) fn reason(client: &str, server: &str, scenario: &str) -> Option<&'static str> {
    let _ = (client, server, scenario);
    None
}
