//! Inserts servers into our file without changing anything else: comments, order and layout stay.

use super::plan::{Outcome, Plan};
use crate::{
    edit::{File, input},
    jsonc::SyntaxError,
};
use serde_json::Value;

/// Returns our file with the servers that the plan adds; `text` is its current content, if it
/// exists. The result is parsed again before it is returned.
pub fn insert(text: Option<&str>, plan: &Plan) -> Result<String, Vec<SyntaxError>> {
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
    let file = File::parse(text)?;
    let mut added = plan.servers.iter().filter(|planned| planned.outcome == Outcome::Added).peekable();
    if added.peek().is_some() {
        let servers = file
            .root
            .object_value_or_create()
            .and_then(|root| root.object_value_or_create("mcp"))
            .and_then(|mcp| mcp.object_value_or_create("servers"))
            .ok_or_else(|| vec![file.no_object(&["mcp", "servers", ""])])?;
        for planned in added {
            servers.append(&planned.name, input(&Value::Object(planned.entry.clone())));
        }
    }
    file.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        import::{Client, Planned, Scope},
        jsonc,
    };

    fn planned(name: &str, outcome: Outcome) -> Planned {
        let entry = serde_json::json!({"type": "local", "command": ["npx", "-y", "x"]});
        Planned {
            client: Client::Cursor,
            scope: Scope::User,
            file: "x".into(),
            theirs: name.to_owned(),
            name: name.to_owned(),
            outcome,
            entry: entry.as_object().unwrap().clone(),
            notes: Vec::new(),
            secrets: Vec::new(),
        }
    }

    fn inserted(text: &str) -> String {
        let servers = vec![planned("new", Outcome::Added), planned("old", Outcome::Kept)];
        let made = insert(Some(text), &Plan { servers }).unwrap();
        let tree = jsonc::parse(&made, 0).unwrap();
        assert!(tree.at(&["mcp", "servers", "new", "command"]).is_some(), "{made}");
        assert!(tree.at(&["mcp", "servers", "old"]).is_none(), "{made}");
        made
    }

    #[test]
    fn a_new_file_gets_all_that_is_needed() {
        insta::assert_snapshot!(inserted(""), @r#"
        {
          "mcp": {
            "servers": {
              "new": {
                "type": "local",
                "command": ["npx", "-y", "x"]
              }
            }
          }
        }
        "#);
    }

    #[test]
    fn comments_and_layout_of_an_old_file_stay() {
        insta::assert_snapshot!(inserted("// mine\n{\n  // here they are\n  \"mcp\": {\n    \"servers\": {\n      \"a\": { \"command\": [\"a\"] } // the first\n      // the end\n    }\n  },\n  \"listen\": null, // where\n}\n"), @r#"
        // mine
        {
          // here they are
          "mcp": {
            "servers": {
              "a": { "command": ["a"] }, // the first
              "new": {
                "type": "local",
                "command": ["npx", "-y", "x"]
              }
              // the end
            }
          },
          "listen": null, // where
        }
        "#);
    }

    #[test]
    fn another_value_in_the_place_of_the_servers_is_an_error() {
        for text in ["[]", "{\"mcp\": 3}", "{\"mcp\": {\"servers\": [1]}}"] {
            let plan = Plan { servers: vec![planned("new", Outcome::Added)] };
            let errors = insert(Some(text), &plan).unwrap_err();
            assert!(errors[0].reason.starts_with("servers can only be added"), "{errors:?}");
        }
    }

    #[test]
    fn every_shape_of_file_takes_members() {
        for text in [
            "{}",
            "{\"listen\": null}",
            "{\"listen\": null,}",
            "{\"mcp\": {}}",
            "{\"mcp\": {\"servers\": {}}}",
            "{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"a\"]}}}}",
            "{\"mcp\": {\"servers\": {\"a\": {\"command\": [\"a\"]}, /* , */ }}}",
            "{\n\t\"mcp\": {\n\t\t\"servers\": {\n\t\t\t\"a\": {\"command\": [\"a\"]}, // ,\n\t\t}\n\t}\n}",
            "\u{feff}{\r\n  \"mcp\": {\r\n    \"servers\": {\r\n    }\r\n  }\r\n}\r\n",
        ] {
            inserted(text);
        }
    }
}
