//! Remotes and their addresses.

use super::{
    failure::clean,
    options::GitOptions,
    repository::Repository,
    revision::{RefName, plain},
};
use trunkline_toolbox::ToolError;

/// A configured remote whose transport is allowed.
#[derive(Debug)]
pub(super) struct Remote(String);

impl Remote {
    /// The configured remote of this name. An address is refused.
    pub(super) async fn find(repository: &Repository<'_>, name: &str) -> Result<Self, ToolError> {
        RefName::parse(name)?;
        let output =
            repository.read("remote").args(["get-url", "--all", "--end-of-options", name]).run().await?;
        if !output.is_success() {
            return Err(ToolError::new(format!("there is no remote {name:?}"))
                .hint("Use the name of a configured remote, usually `origin`; addresses are not accepted."));
        }
        for address in output.text().lines() {
            check_address(repository.git().options(), address)?;
        }
        Ok(Self(name.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Refuses an address whose transport is not allowed, or that git could take for an option.
pub(super) fn check_address(options: &GitOptions, address: &str) -> Result<(), ToolError> {
    plain("address", address)?;
    let (transport, host) = parts(address);
    if host.rsplit('@').next().is_some_and(|host| host.starts_with('-')) || host.starts_with('-') {
        return Err(
            ToolError::new("the host name in the address starts with a dash").hint("Correct the address.")
        );
    }
    if !options.protocols.iter().any(|allowed| allowed == transport) {
        return Err(ToolError::new(format!(
            "the transport {:?} of this address is not allowed",
            clean(transport)
        ))
        .hint(format!("Allowed are: {}.", options.protocols.join(", "))));
    }
    Ok(())
}

/// True if the address contains a password.
pub(super) fn has_password(address: &str) -> bool {
    let (_, host) = parts(address);
    address.contains("://") && host.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
}

/// Transport and host of an address, parsed like git does.
fn parts(address: &str) -> (&str, &str) {
    let authority = |rest: &'_ str| rest.find('/').unwrap_or(rest.len());
    if let Some((scheme, rest)) = address.split_once("://").filter(|(scheme, _)| !scheme.contains(['/', ':']))
    {
        let transport = match scheme {
            "git+ssh" | "ssh+git" => "ssh",
            scheme => scheme,
        };
        return (transport, &rest[..authority(rest)]);
    }
    if let Some((helper, rest)) =
        address.split_once("::").filter(|(helper, _)| !helper.contains(['/', ':', '@']))
    {
        return (helper, rest);
    }
    match address.split_once(':') {
        Some((host, _)) if !host.contains('/') => ("ssh", host),
        _ => ("file", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_git_reads_them() {
        assert_eq!(parts("https://u:p@host/x"), ("https", "u:p@host"));
        assert_eq!(parts("ext::sh -c x"), ("ext", "sh -c x"));
        assert_eq!(parts("ext::sh -c http://x"), ("ext", "sh -c http://x"));
        assert_eq!(parts("git@host:path"), ("ssh", "git@host"));
        assert_eq!(parts("../up"), ("file", ""));
        assert_eq!(parts("./a:b"), ("file", ""));
        assert_eq!(parts("ssh://-oProxyCommand=x/y"), ("ssh", "-oProxyCommand=x"));
        assert!(has_password("https://u:p@host/x") && !has_password("ssh://git@host/x"));
    }
}
