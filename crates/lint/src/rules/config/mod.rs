//! Rules of the group `config`.

mod config_approved_unseen;
mod config_duplicate_server;
mod config_listens_everywhere;
mod config_look_alike_package;
mod config_old_transport;
mod config_plain_http;
mod config_program_exists;
mod config_reachable_server;
mod config_secret_in_url;
mod config_secrets;
mod config_shell;
mod config_unpinned;
mod config_unverified_tls;
mod config_wide_access;
mod servers;

use crate::rule::Rule;
pub(crate) use servers::programs;

pub(super) static RULES: &[&Rule] = &[
    &config_approved_unseen::RULE,
    &config_duplicate_server::RULE,
    &config_listens_everywhere::RULE,
    &config_look_alike_package::RULE,
    &config_old_transport::RULE,
    &config_plain_http::RULE,
    &config_program_exists::RULE,
    &config_reachable_server::RULE,
    &config_secret_in_url::RULE,
    &config_secrets::RULE,
    &config_shell::RULE,
    &config_unpinned::RULE,
    &config_unverified_tls::RULE,
    &config_wide_access::RULE,
];
