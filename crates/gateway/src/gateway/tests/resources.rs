//! Resources: the server of a URI, and URIs that two servers share.

use super::{
    client,
    fake::{Fake, Lists},
    gateway, raw,
};
use crate::catalog::Rules;
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{Call, Era, Raw, Reply, method::*};

fn template(text: &str) -> Raw {
    json!({"uriTemplate": text, "name": "t"}).into()
}

/// A fake that answers every read with `result`.
fn telling(fake: &Arc<Fake>, result: Value) -> Arc<Fake> {
    fake.answers(move |_: &Call| Reply::ready(Ok(result.clone().into())))
}

#[tokio::test]
async fn a_uri_leads_to_its_server_by_list_template_origin_or_exclusion() {
    let a = Fake::new("a", Lists::resources(&["file:///a/1", "db://one/x"]));
    let b = Fake::new("b", Lists { templates: vec![template("note://{id}")], ..Lists::default() });
    let gateway = gateway(&[&a, &b], Rules::default());
    for (uri, server) in [
        ("file:///a/1", "a"),
        ("note://7", "b"),
        ("file:///other", "a"),
        ("db://one/y?z", "a"),
        ("note://7", "b"),
    ] {
        let echo = client().ask(&gateway, RESOURCES_READ, json!({"uri": uri, "x": 1.5})).await.unwrap();
        assert_eq!(echo.member("server").unwrap().as_str(), format!("\"{server}\""), "{uri}");
        assert_eq!(echo.member("params").unwrap().as_str(), format!(r#"{{"uri":"{uri}","x":1.5}}"#));
    }
    for uri in ["db://two/x", "note://7/8", "nothing", "", "trunkline:c/x"] {
        let error = client()
            .ask(&gateway, RESOURCES_READ, json!({"uri": uri}))
            .await
            .unwrap_err()
            .to_error(Era::Modern);
        assert_eq!(error.code, -32602, "{uri}");
        assert_eq!(error.data.unwrap().member_as::<String>("uri").unwrap(), uri);
    }
    let only = Fake::new("c", Lists::resources(&[]));
    let tools = Fake::new("d", Lists { capabilities: json!({"tools": {}}), ..Lists::default() });
    let gateway = super::gateway(&[&tools, &only], Rules::default());
    let echo = client().ask(&gateway, RESOURCES_READ, json!({"uri": "any:thing"})).await.unwrap();
    assert_eq!(echo.member("server").unwrap().as_str(), "\"c\"");
}

#[tokio::test]
async fn a_uri_that_two_servers_list_is_rewritten_for_the_later_and_leads_back() {
    let lists = || Lists {
        templates: vec![template("note://{id}")],
        ..Lists::resources(&["file:///x", "trunkline:a/y"])
    };
    let (a, b) = (Fake::new("a", lists()), Fake::new("b", lists()));
    let gateway = gateway(&[&a, &b], Rules::default());
    let want =
        ["file:///x", "trunkline:a/trunkline:a/y", "trunkline:b/file:///x", "trunkline:b/trunkline:a/y"];
    assert_eq!(client().names(&gateway, RESOURCES_LIST).await, want);
    assert_eq!(
        client().names(&gateway, RESOURCES_TEMPLATES).await,
        ["note://{id}", "trunkline:b/note://{id}"]
    );
    for (uri, server, inner) in [
        ("file:///x", "a", "file:///x"),
        ("trunkline:b/file:///x", "b", "file:///x"),
        ("trunkline:b/trunkline:a/y", "b", "trunkline:a/y"),
        ("trunkline:a/trunkline:a/y", "a", "trunkline:a/y"),
        ("note://1", "a", "note://1"),
        ("trunkline:b/note://1", "b", "note://1"),
    ] {
        let echo: Value =
            client().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap().decode().unwrap();
        assert_eq!((&echo["server"], &echo["params"]["uri"]), (&json!(server), &json!(inner)), "{uri}");
    }
    // A view of one server rewrites nothing.
    assert_eq!(client().at("server/b").names(&gateway, RESOURCES_LIST).await, ["file:///x", "trunkline:a/y"]);
    let completion = json!({"ref": {"type": "ref/resource", "uri": "trunkline:b/note://{id}"}, "argument": {"name": "id", "value": ""}});
    let echo: Value = client().ask(&gateway, COMPLETE, completion).await.unwrap().decode().unwrap();
    assert_eq!((&echo["server"], &echo["params"]["ref"]["uri"]), (&json!("b"), &json!("note://{id}")));
}

#[tokio::test]
async fn links_in_results_are_rewritten_where_their_uris_are_and_nowhere_else() {
    let lists = || Lists {
        prompts: vec![raw(r#"{"name":"p"}"#)],
        tools: Lists::tools(&["t"]).tools,
        templates: vec![template("note://{id}")],
        ..Lists::resources(&["file:///x"])
    };
    let (a, b) = (Fake::new("a", lists()), Fake::new("b", lists()));
    let gateway = gateway(&[&a, &b], Rules::default());
    let blocks = r#"[{"type":"resource_link","uri":"file:///x","name":"n","k":1.0},{"type":"resource_link","uri":"file:///free"},{"type":"resource","resource":{"uri":"note://7","text":"file:///x"}},{"type":"text","text":"file:///x"},7]"#;
    let result =
        format!(r#"{{"content":{blocks},"structuredContent":{{"uri":"file:///x"}},"uri":"file:///x"}}"#);
    telling(&a, raw(&result).decode().unwrap());
    telling(&b, raw(&result).decode().unwrap());
    let of_a = client().ask(&gateway, TOOLS_CALL, json!({"name": "a_t"})).await.unwrap();
    assert_eq!(of_a.as_str(), result);
    let of_b = client().ask(&gateway, TOOLS_CALL, json!({"name": "b_t"})).await.unwrap();
    let mapped = blocks
        .replacen(r#""uri":"file:///x""#, r#""uri":"trunkline:b/file:///x""#, 1)
        .replace(r#""uri":"note://7""#, r#""uri":"trunkline:b/note://7""#);
    assert_eq!(
        of_b.as_str(),
        format!(r#"{{"content":{mapped},"structuredContent":{{"uri":"file:///x"}},"uri":"file:///x"}}"#)
    );
    let of_one = client().at("server/b").ask(&gateway, TOOLS_CALL, json!({"name": "t"})).await.unwrap();
    assert_eq!(of_one.as_str(), result);

    telling(
        &b,
        json!({"messages": [{"role": "user", "content": {"type": "resource", "resource": {"uri": "file:///x", "text": ""}}}]}),
    );
    let prompt: Value =
        client().ask(&gateway, PROMPTS_GET, json!({"name": "b_p"})).await.unwrap().decode().unwrap();
    assert_eq!(prompt["messages"][0]["content"]["resource"]["uri"], "trunkline:b/file:///x");
    telling(
        &b,
        json!({"contents": [{"uri": "file:///x", "text": "t"}, {"uri": "file:///free", "text": ""}], "ttlMs": 5}),
    );
    let read = client().ask(&gateway, RESOURCES_READ, json!({"uri": "trunkline:b/file:///x"})).await.unwrap();
    assert_eq!(
        read.as_str(),
        r#"{"contents":[{"uri":"trunkline:b/file:///x","text":"t"},{"uri":"file:///free","text":""}],"ttlMs":5}"#
    );
}

#[tokio::test]
async fn what_is_read_is_named_as_it_was_asked_for_even_where_nothing_collides_any_more() {
    let (a, b) = (Fake::new("a", Lists::resources(&["a:x"])), Fake::new("b", Lists::resources(&["b:x"])));
    telling(&b, json!({"contents": [{"uri": "b:x", "text": "t"}]}));
    let gateway = gateway(&[&a, &b], Rules::default());
    for uri in ["b:x", "trunkline:b/b:x"] {
        let read = client().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap();
        assert_eq!(read.as_str(), format!(r#"{{"contents":[{{"uri":"{uri}","text":"t"}}]}}"#));
    }
}

#[tokio::test]
async fn a_uri_that_only_looks_like_one_of_ours_leads_nowhere() {
    let (a, b) =
        (Fake::new("a", Lists::resources(&["trunkline:b/x"])), Fake::new("b", Lists::resources(&["b:x"])));
    let gateway = gateway(&[&a, &b], Rules::default());
    for uri in ["trunkline:", "trunkline:b", "trunkline:c/x"] {
        client().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap_err();
    }
}

#[tokio::test]
async fn u17_what_a_result_links_to_is_never_fetched() {
    let a = Fake::new("a", Lists::tools(&["t"]));
    telling(
        &a,
        json!({"content": [{"type": "resource_link", "uri": "file:///etc/passwd", "name": "n"}, {"type": "resource_link", "uri": "http://127.0.0.1:1/"}]}),
    );
    let gateway = gateway(&[&a], Rules::default());
    drop(client().ask(&gateway, TOOLS_CALL, json!({"name": "a_t"})).await.unwrap());
    assert_eq!(a.calls().len(), 1, "one call, and nothing else");
}
