//! Rules of the group `config`.

mod servers;

rules![
    config_plain_http,
    config_secrets,
    config_shell,
    config_unpinned,
];
