// table
//! The failures that the bench can show.

/// A failure of the authorization server or the MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    NoChallenge,
    NoMetadata,
    OtherResource,
    ResourceList,
    NoAuthorizationServer,
    IssuerUnknown,
    OtherIssuer,
    ScriptEndpoint,
    PrivateEndpoint,
    NoPkce,
    PlainPkce,
    NoRegistration,
    RegistrationRefused,
    RegistrationHuge,
    Denied,
    WrongState,
    IssMissing,
    IssWrong,
    IssSlash,
    CodeRefused,
    TokenDown,
    TokenPage,
    TokenType,
    NoRefreshToken,
    KeepsRefreshToken,
    RefreshRefused,
    RefreshDown,
    LifetimeZero,
    LifetimeNegative,
    LifetimeMissing,
    TokenRejected,
    ScopeLoop,
    HugeChallenge,
    Moved,
}

/// Every failure with its switch and its meaning.
pub const FAILURES: &[(Failure, &str, &str)] = &[
    (Failure::NoChallenge, "no-challenge", "the 401 has no WWW-Authenticate header"),
    (Failure::NoMetadata, "no-metadata", "the server has no protected-resource metadata"),
    (Failure::OtherResource, "other-resource", "the metadata is for another resource"),
    (Failure::ResourceList, "resource-list", "`resource` is an array"),
    (Failure::NoAuthorizationServer, "no-authorization-server", "the metadata lists no authorization server"),
    (Failure::IssuerUnknown, "issuer-unknown", "the authorization server has no metadata"),
    (Failure::OtherIssuer, "other-issuer", "the metadata names another issuer"),
    (Failure::ScriptEndpoint, "script-endpoint", "the authorization endpoint is a `javascript:` URL"),
    (Failure::PrivateEndpoint, "private-endpoint", "the token endpoint is plain http on another machine"),
    (Failure::NoPkce, "no-pkce", "the authorization server does not support PKCE"),
    (Failure::PlainPkce, "plain-pkce", "it supports only the method `plain`"),
    (Failure::NoRegistration, "no-registration", "it registers no clients"),
    (Failure::RegistrationRefused, "registration-refused", "it refuses to register this client"),
    (Failure::RegistrationHuge, "registration-huge", "its answer to a registration has 1 MB"),
    (Failure::Denied, "denied", "the user refuses consent"),
    (Failure::WrongState, "wrong-state", "the answer has another `state`"),
    (Failure::IssMissing, "iss-missing", "the answer has no `iss`, although it is promised"),
    (Failure::IssWrong, "iss-wrong", "the answer has the `iss` of another issuer"),
    (Failure::IssSlash, "iss-slash", "the `iss` of the answer has a slash more"),
    (Failure::CodeRefused, "code-refused", "the token endpoint refuses the code"),
    (Failure::TokenDown, "token-down", "the token endpoint answers with status 503"),
    (Failure::TokenPage, "token-page", "the token endpoint answers with a page for browsers"),
    (Failure::TokenType, "token-type", "the token is not a bearer token"),
    (Failure::NoRefreshToken, "no-refresh-token", "there is no refresh token"),
    (Failure::KeepsRefreshToken, "keeps-refresh-token", "a refresh returns no new refresh token"),
    (Failure::RefreshRefused, "refresh-refused", "a refresh is refused with `invalid_grant`"),
    (Failure::RefreshDown, "refresh-down", "a refresh is answered with status 503"),
    (Failure::LifetimeZero, "lifetime-zero", "`expires_in` is 0"),
    (Failure::LifetimeNegative, "lifetime-negative", "`expires_in` is -1"),
    (Failure::LifetimeMissing, "lifetime-missing", "there is no `expires_in`"),
    (Failure::TokenRejected, "token-rejected", "the MCP server refuses every token"),
    (Failure::ScopeLoop, "scope-loop", "the MCP server always wants more scopes"),
    (Failure::HugeChallenge, "huge-challenge", "the challenge has 64 KB"),
    (Failure::Moved, "moved", "the server names another authorization server than before"),
];

impl Failure {
    /// The switch of this failure.
    pub fn name(self) -> &'static str {
        FAILURES.iter().find(|(failure, ..)| *failure == self).map_or("", |(_, name, _)| name)
    }

    pub fn named(name: &str) -> Option<Self> {
        FAILURES.iter().find(|(_, known, _)| *known == name).map(|(failure, ..)| *failure)
    }
}
