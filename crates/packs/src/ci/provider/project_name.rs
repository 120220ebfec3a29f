//! Names of projects at hosted services, and helpers for URLs.

use super::options::ProviderKind;
use trunkline_toolbox::ToolError;

/// Maximum number of parts of a name; GitLab has nested groups.
const PARTS: usize = 20;

/// A name such as `owner/name` that is safe in a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct ProjectName(String);

impl ProjectName {
    pub(super) fn new(kind: ProviderKind, name: &str) -> Result<Self, ToolError> {
        let parts: Vec<&str> = name.split('/').collect();
        let plain = |part: &&str| {
            let characters =
                part.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
            !part.is_empty() && *part != "." && *part != ".." && characters
        };
        let count = match kind {
            ProviderKind::GitHub => parts.len() == 2,
            ProviderKind::GitLab => (2..=PARTS).contains(&parts.len()),
        };
        if count && parts.iter().all(plain) {
            return Ok(Self(name.to_owned()));
        }
        Err(ToolError::new(format!("{name:?} is not the name of a project")).hint("Name it like owner/name."))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as one percent-encoded path segment.
    pub(super) fn encoded(&self) -> String {
        encode(&self.0)
    }
}

/// `text`, percent-encoded for a URL.
pub(super) fn encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

/// Scheme and host of a URL; `None` for a URL with user information.
pub(super) fn origin(url: &str) -> Option<&str> {
    let start = url.find("://")? + 3;
    let end = url[start..].find(['/', '?', '#', '\\']).map_or(url.len(), |at| start + at);
    let host = &url[start..end];
    (!host.is_empty() && !host.contains('@')).then(|| &url[..end])
}

/// True if requests to the URL cannot be intercepted: HTTPS, or a loopback address.
pub(super) fn is_private(url: &str) -> bool {
    let Some(origin) = origin(url) else { return false };
    if origin.starts_with("https://") {
        return true;
    }
    let Some(host) = origin.strip_prefix("http://") else { return false };
    let name =
        host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place_in_an_address() {
        for bad in ["", "a", "a/..", "a/b/c", "a/b?x=1", "a/b#", "a/%2e%2e", "../b", "a b/c"] {
            assert!(ProjectName::new(ProviderKind::GitHub, bad).is_err(), "{bad}");
        }
        assert!(ProjectName::new(ProviderKind::GitHub, "me/my.repo-1_x").is_ok());
        let nested = ProjectName::new(ProviderKind::GitLab, "group/sub/name").expect("a nested name");
        assert_eq!(nested.encoded(), "group%2Fsub%2Fname");
    }

    #[test]
    fn only_https_and_this_machine_are_private() {
        assert!(
            is_private("https://api.host/x")
                && is_private("http://127.0.0.1:80/x")
                && is_private("http://[::1]:1")
        );
        for bad in [
            "http://host/x",
            "http://127.0.0.1.evil/x",
            "http://localhost@evil/",
            "ftp://x",
            "https://u:p@h/",
            "",
        ] {
            assert!(!is_private(bad), "{bad}");
        }
    }
}
