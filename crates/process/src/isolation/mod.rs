//! Isolates the calling process: bounded memory and CPU time, no files, no network, no programs.
//!
//! It is for a child process that parses untrusted input, and cannot be undone. Descriptors that
//! are open already stay usable. On Linux, Landlock refuses files and TCP, and a seccomp filter
//! allows only the system calls of a program that computes; on other systems only memory and CPU
//! time are bounded.

#[cfg(target_os = "linux")]
mod linux;

use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::confinement::Restriction;

/// The limits of an isolated process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isolation {
    /// Bytes of address space (`RLIMIT_AS`).
    pub memory: u64,
    /// CPU time of all threads, rounded up to seconds (`RLIMIT_CPU`).
    pub cpu: Duration,
}

/// The degree to which the kernel enforces the isolation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Isolated {
    /// Files and TCP.
    pub files: Restriction,
    /// System calls.
    pub system_calls: Restriction,
}

/// The isolation could not be set up completely. The process must not handle untrusted input.
#[derive(Debug, thiserror::Error)]
#[error("the kernel refused {limit}")]
pub struct IsolationFailed {
    limit: &'static str,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Isolation {
    /// Isolates this process. It must have only one thread: those that it starts later inherit the
    /// isolation, others do not.
    pub fn apply(self) -> Result<Isolated, IsolationFailed> {
        let seconds = self.cpu.as_secs() + u64::from(self.cpu.subsec_nanos() > 0);
        set(Resource::Core, 0)?;
        set(Resource::Fsize, 0)?;
        set(Resource::As, self.memory)?;
        set(Resource::Cpu, seconds)?;
        restrict()
    }
}

fn set(resource: Resource, value: u64) -> Result<(), IsolationFailed> {
    let limit = Rlimit { current: Some(value), maximum: Some(value) };
    setrlimit(resource, limit).map_err(|error| failed("a resource limit", error))
}

fn failed(
    limit: &'static str,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> IsolationFailed {
    IsolationFailed { limit, source: source.into() }
}

#[cfg(not(target_os = "linux"))]
fn restrict() -> Result<Isolated, IsolationFailed> {
    Ok(Isolated { files: Restriction::Unavailable, system_calls: Restriction::Unavailable })
}

#[cfg(target_os = "linux")]
fn restrict() -> Result<Isolated, IsolationFailed> {
    let files = linux::restrict_files().map_err(|error| failed("the Landlock restriction", error))?;
    let system_calls = linux::restrict_system_calls().map_err(|error| failed("the seccomp filter", error))?;
    Ok(Isolated { files, system_calls })
}
