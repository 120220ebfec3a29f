//! The JSON Schema of the JSON report.

use serde_json::{Value, json};

pub fn schema() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    let counts = [
        "critical",
        "errors",
        "warnings",
        "infos",
        "ignored",
        "passed",
        "notVerified",
        "notApplicable",
        "unreachable",
    ];
    let summary: serde_json::Map<String, Value> =
        counts.iter().map(|name| ((*name).to_owned(), count.clone())).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of trunkline lint",
        "type": "object",
        "required": ["format", "tool", "version", "summary", "targets"],
        "properties": {
            "format": {"const": super::FORMAT, "description": "Rises when a reader must change."},
            "tool": {"type": "string"},
            "version": {"type": "string"},
            "summary": {"type": "object", "properties": summary, "required": counts, "additionalProperties": false},
            "targets": {"type": "array", "items": {"$ref": "#/$defs/target"}}
        },
        "additionalProperties": false,
        "$defs": {"target": target(), "cost": cost(), "rule": rule(), "finding": finding(), "frame": frame(), "snippet": snippet()}
    })
}

fn target() -> Value {
    json!({
        "type": "object",
        "required": ["target", "eras", "rules"],
        "properties": {
            "target": {"type": "string", "description": "The address, command line or file."},
            "server": {"type": "string"},
            "transport": {"enum": ["stdio", "Streamable HTTP", "HTTP+SSE"]},
            "eras": {"type": "array", "items": {"enum": ["legacy", "modern"]}},
            "unreachable": {"type": "string", "description": "Why there is nothing to judge."},
            "cost": {"$ref": "#/$defs/cost"},
            "rules": {"type": "array", "items": {"$ref": "#/$defs/rule"}}
        },
        "additionalProperties": false
    })
}

fn cost() -> Value {
    json!({
        "type": "object",
        "description": "Estimated tokens, dearest tool first.",
        "required": ["total", "instructions", "tools"],
        "properties": {
            "total": {"type": "integer"},
            "instructions": {"type": "integer"},
            "tools": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "tokens"],
                "properties": {"name": {"type": "string"}, "tokens": {"type": "integer"}},
                "additionalProperties": false
            }}
        },
        "additionalProperties": false
    })
}

fn rule() -> Value {
    json!({
        "type": "object",
        "required": ["rule", "group", "outcome"],
        "properties": {
            "rule": {"type": "string"},
            "group": {"type": "string"},
            "outcome": {"enum": ["passed", "finding", "not-verified", "not-applicable"]},
            "why": {"type": "string", "description": "Why there is no verdict."},
            "findings": {"type": "array", "items": {"$ref": "#/$defs/finding"}}
        },
        "additionalProperties": false
    })
}

fn finding() -> Value {
    json!({
        "type": "object",
        "required": ["rule", "level", "fingerprint", "message", "eras", "frames", "fix", "clause"],
        "properties": {
            "rule": {"type": "string"},
            "level": {"enum": ["info", "warning", "error", "critical"]},
            "fingerprint": {"type": "string", "description": "The same for the same fault in every run."},
            "message": {"type": "string"},
            "about": {"type": "string"},
            "eras": {"type": "array", "items": {"enum": ["legacy", "modern"]}},
            "pointer": {"type": "string", "description": "RFC 6901, into the frame that is shown."},
            "snippet": {"$ref": "#/$defs/snippet"},
            "frames": {"type": "array", "items": {"$ref": "#/$defs/frame"}},
            "notes": {"type": "array", "items": {"type": "string"}},
            "fix": {"type": "string"},
            "clause": {"type": "string"},
            "ignored": {
                "type": "object",
                "required": ["by", "reason"],
                "properties": {"by": {"enum": ["baseline", "ignore", "inline"]}, "reason": {"type": "string"}},
                "additionalProperties": false
            }
        },
        "additionalProperties": false
    })
}

fn frame() -> Value {
    json!({
        "type": "object",
        "required": ["line", "purpose", "direction", "atMs", "text", "length"],
        "properties": {
            "line": {"type": "integer"},
            "purpose": {"type": "string"},
            "direction": {"enum": ["sent", "received", "noise"]},
            "atMs": {"type": "integer", "description": "Since the line was opened."},
            "text": {"type": "string", "description": "The beginning of the frame."},
            "length": {"type": "integer", "description": "Bytes of the whole frame."}
        },
        "additionalProperties": false
    })
}

fn snippet() -> Value {
    json!({
        "type": "object",
        "required": ["lines", "line", "column", "width"],
        "properties": {
            "lines": {"type": "array", "items": {"type": "string"}},
            "line": {"type": "integer"},
            "column": {"type": "integer"},
            "width": {"type": "integer"}
        },
        "additionalProperties": false
    })
}
