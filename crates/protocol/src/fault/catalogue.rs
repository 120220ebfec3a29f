// table
//! The catalogue of failures, one row each. MCP errors, REST responses, command line messages and
//! docs are made from it.

use crate::Era;

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// E0xx file, E1xx URL, E2xx MCP, E3xx processing, E4xx store.
    pub code: &'static str,
    /// The stable name for use in programs.
    pub name: &'static str,
    rpc: Rpc,
    pub http_status: u16,
    pub rest_code: &'static str,
    /// True if the same call may succeed later, unchanged.
    pub retryable: bool,
    pub user_message: &'static str,
    pub suggested_action: &'static str,
}

/// The source of the JSON-RPC code of a failure.
#[derive(Debug, Clone, Copy)]
enum Rpc {
    /// The specification's number, the same in both eras.
    Spec(i64),
    /// The specification's numbers where the eras differ: legacy, modern.
    PerEra(i64, i64),
    /// The specification has no code. Ours is 1000 plus the number in `code`, far from the
    /// reserved range.
    Own,
}

impl Entry {
    pub fn rpc_code(&self, era: Era) -> i64 {
        match (self.rpc, era) {
            (Rpc::Spec(code), _)
            | (Rpc::PerEra(code, _), Era::Legacy)
            | (Rpc::PerEra(_, code), Era::Modern) => code,
            (Rpc::Own, _) => 1000 + self.code[1..].parse::<i64>().expect("a code is E and three digits"),
        }
    }
}

macro_rules! catalogue {
    ($($kind:ident = $code:literal $name:literal $rpc:expr, $http:literal $rest:literal $retry:ident, $user:literal, $action:literal;)*) => {
        /// The kinds of failure, one per row of [`CATALOGUE`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FaultKind {
            $(#[doc = $user] $kind,)*
        }

        /// All failures, sorted by code.
        pub const CATALOGUE: &[(FaultKind, Entry)] = &[$((FaultKind::$kind, Entry {
            code: $code,
            name: $name,
            rpc: $rpc,
            http_status: $http,
            rest_code: $rest,
            retryable: catalogue!(@ $retry),
            user_message: $user,
            suggested_action: $action,
        }),)*];
    };
    (@ retry) => { true };
    (@ final) => { false };
}

catalogue! {
    FileNotFound = "E001" "file-not-found" Rpc::Own, 404 "EXECUTION_ERROR" final,
        "The file does not exist", "Check the path";
    FileUnreadable = "E002" "file-unreadable" Rpc::Own, 403 "EXECUTION_ERROR" final,
        "The file cannot be read", "Check the permissions of the file and of its folders";
    FileTooLarge = "E003" "file-too-large" Rpc::Own, 413 "VALIDATION_ERROR" final,
        "The file is larger than the limit", "Use a smaller file, or raise the limit in the configuration";
    FileUnsupported = "E004" "file-unsupported" Rpc::Own, 415 "VALIDATION_ERROR" final,
        "This type of file is not supported", "Use one of the supported types";
    UrlInvalid = "E101" "url-invalid" Rpc::Own, 400 "VALIDATION_ERROR" final,
        "The address is not a valid URL", "Write it as http://host/path or https://host/path";
    UrlUnreachable = "E102" "url-unreachable" Rpc::Own, 502 "EXECUTION_ERROR" retry,
        "The address cannot be reached", "Check the address and the network, then try again";
    UrlRefused = "E103" "url-refused" Rpc::Own, 403 "PERMISSION_ERROR" final,
        "The address is not allowed", "Use an address that the rules allow";
    Unavailable = "E201" "unavailable" Rpc::Spec(-32603), 503 "EXECUTION_ERROR" retry,
        "The server could not do this", "Try again later; the server's own message says more";
    Timeout = "E202" "timeout" Rpc::Own, 504 "TIMEOUT_ERROR" retry,
        "The server did not answer in time", "Try again, or allow more time with --timeout";
    InvalidRequest = "E203" "invalid-request" Rpc::Spec(-32602), 400 "VALIDATION_ERROR" final,
        "The server refused the request as invalid", "Check the arguments against the tool's schema";
    NotAvailable = "E204" "not-available" Rpc::Spec(-32601), 404 "TOOL_NOT_FOUND" final,
        "The server does not offer this", "List what the server offers, and check the name";
    CapabilityMissing = "E205" "capability-missing" Rpc::Spec(-32601), 404 "TOOL_NOT_FOUND" final,
        "The server does not have this capability", "Use another server, or ask its author for it";
    HeaderMismatch = "E206" "header-mismatch" Rpc::PerEra(-32600, -32020), 400 "VALIDATION_ERROR" retry,
        "The request's headers contradict its body", "List the tools again, then repeat the call";
    ClientCapabilityMissing = "E207" "client-capability-missing" Rpc::PerEra(-32600, -32021), 400 "VALIDATION_ERROR" final,
        "The server requires a capability that this client did not declare", "Call it from a terminal, or from a client that can answer its questions";
    UnsupportedRevision = "E208" "unsupported-revision" Rpc::PerEra(-32602, -32022), 400 "VALIDATION_ERROR" final,
        "Client and server have no protocol revision in common", "Choose a revision that the server supports with --era or MCP_PROTOCOL_VERSION";
    UrlElicitationRequired = "E209" "url-elicitation-required" Rpc::PerEra(-32042, -32600), 400 "EXECUTION_ERROR" retry,
        "The server asks you to open a URL first", "Open the URL, finish there, then repeat the call";
    ResourceNotFound = "E210" "resource-not-found" Rpc::PerEra(-32002, -32602), 404 "TOOL_NOT_FOUND" final,
        "The resource does not exist", "List the resources, and check the URI";
    Unauthorized = "E211" "unauthorized" Rpc::Own, 401 "PERMISSION_ERROR" final,
        "The server requires authentication", "Give a key or token with --header 'Authorization: Bearer …'; if the server has OAuth, sign in with `trunkline auth login SERVER`";
    Forbidden = "E212" "forbidden" Rpc::Own, 403 "PERMISSION_ERROR" final,
        "The server does not allow you to do this", "Use an account or token that may do it";
    RateLimited = "E213" "rate-limited" Rpc::Own, 429 "RATE_LIMIT_ERROR" retry,
        "Too many requests", "Wait as long as the server says, then try again";
    Cancelled = "E214" "cancelled" Rpc::Own, 499 "EXECUTION_ERROR" final,
        "The call was cancelled", "Repeat the call if you still want it";
    ConnectionLost = "E215" "connection-lost" Rpc::Own, 502 "EXECUTION_ERROR" retry,
        "The connection broke before the answer came; the call may have run", "Check whether it took effect before you repeat it";
    CannotConnect = "E216" "cannot-connect" Rpc::Own, 502 "EXECUTION_ERROR" retry,
        "The server cannot be reached", "Check the address or command, and that the server runs";
    BadAnswer = "E217" "bad-answer" Rpc::Own, 502 "EXECUTION_ERROR" final,
        "The server's answer breaks the protocol", "Report it to the server's author; --trace shows the frames";
    TooLarge = "E218" "too-large" Rpc::Own, 413 "VALIDATION_ERROR" final,
        "The message is larger than the limit", "Ask for less, or raise the limit";
    CannotStart = "E219" "cannot-start" Rpc::Own, 502 "EXECUTION_ERROR" final,
        "The server's command cannot be started", "Check the path of the program, and its working directory (--cwd)";
    ServerExited = "E220" "server-exited" Rpc::Own, 502 "EXECUTION_ERROR" retry,
        "The server's process ended", "Read its error output; `trunkline doctor` looks for the cause";
    NotReady = "E221" "not-ready" Rpc::Own, 503 "EXECUTION_ERROR" final,
        "The connection is not open", "Connect first; a closed connection must be opened again";
    Declined = "E222" "declined" Rpc::Own, 403 "PERMISSION_ERROR" final,
        "The question was not answered", "Repeat the call and answer it";
    TooManyRounds = "E223" "too-many-rounds" Rpc::Own, 502 "EXECUTION_ERROR" final,
        "The server kept asking for more input", "Report it to the server's author";
    Overloaded = "E224" "overloaded" Rpc::Own, 503 "RATE_LIMIT_ERROR" retry,
        "Too many calls are in progress", "Wait for other calls to end, then try again";
    DeniedByPolicy = "E225" "denied-by-policy" Rpc::Own, 403 "PERMISSION_ERROR" final,
        "The policy does not allow this call", "Change the arguments, or ask an operator";
    ApprovalRefused = "E226" "approval-refused" Rpc::Own, 403 "PERMISSION_ERROR" final,
        "A person did not agree to this call", "Do not repeat it unless that person asks for it";
    ApprovalExpired = "E227" "approval-expired" Rpc::Own, 408 "PERMISSION_ERROR" retry,
        "Nobody decided about this call in time", "Ask an operator to run `trunkline approvals list`, then try again";
    ToolFailed = "E301" "tool-failed" Rpc::Own, 500 "EXECUTION_ERROR" final,
        "The tool reported a failure", "Read the tool's own message";
    ConversionFailed = "E302" "conversion-failed" Rpc::Own, 500 "EXECUTION_ERROR" retry,
        "The document could not be converted", "Try again, or try another document";
    ExportFailed = "E303" "export-failed" Rpc::Own, 500 "EXECUTION_ERROR" retry,
        "The document could not be exported", "Try again, or choose another format";
    StoreUnavailable = "E401" "store-unavailable" Rpc::Own, 503 "EXECUTION_ERROR" retry,
        "The store cannot be reached", "Check that the store runs, then try again";
}

impl FaultKind {
    pub fn entry(self) -> &'static Entry {
        // The rows have the order of the variants because one macro generates both.
        &CATALOGUE[self as usize].1
    }

    /// True if the call may have run although it failed like this.
    pub fn may_have_run(self) -> bool {
        matches!(self, Self::Timeout | Self::ConnectionLost | Self::ServerExited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_and_names_are_unique_sorted_and_found() {
        let codes: Vec<_> = CATALOGUE.iter().map(|(_, e)| e.code).collect();
        assert!(codes.is_sorted(), "{codes:?}");
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
        assert_eq!(CATALOGUE.iter().map(|(_, e)| e.name).collect::<HashSet<_>>().len(), codes.len());
        for (kind, entry) in CATALOGUE {
            assert_eq!(kind.entry().code, entry.code);
        }
    }

    #[test]
    fn our_own_numbers_lie_outside_the_reserved_range() {
        for (_, entry) in CATALOGUE.iter().filter(|(_, e)| matches!(e.rpc, Rpc::Own)) {
            for era in [Era::Legacy, Era::Modern] {
                assert!(entry.rpc_code(era) > 0, "{}", entry.code);
            }
        }
    }

    #[test]
    fn every_family_of_the_catalogue_has_a_row() {
        for family in ["E0", "E1", "E2", "E3", "E4"] {
            assert!(CATALOGUE.iter().any(|(_, e)| e.code.starts_with(family)), "{family}");
        }
    }
}
