//! Names: any tool of any server gets a unique public name that clients accept and that maps back
//! to the tool.
//!
//! An input is the name of a server, a line break, and names of tools, one per line.

use trunkline_protocol::{MAX_PUBLIC_NAME, NameMap, PublicName, ServerName, ToolName};

pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (server, tools) = text.split_once('\n').unwrap_or((&text, ""));
    if let Ok(public) = text.parse::<PublicName>() {
        is_public(&public);
        assert_eq!(public.as_str(), text);
    }
    let Ok(server) = server.parse::<ServerName>() else { return };
    let mut map = NameMap::new();
    let mut seen: Vec<&str> = Vec::new();
    for tool in tools.split('\n') {
        let named = map.insert(&server, &ToolName::from(tool));
        if seen.contains(&tool) {
            assert!(named.is_err(), "listed twice");
            continue;
        }
        seen.push(tool);
        let public = named.expect("no two tools have one name");
        is_public(&public);
        assert_eq!(public.server(), server);
        let (back, meant) = map.get(&public).expect("it was put there");
        assert_eq!((back, meant.as_ref()), (&server, tool));
        if !public.as_str().ends_with(tool) {
            assert!(public.as_str().contains("_x"), "a name that was changed is marked");
        }
    }
    assert_eq!(map.iter().count(), seen.len());
}

fn is_public(public: &PublicName) {
    let text = public.as_str();
    assert!(text.len() <= MAX_PUBLIC_NAME);
    assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'));
    assert_eq!(text.parse::<PublicName>().as_ref(), Ok(public));
    assert!(text.starts_with(&format!("{}_", public.server())));
}
