//! What is measured: a way to the server, an era, and the clients that go it.

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
    /// As it comes. Over HTTP it opens a connection for every call.
    Rmcp,
    /// With its HTTP client told to keep connections.
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
    /// What `bench-client --client` calls it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Trunkline => "trunkline",
            Self::Rmcp => "rmcp",
            Self::RmcpPooled => "rmcp-pooled",
        }
    }
}
