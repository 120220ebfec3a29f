//! `x-mcp-header` parameters of a tool's schema: each can be sent as a header and belongs to its
//! argument. Also parses `traceparent`.
//!
//! An input is a schema, a line break, and arguments; the first line is also parsed as a
//! `traceparent`.

use http::HeaderName;
use serde_json::Value;
use trunkline_protocol::{
    Raw,
    message::{HeaderParam, TraceParent, header_params, header_values, may_want_headers},
};
use trunkline_transport::headers::{decode_value, encode_value};

pub fn holds(data: &[u8]) {
    let mut lines = data.splitn(2, |byte| *byte == b'\n');
    let (schema, arguments) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    if let Ok(text) = std::str::from_utf8(schema) {
        belongs_to_a_trace(text);
    }
    let Ok(schema) = Raw::parse(schema.to_vec()) else { return };
    let Ok(found) = header_params(&schema) else {
        assert!(may_want_headers(&schema));
        return;
    };
    assert!(found.is_empty() || may_want_headers(&schema));
    let mut names: Vec<String> = found.iter().map(|param| param.header.to_ascii_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), found.len(), "two arguments in one header");
    if let Ok(schema) = schema.decode::<Value>() {
        for param in &found {
            is_in(param, &schema);
        }
    }
    let Ok(arguments) = Raw::parse(arguments.to_vec()) else { return };
    for (name, value) in header_values(&found, &arguments) {
        HeaderName::from_bytes(name.as_bytes()).expect("it can be sent");
        assert!(
            name.strip_prefix("Mcp-Param-")
                .is_some_and(|name| found.iter().any(|param| param.header == name))
        );
        assert_eq!(decode_value(&encode_value(&value)).as_deref(), Ok(value.as_str()));
    }
}

/// Checks that the schema at the path of a parameter declares its header.
fn is_in(param: &HeaderParam, schema: &Value) {
    let place = param.path.iter().fold(schema, |schema, name| &schema["properties"][name]);
    assert_eq!(place["x-mcp-header"], param.header.as_str());
}

fn belongs_to_a_trace(text: &str) {
    let Ok(trace) = text.parse::<TraceParent>() else { return };
    assert!(trace.trace_id != [0; 16] && trace.span_id != [0; 8]);
    let written = trace.to_string();
    assert_eq!(written.parse(), Ok(trace));
    assert!(text.starts_with(&written) || !text.starts_with("00-"), "{text}");
    assert_eq!(trace.child([1; 8]).trace_id, trace.trace_id);
}
