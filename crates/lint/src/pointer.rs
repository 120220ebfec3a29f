//! JSON pointers (RFC 6901), by which findings say where something stands.

/// A member's name as a part of a pointer.
pub(crate) fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
