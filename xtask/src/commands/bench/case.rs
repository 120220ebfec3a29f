//! A benchmark case: a transport, an era, and the clients that are compared.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) carrier: Carrier,
    pub(super) era: &'static str,
    /// Ours first.
    pub(super) clients: &'static [Client],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carrier {
    Http,
    Stdio,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Client {
    Trunkline,
    /// Default settings; over HTTP it opens a connection for every call.
    Rmcp,
    /// With an HTTP client that keeps connections alive.
    RmcpPooled,
}

const HTTP: &[Client] = &[Client::Trunkline, Client::Rmcp, Client::RmcpPooled];
const STDIO: &[Client] = &[Client::Trunkline, Client::Rmcp];

pub(super) const CASES: &[Case] = &[
    Case { name: "http-modern", carrier: Carrier::Http, era: "modern", clients: HTTP },
    Case { name: "http-legacy", carrier: Carrier::Http, era: "legacy", clients: HTTP },
    Case { name: "stdio-modern", carrier: Carrier::Stdio, era: "modern", clients: STDIO },
    Case { name: "stdio-legacy", carrier: Carrier::Stdio, era: "legacy", clients: STDIO },
];

impl Client {
    /// The client's name for `bench-client --client`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trunkline => "trunkline",
            Self::Rmcp => "rmcp",
            Self::RmcpPooled => "rmcp-pooled",
        }
    }
}
