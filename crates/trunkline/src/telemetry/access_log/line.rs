//! Formats one request as exactly one line, whatever characters it contains.

use std::{fmt::Write, time::SystemTime};
use trunkline_gateway::audit::{mask, quote, rfc3339};
use trunkline_protocol::method;
use trunkline_serve::{Access, AccessTransport, CallEnding};

/// Format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// `name=value`; values that are not plain words are quoted as in JSON.
    Text,
}

/// Appends the line of one request.
pub(super) fn write(out: &mut String, form: Form, access: &Access) {
    let mut line = Line::begin(out, form, access.at);
    match &access.way {
        AccessTransport::Http { verb, path, peer, status } => {
            line.text("way", "http");
            line.text("verb", verb.as_str());
            line.text("path", path);
            line.text("peer", &peer.to_string());
            if let Some(status) = status {
                line.number("status", *status);
            }
        }
        AccessTransport::Unread { peer, status, reason } => {
            line.text("way", "http");
            line.text("peer", &peer.to_string());
            line.number("status", *status);
            line.text("reason", reason);
        }
        AccessTransport::Stream { view } => {
            line.text("way", "line");
            line.maybe("view", view.as_deref());
        }
    }
    line.maybe("caller", access.caller.as_ref().map(|caller| caller.id.as_str()));
    line.maybe("method", access.method.as_deref());
    line.maybe("target", target(access).as_deref());
    if let Some(ending) = access.ending {
        line.text("outcome", word(ending));
        if let CallEnding::Failed { code, app_code } = ending {
            line.number("code", code);
            line.text("error", app_code);
        }
    }
    line.number("ms", format_args!("{:.3}", access.took.as_secs_f64() * 1e3));
    line.number("in", access.bytes_in);
    line.number("out", access.bytes_out);
    let trace = access.trace_id.map(|id| format!("{:032x}", u128::from_be_bytes(id)));
    line.maybe("trace", trace.as_deref());
    line.maybe("session", access.session.as_deref());
    if access.cut {
        line.number("cut", true);
    }
    line.end();
}

/// Appends a line that reports the number of lost lines.
pub(super) fn write_dropped(out: &mut String, form: Form, count: u64) {
    let mut line = Line::begin(out, form, SystemTime::now());
    line.number("dropped", count);
    line.end();
}

/// The target of the call. Secrets in URLs are masked; names are kept, however random they look.
fn target(access: &Access) -> Option<String> {
    let target = access.target.as_deref()?;
    let is_address = access.method.as_deref() == Some(method::RESOURCES_READ);
    Some(if is_address { mask(target) } else { target.to_owned() })
}

fn word(ending: CallEnding) -> &'static str {
    match ending {
        CallEnding::Fine => "ok",
        CallEnding::ToolError => "tool_error",
        CallEnding::Failed { .. } => "failed",
        CallEnding::Cancelled => "cancelled",
    }
}

/// Builder of one line.
struct Line<'a> {
    out: &'a mut String,
    form: Form,
}

impl<'a> Line<'a> {
    fn begin(out: &'a mut String, form: Form, at: SystemTime) -> Self {
        let time = rfc3339(at);
        let written = match form {
            Form::Json => write!(out, "{{\"time\":\"{time}\""),
            Form::Text => write!(out, "time={time}"),
        };
        written.expect("a String takes all text");
        Self { out, form }
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        let plain = !value.is_empty()
            && value.len() <= 64
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./:@+*".contains(&byte));
        if self.form == Form::Text && plain {
            self.out.push_str(value);
        } else {
            quote(self.out, value);
        }
    }

    fn maybe(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.text(name, value);
        }
    }

    fn number(&mut self, name: &str, value: impl std::fmt::Display) {
        self.name(name);
        write!(self.out, "{value}").expect("a String takes all text");
    }

    fn name(&mut self, name: &str) {
        let written = match self.form {
            Form::Json => write!(self.out, ",\"{name}\":"),
            Form::Text => write!(self.out, " {name}="),
        };
        written.expect("a String takes all text");
    }

    fn end(self) {
        self.out.push_str(match self.form {
            Form::Json => "}\n",
            Form::Text => "\n",
        });
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::{
        net::{IpAddr, Ipv4Addr},
        time::{Duration, UNIX_EPOCH},
    };
    use trunkline_protocol::Caller;

    pub(in super::super) fn record(target: &str) -> Access {
        Access {
            at: UNIX_EPOCH + Duration::from_millis(1_794_751_200_999),
            took: Duration::from_micros(12_345),
            way: AccessTransport::Http {
                verb: http::Method::POST,
                path: "/mcp/files".into(),
                peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
                status: Some(200),
            },
            caller: Some(Caller::local()),
            method: Some(method::TOOLS_CALL.into()),
            target: Some(target.to_owned()),
            ending: Some(CallEnding::Failed { code: -32602, app_code: "E203" }),
            bytes_in: 120,
            bytes_out: 99,
            trace_id: Some([0xab; 16]),
            session: Some("0123456789abcdef".into()),
            cut: false,
        }
    }

    fn written(form: Form, access: &Access) -> String {
        let mut out = String::new();
        write(&mut out, form, access);
        out
    }

    #[test]
    fn both_forms_tell_the_same() {
        let record = record("read_file");
        insta::assert_snapshot!(written(Form::Json, &record), @r#"{"time":"2026-11-15T14:00:00.999Z","way":"http","verb":"POST","path":"/mcp/files","peer":"127.0.0.1","status":200,"caller":"local","method":"tools/call","target":"read_file","outcome":"failed","code":-32602,"error":"E203","ms":12.345,"in":120,"out":99,"trace":"abababababababababababababababab","session":"0123456789abcdef"}"#);
        insta::assert_snapshot!(written(Form::Text, &record), @"time=2026-11-15T14:00:00.999Z way=http verb=POST path=/mcp/files peer=127.0.0.1 status=200 caller=local method=tools/call target=read_file outcome=failed code=-32602 error=E203 ms=12.345 in=120 out=99 trace=abababababababababababababababab session=0123456789abcdef");
    }

    #[test]
    fn what_was_not_read_or_not_heard_is_told_as_well() {
        let mut record = record("read_file");
        record.cut = true;
        assert!(written(Form::Json, &record).ends_with(",\"cut\":true}\n"));
        assert!(written(Form::Text, &record).ends_with(" cut=true\n"));
        let reason = "a line does not end with CR and LF".to_owned();
        let (caller, method, target) = (None, None, None);
        let way = AccessTransport::Unread { peer: IpAddr::V4(Ipv4Addr::LOCALHOST), status: 400, reason };
        let (ending, trace_id, session) = (None, None, None);
        let unread = Access { way, caller, method, target, ending, trace_id, session, cut: false, ..record };
        insta::assert_snapshot!(written(Form::Text, &unread), @r#"time=2026-11-15T14:00:00.999Z way=http peer=127.0.0.1 status=400 reason="a line does not end with CR and LF" ms=12.345 in=120 out=99"#);
    }

    #[test]
    fn nobody_can_write_a_line_or_a_field_of_their_own() {
        let evil = "x\" status=200\n{\"caller\":\"root\"}\r\u{1b}[2J\u{202e}\u{2028}é";
        for form in [Form::Json, Form::Text] {
            let mut record = record(evil);
            record.method = Some(evil.to_owned().into());
            record.caller =
                Some(std::sync::Arc::new(Caller { id: evil.into(), ..(*Caller::local()).clone() }));
            if let AccessTransport::Http { path, .. } = &mut record.way {
                evil.clone_into(path);
            }
            let line = written(form, &record);
            assert!(
                line.ends_with('\n') && line.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte)),
                "{line}"
            );
        }
        let line: serde_json::Value = serde_json::from_str(&written(Form::Json, &record(evil))).unwrap();
        assert_eq!(line["target"], evil);
        assert!(written(Form::Json, &record(&"n".repeat(9000))).len() < 1000, "and a long one is cut");
    }

    #[test]
    fn addresses_are_written_without_secrets() {
        let mut record = record("db://ada:s3cret@h/t?token=t0ken");
        record.method = Some(method::RESOURCES_READ.into());
        let line = written(Form::Json, &record);
        assert!(!line.contains("s3cret") && !line.contains("t0ken"), "{line}");
    }
}
