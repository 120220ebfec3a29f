//! Rules of the group `lifecycle`.

rules![
    capability_values,
    client_requests,
    declared_lists,
    deprecated_features,
    discover_result,
    first_answer,
    initialize_refusal,
    initialize_result,
    instructions_text,
    known_revision,
    meta_required,
    newest_revision,
    ping_result,
    removed_methods,
    server_identity,
    server_requests,
    stateless_requests,
    undeclared_features,
    unsupported_version,
    version_negotiation,
];
