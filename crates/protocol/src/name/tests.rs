use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn server(text: &str) -> ServerName {
    text.parse().unwrap()
}

fn join(server_name: &str, tool: &str) -> String {
    PublicName::join(&server(server_name), &tool.into()).to_string()
}

#[test]
fn plain_names_stay_plain() {
    assert_eq!(join("github", "create_issue"), "github_create_issue");
    assert_eq!(join("my-server", "get-Thing__2"), "my-server_get-Thing__2");
    assert_eq!(join("a", "constructor"), "a_constructor");
    assert_eq!(join("a", &"t".repeat(62)), format!("a_{}", "t".repeat(62)));
}

#[test]
fn other_names_get_a_stable_mark() {
    assert_eq!(join("fs", "read.file"), "fs_read_file_x2r9lm8hs5j");
    assert_eq!(join("fs", "read/file"), "fs_read_file_x2c5kuq2k52");
    assert_eq!(join("fs", ""), "fs__xpfp9pp4448");
}

#[test]
fn hostile_names_stay_apart_and_within_bounds() {
    let tools = [
        "a.b",
        "a/b",
        "a_b",
        "a b",
        "ä",
        "ö",
        "\u{202e}",
        "",
        "_",
        "__proto__",
        "constructor",
        "a\0b",
        "a\nb",
        "fs_read_file_x2r9lm8hs5j",
        "read_file_x2r9lm8hs5j",
        "read.file",
        "read_file",
        "_x0123456789",
        &"t".repeat(63),
        &"t".repeat(64),
        &"t".repeat(500),
        &"ü".repeat(64),
    ];
    let mut seen = BTreeSet::new();
    for name in ["a", "A", "fs", "a-b", &"s".repeat(MAX_SERVER_NAME)] {
        for tool in tools {
            let public = PublicName::join(&server(name), &tool.into());
            assert_eq!(public.as_str().parse(), Ok(public.clone()), "{tool:?}");
            assert_eq!(public.server(), server(name));
            assert!(seen.insert(public), "{name} {tool:?}");
        }
    }
}

#[test]
fn a_separator_in_a_tool_name_moves_nothing_to_another_server() {
    assert_ne!(join("a", "b__c"), join("a-", "b__c"));
    assert_eq!(PublicName::join(&server("a"), &"b_c".into()).server(), server("a"));
    for bad in ["a__b", "a_b", "", "-a", "a.b", "ä", "a b", &"s".repeat(MAX_SERVER_NAME + 1)] {
        assert_eq!(bad.parse::<ServerName>(), Err(BadServerName(bad.to_owned())), "{bad}");
    }
    for bad in ["", "a", "_a", "a_", "a_b.c", "-_a", &format!("a_{}", "t".repeat(63))] {
        assert!(bad.parse::<PublicName>().is_err(), "{bad}");
    }
}

#[test]
fn a_taken_name_is_refused() {
    let mut names = NameMap::new();
    let public = names.insert(&server("a"), &"b.c".into()).unwrap();
    assert_eq!(names.get(&public), Some((&server("a"), &"b.c".into())));
    let collision = names.insert(&server("a"), &"b.c".into()).unwrap_err();
    assert_eq!(collision.public, public);
    assert_eq!(names.iter().count(), 1);
}

/// Similar names, which collide if the renaming rule has a mistake.
fn any_tool() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab_./-]{0,6}",
        "[ab]{50,70}",
        "[ab._]{0,3}_x[0-9a-v]{9,11}",
        any::<String>(),
        "[ab./_]{0,4}".prop_map(|tool| join("s", &tool)[2..].to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn different_tools_have_different_names_that_map_back(
        pairs in prop::collection::btree_set(("[ab-]{0,2}[a-b]|a{30,32}", any_tool()), 2..60)
    ) {
        let mut names = NameMap::new();
        let mut given = Vec::new();
        for (name, tool) in &pairs {
            let Ok(name) = name.parse::<ServerName>() else { continue };
            let tool = ToolName::from(tool.as_str());
            let public = names.insert(&name, &tool);
            prop_assert!(public.is_ok(), "{public:?}");
            given.push((public.unwrap(), name, tool));
        }
        for (public, name, tool) in &given {
            prop_assert!(public.as_str().len() <= MAX_PUBLIC_NAME);
            prop_assert!(public.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
            prop_assert_eq!(names.get(public), Some((name, tool)));
            prop_assert_eq!(&PublicName::join(name, tool), public);
        }
    }
}
