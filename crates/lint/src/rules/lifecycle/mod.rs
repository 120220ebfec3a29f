//! Rules of the group `lifecycle`.

mod capability_values;
mod client_requests;
mod declared_lists;
mod deprecated_features;
mod discover_result;
mod first_answer;
mod initialize_refusal;
mod initialize_result;
mod instructions_text;
mod known_revision;
mod meta_accepted;
mod meta_required;
mod newest_revision;
mod ping_result;
mod removed_methods;
mod server_identity;
mod server_requests;
mod stateless_requests;
mod supported_versions_served;
mod undeclared_features;
mod unknown_capabilities;
mod unsupported_version;
mod version_negotiation;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &capability_values::RULE,
    &client_requests::RULE,
    &declared_lists::RULE,
    &deprecated_features::RULE,
    &discover_result::RULE,
    &first_answer::RULE,
    &initialize_refusal::RULE,
    &initialize_result::RULE,
    &instructions_text::RULE,
    &known_revision::RULE,
    &meta_accepted::RULE,
    &meta_required::RULE,
    &newest_revision::RULE,
    &ping_result::RULE,
    &removed_methods::RULE,
    &server_identity::RULE,
    &server_requests::RULE,
    &stateless_requests::RULE,
    &supported_versions_served::RULE,
    &undeclared_features::RULE,
    &unknown_capabilities::RULE,
    &unsupported_version::RULE,
    &version_negotiation::RULE,
];
