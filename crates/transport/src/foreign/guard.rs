//! The check between name resolution and connection.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use super::address::is_public;
use super::allowed_hosts::AllowedHosts;
use super::resolve::{Resolve, SystemResolver};

/// The addresses that a client connects to.
#[derive(Debug, Clone, Default)]
pub enum AddressPolicy {
    /// Any address: the URLs are ours or the operator's.
    #[default]
    Any,
    /// Only addresses that the guard lets pass: the URLs come from strangers.
    Guarded(Arc<AddressGuard>),
}

/// Resolves names and refuses addresses that are neither public nor allowed.
#[derive(Clone)]
pub struct AddressGuard {
    allowed: AllowedHosts,
    resolver: Arc<dyn Resolve>,
}

/// An address that a stranger may not reach through us.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{address} is not a public address, and it is not among the allowed hosts")]
pub struct AddressRefused {
    pub address: IpAddr,
}

impl AddressGuard {
    pub fn new(allowed: AllowedHosts) -> Self {
        Self::with_resolver(allowed, Arc::new(SystemResolver))
    }

    pub fn with_resolver(allowed: AllowedHosts, resolver: Arc<dyn Resolve>) -> Self {
        Self { allowed, resolver }
    }

    /// The addresses of a host, all of them checked. One bad address refuses the host: a name with
    /// public and private addresses is a trap.
    pub(crate) async fn resolve(self: Arc<Self>, host: String) -> io::Result<Vec<IpAddr>> {
        let addresses = self.resolver.resolve(&host).await?;
        for address in &addresses {
            self.check(&host, *address).map_err(io::Error::other)?;
        }
        Ok(addresses)
    }

    /// Checks one address of a host.
    pub(crate) fn check(&self, host: &str, address: IpAddr) -> Result<(), AddressRefused> {
        if is_public(address) || self.allowed.contains(address) || self.allowed.names(host) {
            return Ok(());
        }
        Err(AddressRefused { address })
    }
}

/// The address in a URL whose host is an address. Such a URL needs no name resolution.
pub(crate) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

impl fmt::Debug for AddressGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddressGuard").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}
