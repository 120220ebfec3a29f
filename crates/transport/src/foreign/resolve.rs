//! Name resolution.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;

/// A name lookup in progress.
pub type Lookup = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Resolves host names.
pub trait Resolve: fmt::Debug + Send + Sync {
    fn resolve(&self, host: &str) -> Lookup;
}

/// The resolver of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, host: &str) -> Lookup {
        let host = host.to_owned();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}
