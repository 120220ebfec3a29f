//! Resources: where a URI leads, and what happens when two servers use the same.

use super::{
    fake::{Fake, Wares},
    gateway, raw, somebody,
};
use crate::catalog::Rules;
use serde_json::{Value, json};
use std::sync::Arc;
use trunkline_protocol::{Call, Era, Raw, Reply, method::*};

fn template(text: &str) -> Raw {
    json!({"uriTemplate": text, "name": "t"}).into()
}

/// What a server would say about the file it was asked for.
fn telling(fake: &Arc<Fake>, result: Value) -> Arc<Fake> {
    fake.answers(move |_: &Call| Reply::ready(Ok(result.clone().into())))
}

#[tokio::test]
async fn a_uri_leads_to_its_server_by_list_template_origin_or_exclusion() {
    let a = Fake::new("a", Wares::resources(&["file:///a/1", "db://one/x"]));
    let b = Fake::new("b", Wares { templates: vec![template("note://{id}")], ..Wares::default() });
    let gateway = gateway(&[&a, &b], Rules::default());
    for (uri, server) in [
        ("file:///a/1", "a"),
        ("note://7", "b"),
        ("file:///other", "a"),
        ("db://one/y?z", "a"),
        ("note://7", "b"),
    ] {
        let echo = somebody().ask(&gateway, RESOURCES_READ, json!({"uri": uri, "x": 1.5})).await.unwrap();
        assert_eq!(echo.member("server").unwrap().as_str(), format!("\"{server}\""), "{uri}");
        assert_eq!(echo.member("params").unwrap().as_str(), format!(r#"{{"uri":"{uri}","x":1.5}}"#));
    }
    for uri in ["db://two/x", "note://7/8", "nothing", "", "trunkline:c/x"] {
        let error = somebody()
            .ask(&gateway, RESOURCES_READ, json!({"uri": uri}))
            .await
            .unwrap_err()
            .to_error(Era::Modern);
        assert_eq!(error.code, -32602, "{uri}");
        assert_eq!(error.data.unwrap().member_as::<String>("uri").unwrap(), uri);
    }
    let only = Fake::new("c", Wares::resources(&[]));
    let tools = Fake::new("d", Wares { capabilities: json!({"tools": {}}), ..Wares::default() });
    let gateway = super::gateway(&[&tools, &only], Rules::default());
    let echo = somebody().ask(&gateway, RESOURCES_READ, json!({"uri": "any:thing"})).await.unwrap();
    assert_eq!(echo.member("server").unwrap().as_str(), "\"c\"");
}

#[tokio::test]
async fn a_uri_that_two_servers_list_is_rewritten_for_the_later_and_leads_back() {
    let wares = || Wares {
        templates: vec![template("note://{id}")],
        ..Wares::resources(&["file:///x", "trunkline:a/y"])
    };
    let (a, b) = (Fake::new("a", wares()), Fake::new("b", wares()));
    let gateway = gateway(&[&a, &b], Rules::default());
    let want =
        ["file:///x", "trunkline:a/trunkline:a/y", "trunkline:b/file:///x", "trunkline:b/trunkline:a/y"];
    assert_eq!(somebody().names(&gateway, RESOURCES_LIST).await, want);
    assert_eq!(
        somebody().names(&gateway, RESOURCES_TEMPLATES).await,
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
            somebody().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap().decode().unwrap();
        assert_eq!((&echo["server"], &echo["params"]["uri"]), (&json!(server), &json!(inner)), "{uri}");
    }
    // One server alone is never rewritten.
    assert_eq!(
        somebody().at("server/b").names(&gateway, RESOURCES_LIST).await,
        ["file:///x", "trunkline:a/y"]
    );
    let completion = json!({"ref": {"type": "ref/resource", "uri": "trunkline:b/note://{id}"}, "argument": {"name": "id", "value": ""}});
    let echo: Value = somebody().ask(&gateway, COMPLETE, completion).await.unwrap().decode().unwrap();
    assert_eq!((&echo["server"], &echo["params"]["ref"]["uri"]), (&json!("b"), &json!("note://{id}")));
}

#[tokio::test]
async fn links_in_results_are_rewritten_where_their_uris_are_and_nowhere_else() {
    let wares = || Wares {
        prompts: vec![raw(r#"{"name":"p"}"#)],
        tools: Wares::tools(&["t"]).tools,
        templates: vec![template("note://{id}")],
        ..Wares::resources(&["file:///x"])
    };
    let (a, b) = (Fake::new("a", wares()), Fake::new("b", wares()));
    let gateway = gateway(&[&a, &b], Rules::default());
    let blocks = r#"[{"type":"resource_link","uri":"file:///x","name":"n","k":1.0},{"type":"resource_link","uri":"file:///free"},{"type":"resource","resource":{"uri":"note://7","text":"file:///x"}},{"type":"text","text":"file:///x"},7]"#;
    let result =
        format!(r#"{{"content":{blocks},"structuredContent":{{"uri":"file:///x"}},"uri":"file:///x"}}"#);
    telling(&a, raw(&result).decode().unwrap());
    telling(&b, raw(&result).decode().unwrap());
    let of_a = somebody().ask(&gateway, TOOLS_CALL, json!({"name": "a_t"})).await.unwrap();
    assert_eq!(of_a.as_str(), result);
    let of_b = somebody().ask(&gateway, TOOLS_CALL, json!({"name": "b_t"})).await.unwrap();
    let mapped = blocks
        .replacen(r#""uri":"file:///x""#, r#""uri":"trunkline:b/file:///x""#, 1)
        .replace(r#""uri":"note://7""#, r#""uri":"trunkline:b/note://7""#);
    assert_eq!(
        of_b.as_str(),
        format!(r#"{{"content":{mapped},"structuredContent":{{"uri":"file:///x"}},"uri":"file:///x"}}"#)
    );
    let of_one = somebody().at("server/b").ask(&gateway, TOOLS_CALL, json!({"name": "t"})).await.unwrap();
    assert_eq!(of_one.as_str(), result);

    telling(
        &b,
        json!({"messages": [{"role": "user", "content": {"type": "resource", "resource": {"uri": "file:///x", "text": ""}}}]}),
    );
    let prompt: Value =
        somebody().ask(&gateway, PROMPTS_GET, json!({"name": "b_p"})).await.unwrap().decode().unwrap();
    assert_eq!(prompt["messages"][0]["content"]["resource"]["uri"], "trunkline:b/file:///x");
    telling(
        &b,
        json!({"contents": [{"uri": "file:///x", "text": "t"}, {"uri": "file:///free", "text": ""}], "ttlMs": 5}),
    );
    let read =
        somebody().ask(&gateway, RESOURCES_READ, json!({"uri": "trunkline:b/file:///x"})).await.unwrap();
    assert_eq!(
        read.as_str(),
        r#"{"contents":[{"uri":"trunkline:b/file:///x","text":"t"},{"uri":"file:///free","text":""}],"ttlMs":5}"#
    );
}

#[tokio::test]
async fn what_is_read_is_named_as_it_was_asked_for_even_where_nothing_collides_any_more() {
    let (a, b) = (Fake::new("a", Wares::resources(&["a:x"])), Fake::new("b", Wares::resources(&["b:x"])));
    telling(&b, json!({"contents": [{"uri": "b:x", "text": "t"}]}));
    let gateway = gateway(&[&a, &b], Rules::default());
    for uri in ["b:x", "trunkline:b/b:x"] {
        let read = somebody().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap();
        assert_eq!(read.as_str(), format!(r#"{{"contents":[{{"uri":"{uri}","text":"t"}}]}}"#));
    }
}

#[tokio::test]
async fn a_uri_that_only_looks_like_one_of_ours_leads_nowhere() {
    let (a, b) =
        (Fake::new("a", Wares::resources(&["trunkline:b/x"])), Fake::new("b", Wares::resources(&["b:x"])));
    let gateway = gateway(&[&a, &b], Rules::default());
    for uri in ["trunkline:", "trunkline:b", "trunkline:c/x"] {
        somebody().ask(&gateway, RESOURCES_READ, json!({"uri": uri})).await.unwrap_err();
    }
}

#[tokio::test]
async fn u17_what_a_result_links_to_is_never_fetched() {
    let a = Fake::new("a", Wares::tools(&["t"]));
    telling(
        &a,
        json!({"content": [{"type": "resource_link", "uri": "file:///etc/passwd", "name": "n"}, {"type": "resource_link", "uri": "http://127.0.0.1:1/"}]}),
    );
    let gateway = gateway(&[&a], Rules::default());
    drop(somebody().ask(&gateway, TOOLS_CALL, json!({"name": "a_t"})).await.unwrap());
    assert_eq!(a.calls().len(), 1, "one call, and nothing else");
}
