//! Rules of the group `auth`.

rules![
    auth_challenge,
    issuer_metadata,
    pkce,
    plain_http,
    resource_metadata,
    wrong_token_refused,
];
