//! Rules of the group `config`.

mod servers;

pub(crate) use servers::programs;

rules![
    config_approved_unseen,
    config_duplicate_server,
    config_listens_everywhere,
    config_look_alike_package,
    config_old_transport,
    config_plain_http,
    config_program_exists,
    config_reachable_server,
    config_secret_in_url,
    config_secrets,
    config_shell,
    config_unpinned,
    config_unverified_tls,
    config_wide_access,
];
