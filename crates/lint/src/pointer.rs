//! JSON pointers (RFC 6901), which give the position of a finding.

/// Escapes a member's name for use in a pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
