//! Resource templates: for any URI, the values of a template's variables stay within their
//! segment.
//!
//! An input is a template, a line break, and a URI.

use serde_json::json;
use std::{cell::LazyCell, collections::BTreeMap};
use tokio::runtime::Runtime;
use trunkline_toolbox::{Template, Toolbox};

pub fn holds(data: &[u8]) {
    thread_local! {
        static RUNTIME: LazyCell<Runtime> = LazyCell::new(|| {
            tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime can be made")
        });
    }
    let text = String::from_utf8_lossy(data);
    let Some((template, uri)) = text.split_once('\n') else { return };
    let family = Template::new(template, "t", |_, request| async move {
        serde_json::to_string(&request.variables).expect("texts can be written")
    });
    let Ok(toolbox) = Toolbox::new("fuzz", "1").template(family).build() else { return };
    let run =
        RUNTIME.with(|runtime| runtime.block_on(toolbox.test().run("resources/read", json!({"uri": uri}))));
    let Ok(result) = run.outcome else { return };
    let result: serde_json::Value = result.decode().expect("a result of ours");
    assert_eq!(result["contents"][0]["uri"], uri);
    let variables: BTreeMap<String, String> =
        serde_json::from_str(result["contents"][0]["text"].as_str().expect("a text"))
            .expect("as it was written");
    stay_in_place(&variables, template);
    if !uri.contains('%') {
        assert_eq!(filled(template, &variables), uri);
    }
}

fn stay_in_place(variables: &BTreeMap<String, String>, template: &str) {
    assert_eq!(variables.len(), template.matches('{').count());
    for (name, value) in variables {
        assert!(!value.is_empty() && !value.contains('\\') && !value.chars().any(char::is_control));
        assert!(value.split('/').all(|piece| piece != "." && piece != ".."));
        assert!(!value.contains('/') || !template.contains(&format!("{{{name}}}")), "{value}");
    }
}

/// Expands the template with these values.
fn filled(template: &str, variables: &BTreeMap<String, String>) -> String {
    let mut uri = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}').expect("the template was taken");
        uri.push_str(before);
        if expression.starts_with('#') {
            uri.push('#');
        }
        uri.push_str(&variables[expression.trim_start_matches(['+', '#'])]);
        rest = after;
    }
    uri + rest
}
