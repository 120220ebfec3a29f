//! Access to tools: A05, A06, M03.

use super::{
    Client, Gateway, client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::{
    catalog::{ItemRules, KindRules, Rules, ServerRules},
    policy::{FilterRules, PolicyRules, RoleRules},
    view::{Naming, ViewRules},
};
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{Era, method::*};

fn filter(allow: Option<&[&str]>, deny: &[&str]) -> FilterRules {
    let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect();
    FilterRules { allow: allow.map(owned), deny: owned(deny) }
}

fn roles(roles: &[(&str, FilterRules)], otherwise: Option<FilterRules>) -> PolicyRules {
    let roles = roles
        .iter()
        .map(|(role, filter)| {
            ((*role).to_owned(), RoleRules { filter: filter.clone(), ..RoleRules::default() })
        })
        .collect();
    PolicyRules { roles, otherwise: otherwise.map(RoleRules::from), ..PolicyRules::default() }
}

fn lists() -> Lists {
    Lists {
        prompts: vec![raw(r#"{"name":"write_letter"}"#), raw(r#"{"name":"read_letter"}"#)],
        templates: vec![raw(r#"{"uriTemplate":"write://{id}","name":"t"}"#)],
        ..Lists {
            tools: Lists::tools(&["read_file", "write_file"]).tools,
            ..Lists::resources(&["read:a", "write:a"])
        }
    }
}

fn guarded() -> (Gateway, Arc<Fake>) {
    let fs = Fake::new("fs", lists());
    let bare = ViewRules { naming: Naming::Bare, ..ViewRules::default() };
    let rules = Rules {
        policy: roles(
            &[("reader", filter(Some(&["fs_read*"]), &[])), ("writer", filter(Some(&["fs_*"]), &[]))],
            None,
        ),
        views: [("bare".to_owned(), bare)].into(),
        ..Rules::default()
    };
    (gateway(&[&fs], rules), fs)
}

#[tokio::test]
async fn a14_a_tool_that_a_caller_may_not_use_has_no_server() {
    let (gateway, _fs) = guarded();
    let secret = Fake::new("secret", Lists::tools(&["look"]));
    let rules =
        Rules { policy: roles(&[("reader", filter(Some(&["fs_read*"]), &[]))], None), ..Rules::default() };
    let with_secret = super::gateway(&[&Fake::new("fs", lists()), &secret], rules);
    let reader = super::caller("r", &["reader"]);
    let of = |gateway: &Gateway, tool| gateway.server_of(&reader, None, tool).map(|name| name.to_string());
    assert_eq!(of(&gateway, "fs_read_file").as_deref(), Some("fs"));
    // One that is not listed yet is queued where it will be.
    assert_eq!(of(&gateway, "fs_read_new").as_deref(), Some("fs"));
    for tool in ["fs_write_file", "fs_write_new", "secret_look", "secret_new", "nowhere_look"] {
        assert_eq!(of(&with_secret, tool), None, "{tool}");
    }
}

#[tokio::test]
async fn a05_what_is_denied_is_not_listed_and_answered_like_the_unknown() {
    let (gateway, fs) = guarded();
    for view in [None, Some("bare"), Some("server/fs")] {
        let mut reader = Client::named("r", &["reader"]);
        reader.view = view.map(Into::into);
        let prefix = if view.is_none() { "fs_" } else { "" };
        assert_eq!(reader.names(&gateway, TOOLS_LIST).await, [format!("{prefix}read_file")]);
        assert_eq!(reader.names(&gateway, PROMPTS_LIST).await, [format!("{prefix}read_letter")]);
        assert_eq!(reader.names(&gateway, RESOURCES_LIST).await, ["read:a"]);
        assert!(reader.names(&gateway, RESOURCES_TEMPLATES).await.is_empty());
        for spelled in [
            "write_file",
            "fs_write_file",
            "FS_write_file",
            "fs_Write_file",
            "fs_write_file ",
            " fs_write_file",
            "fs__write_file",
            "fs_write\u{2010}file",
            "fs_wr\u{456}te_file",
            "server/fs_write_file",
            "fs/write_file",
            "fs_write_file\0",
        ] {
            let denied = reader
                .ask(&gateway, TOOLS_CALL, json!({"name": spelled, "arguments": {}}))
                .await
                .unwrap_err();
            let error = denied.to_error(Era::Modern);
            let shown: String = spelled.to_owned();
            assert_eq!((error.code, error.message), (-32602, format!("unknown tool `{shown}`")), "{view:?}");
        }
        let prompt = reader
            .ask(&gateway, PROMPTS_GET, json!({"name": format!("{prefix}write_letter")}))
            .await
            .unwrap_err();
        let unknown = reader.ask(&gateway, PROMPTS_GET, json!({"name": "nothing_here"})).await.unwrap_err();
        assert_eq!(prompt.kind(), unknown.kind());
        for uri in ["write:a", "write://7", "trunkline:fs/write:a"] {
            let denied = reader.ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap_err();
            assert_eq!(denied.message(), format!("there is no resource `{uri}`"));
        }
        let completion = json!({"ref": {"type": "ref/prompt", "name": format!("{prefix}write_letter")}, "argument": {"name": "a", "value": ""}});
        assert!(
            reader
                .ask(&gateway, COMPLETE, completion)
                .await
                .unwrap_err()
                .message()
                .starts_with("unknown prompt")
        );
    }
    assert!(fs.calls().is_empty(), "nothing of it reached the server");
}

#[tokio::test]
async fn m03_the_same_caller_gets_the_same_answer_by_every_way() {
    let (gateway, _) = guarded();
    for (view, name) in
        [(None, "fs_write_file"), (Some("bare"), "write_file"), (Some("server/fs"), "write_file")]
    {
        for (roles, may) in
            [(&["writer"][..], true), (&["reader"], false), (&["stranger"], false), (&[], false)]
        {
            let mut asking = Client::named("x", roles);
            asking.view = view.map(Into::into);
            let answer = asking.ask(&gateway, TOOLS_CALL, json!({"name": name})).await;
            assert_eq!(answer.is_ok(), may, "{view:?} {roles:?}");
        }
    }
}

#[tokio::test]
async fn a06_filters_only_narrow() {
    let fs = Fake::new("fs", Lists::tools(&["read", "write", "drop"]));
    let deny = filter(None, &["fs_write"]);
    let rules = |policy| Rules { policy, ..Rules::default() };
    // A second role cannot allow what the first denies.
    let both = gateway(&[&fs], rules(roles(&[("a", deny.clone()), ("b", filter(Some(&["*"]), &[]))], None)));
    assert_eq!(Client::named("x", &["a", "b"]).names(&both, TOOLS_LIST).await, ["fs_read", "fs_drop"]);
    assert_eq!(Client::named("x", &["b", "a", "a"]).names(&both, TOOLS_LIST).await, ["fs_read", "fs_drop"]);
    // Unknown roles, or none, give no access.
    assert!(Client::named("x", &["c"]).names(&both, TOOLS_LIST).await.is_empty());
    let otherwise = gateway(&[&fs], rules(roles(&[("a", deny)], Some(filter(Some(&["fs_read"]), &[])))));
    assert_eq!(Client::named("x", &[]).names(&otherwise, TOOLS_LIST).await, ["fs_read"]);
    assert_eq!(Client::named("x", &["a"]).names(&otherwise, TOOLS_LIST).await, ["fs_read", "fs_drop"]);
}

#[tokio::test]
async fn a_new_name_does_not_open_what_was_denied() {
    let fs = Fake::new("fs", Lists::tools(&["write"]));
    let renamed = ItemRules { rename: Some("save".to_owned()), ..ItemRules::default() };
    let tools = KindRules { items: vec![("write".to_owned(), renamed)], ..KindRules::default() };
    let rules = Rules {
        servers: [("fs".parse().unwrap(), ServerRules { tools, ..ServerRules::default() })].into(),
        policy: roles(
            &[
                ("a", filter(None, &["fs_write"])),
                ("b", filter(None, &["fs_save"])),
                ("c", filter(None, &[])),
            ],
            None,
        ),
        ..Rules::default()
    };
    let gateway = gateway(&[&fs], rules);
    for (role, may) in [("a", false), ("b", false), ("c", true)] {
        let asking = Client::named("x", &[role]);
        assert_eq!(asking.ask(&gateway, TOOLS_CALL, json!({"name": "fs_save"})).await.is_ok(), may, "{role}");
        assert_eq!(asking.names(&gateway, TOOLS_LIST).await.len(), usize::from(may));
    }
}

#[tokio::test]
async fn what_rules_hide_is_gone_for_everyone_and_reported() {
    let fs = Fake::new("fs", Lists::tools(&["read", "write", "drop"]));
    let hide = ItemRules { hide: Some(true), ..ItemRules::default() };
    let tools = KindRules { filter: filter(None, &["w*"]), items: vec![("drop".to_owned(), hide)] };
    let server = ServerRules { tools, ..ServerRules::default() };
    let rules = Rules { servers: [("fs".parse().unwrap(), server)].into(), ..Rules::default() };
    let gateway = gateway(&[&fs], rules);
    for view in [None, Some("server/fs")] {
        let mut asking = client();
        asking.view = view.map(Into::into);
        assert_eq!(asking.names(&gateway, TOOLS_LIST).await.len(), 1);
    }
    assert!(client().ask(&gateway, TOOLS_CALL, json!({"name": "fs_write"})).await.is_err());
    let report: Value = serde_json::to_value(gateway.catalog_report()).unwrap();
    assert_eq!(
        report["servers"][0]["hidden"][0],
        json!({"kind": "tool", "name": "write", "reason": "the rules hide it"})
    );
    assert_eq!(
        (report["servers"][0]["tools"].as_u64(), report["servers"][0]["hidden"].as_array().unwrap().len()),
        (Some(1), 2)
    );
}

#[tokio::test]
async fn instructions_of_a_server_that_a_caller_may_not_know_are_not_told() {
    let a = Fake::new("a", Lists { instructions: Some("be kind"), ..Lists::tools(&["x"]) });
    let b = Fake::new("b", Lists { instructions: Some("be quick"), ..Lists::tools(&["y"]) });
    let rules = Rules { policy: roles(&[("only-a", filter(Some(&["a_x"]), &[]))], None), ..Rules::default() };
    let gateway = gateway(&[&a, &b], rules);
    let discovered = Client::named("x", &["only-a"]).ask(&gateway, DISCOVER, json!({})).await.unwrap();
    assert_eq!(discovered.member_as::<String>("instructions").unwrap(), "## a\n\nbe kind");
    assert_eq!(discovered.member_as::<String>("cacheScope").unwrap(), "private");
}

#[tokio::test]
async fn a_resource_that_is_hidden_cannot_be_read_by_another_way() {
    let lists = Lists {
        templates: vec![raw(r#"{"uriTemplate":"file:///{+path}","name":"t"}"#)],
        ..Lists::resources(&["file:///open", "file:///secret/a"])
    };
    let fs = Fake::new("fs", lists);
    let secret = || filter(None, &["*file:///secret/*"]);
    let by_server = ServerRules {
        resources: KindRules { filter: secret(), items: Vec::new() },
        ..ServerRules::default()
    };
    let by_view =
        Rules { main: ViewRules { resources: secret(), ..ViewRules::default() }, ..Rules::default() };
    let by_server = Rules { servers: [("fs".parse().unwrap(), by_server)].into(), ..Rules::default() };
    for rules in [by_server, by_view] {
        let gateway = gateway(&[&fs], rules);
        assert_eq!(client().names(&gateway, RESOURCES_LIST).await, ["file:///open"]);
        for (uri, may) in [
            ("file:///open", true),
            ("file:///other", true),
            ("file:///secret/a", false),
            ("file:///secret/b", false),
        ] {
            assert_eq!(
                client().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.is_ok(),
                may,
                "{uri}"
            );
        }
    }
}
