//! Rules of the group `lifecycle`.

rules![declared_lists, discover_result, first_answer, initialize_result, meta_required, ping_result, stateless_requests, undeclared_features, unsupported_version, version_negotiation];
