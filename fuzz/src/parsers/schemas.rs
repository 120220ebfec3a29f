//! Schemas: for any schema and value, judging, compiling and checking end within their budget.
//!
//! An input is a schema, a line break, and a value.

use serde_json::Value;
use trunkline_schema::{Budget, Schema};

pub fn holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (schema, value) = text.split_once('\n').unwrap_or((&text, "{}"));
    let (Ok(schema), Ok(value)) =
        (serde_json::from_str::<Value>(schema), serde_json::from_str::<Value>(value))
    else {
        return;
    };
    let judged = trunkline_schema::judge(&schema);
    for made in [Schema::untrusted(&schema), Schema::of_its_draft(&schema)] {
        let Ok(made) = made else { continue };
        let fits = made.accepts(&value, Budget::FULL);
        assert!(fits != Ok(true) || judged.is_ok() || judged.as_ref().is_err_and(|bad| !bad.is_expensive()));
        let errors = made.errors(&value, Budget::FULL);
        assert_eq!(fits, errors.map(|errors| errors.is_empty()), "{schema} {value}");
        if made.surely_accepts(&value.to_string()) {
            assert_eq!(fits, Ok(true), "{schema} {value}");
        }
    }
}
