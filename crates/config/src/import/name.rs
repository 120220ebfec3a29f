//! Makes server names valid.

use trunkline_protocol::MAX_SERVER_NAME;

/// Turns another client's server name into a valid one: invalid characters become `-`.
pub(crate) fn legal_name(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let mut legal = String::new();
    for part in plain.split('-').filter(|part| !part.is_empty()) {
        if !legal.is_empty() {
            legal.push('-');
        }
        legal.push_str(part);
    }
    legal.truncate(MAX_SERVER_NAME);
    let legal = legal.trim_end_matches('-');
    if legal.is_empty() { "server".to_owned() } else { legal.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::ServerName;

    #[test]
    fn every_name_becomes_legal() {
        for (given, legal) in [
            ("github", "github"),
            ("my_server", "my-server"),
            ("@scope/Some Server!", "scope-Some-Server"),
            ("--", "server"),
            ("日本", "server"),
            ("a-very-long-name-that-does-not-fit-at-all", "a-very-long-name-that-does-not-f"),
        ] {
            assert_eq!(legal_name(given), legal);
            assert!(legal.parse::<ServerName>().is_ok());
        }
    }
}
