//! The error that ends a command early, with its exit code, formatted as text or JSON.

use crate::{render::safe, unresolved};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use std::fmt::Write as _;
use trunkline_protocol::{Fault, FaultKind, Raw};

/// The reason why a command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    cause: Cause,
    hints: Vec<String>,
    /// The part of the work that failed, such as `listing the tools`.
    during: Option<String>,
    /// Replaces the catalogue's advice.
    action: Option<&'static str>,
}

/// Decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The server or its tool failed.
    Answer,
    /// Invalid arguments or settings.
    Usage,
    /// There is no connection.
    Connection,
    /// Interrupted by the user (SIGINT).
    Interrupted,
    /// Asked to end by the system (SIGTERM, SIGHUP).
    Terminated,
}

#[derive(Debug)]
enum Cause {
    Fault(Fault),
    Text(String),
}

const ERROR: Style = AnsiColor::Red.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

impl Failure {
    /// An error in the arguments or settings.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self {
            kind: Kind::Usage,
            cause: Cause::Text(text.into()),
            hints: Vec::new(),
            during: None,
            action: None,
        }
    }

    /// The call was not sent because the server would reject it.
    pub(crate) fn refused(kind: FaultKind, text: impl Into<String>) -> Self {
        Self::unsent(Fault::new(kind, text))
    }

    /// The call was not sent because it would meet this fault.
    pub(crate) fn unsent(fault: Fault) -> Self {
        Self { kind: Kind::Usage, cause: Cause::Fault(fault), hints: Vec::new(), during: None, action: None }
    }

    /// The connection could not be established.
    pub(crate) fn connecting(fault: Fault) -> Self {
        Self {
            kind: Kind::Connection,
            cause: Cause::Fault(fault),
            hints: Vec::new(),
            during: None,
            action: None,
        }
    }

    pub(crate) fn interrupted() -> Self {
        Self {
            kind: Kind::Interrupted,
            cause: Cause::Text("interrupted".into()),
            hints: Vec::new(),
            during: None,
            action: None,
        }
    }

    pub(crate) fn terminated() -> Self {
        Self {
            kind: Kind::Terminated,
            cause: Cause::Text("terminated".into()),
            hints: Vec::new(),
            during: None,
            action: None,
        }
    }

    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Gives other advice than the catalogue if the server refused the request. Servers answer an
    /// unknown name with several codes, whose advice is about tools.
    #[must_use]
    pub(crate) fn advise_if_refused(mut self, action: &'static str) -> Self {
        use FaultKind as Kind;
        let Cause::Fault(fault) = &self.cause else { return self };
        let is_refusal =
            matches!(fault.kind(), Kind::InvalidRequest | Kind::Unavailable | Kind::ResourceNotFound);
        self.action = (fault.peer().is_some() && is_refusal).then_some(action);
        self
    }

    /// Gives other advice than the catalogue.
    #[must_use]
    pub(crate) fn advise(mut self, action: &'static str) -> Self {
        self.action = Some(action);
        self
    }

    /// Names the part of the work that failed.
    #[must_use]
    pub(crate) fn during(mut self, part: impl Into<String>) -> Self {
        self.during = Some(part.into());
        self
    }

    /// The reason, without hints, as text of a few lines.
    pub(crate) fn reason(&self) -> String {
        let mut out = String::new();
        match &self.cause {
            Cause::Text(text) => out.push_str(&safe::text(text)),
            Cause::Fault(fault) => {
                out.push_str(fault.entry().user_message);
                out.push('\n');
                if !fault.message().eq_ignore_ascii_case(fault.entry().user_message) {
                    indented(&mut out, fault.message());
                }
                fault.detail().iter().for_each(|detail| indented(&mut out, detail));
            }
        }
        out
    }

    pub(crate) fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Answer => 1,
            Kind::Usage => 2,
            Kind::Connection => 3,
            Kind::Interrupted => 130,
            Kind::Terminated => 143,
        }
    }

    /// Formats the failure with styles; the writer removes them if the output is not a terminal.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        let mut hints = Vec::new();
        match &self.cause {
            Cause::Text(text) => line(&mut out, ERROR, "error", text),
            Cause::Fault(fault) => {
                let entry = fault.entry();
                let label = format!("error[{}]", entry.code);
                // The catalogue's title says that the server refused the call, but this call was
                // never sent.
                let (title, rest) = match (self.kind, fault.message().split_once('\n')) {
                    (Kind::Usage, Some((first, rest))) => (first, rest),
                    (Kind::Usage, None) => (fault.message(), ""),
                    _ => (self.title(fault), fault.message()),
                };
                line(&mut out, ERROR, &label, title);
                self.during.iter().for_each(|part| indented(&mut out, &format!("while {part}")));
                if !rest.eq_ignore_ascii_case(title) {
                    indented(&mut out, rest);
                }
                let detail = fault.detail().filter(|detail| *detail != self.action(fault));
                if let Some(detail) = detail {
                    indented(&mut out, detail);
                }
                hints.push(self.action(fault));
            }
        }
        hints.extend(self.hints.iter().map(String::as_str));
        for hint in hints {
            line(&mut out, HINT, "hint", hint);
        }
        out
    }

    /// Formats the failure as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let mut report = match &self.cause {
            Cause::Text(text) => json!({"name": self.name(), "message": text, "retryable": false}),
            Cause::Fault(fault) => {
                let mut report = serde_json::to_value(fault.report()).unwrap_or_default();
                if let Some(action) = report.get_mut("suggested_action") {
                    *action = self.action(fault).into();
                }
                if let Some(title) = report.get_mut("user_message") {
                    *title = self.title(fault).into();
                }
                report
            }
        };
        if let Some(part) = &self.during {
            report["during"] = part.clone().into();
        }
        if !self.hints.is_empty() {
            report["hints"] = self.hints.clone().into();
        }
        json!({"error": report, "exit_code": self.exit_code()})
    }

    /// True if the web server has nothing at the path of the address (HTTP 404 or 405).
    fn is_wrong_path(&self, fault: &Fault) -> bool {
        self.kind == Kind::Connection && fault.kind() == FaultKind::NotAvailable && fault.peer().is_none()
    }

    fn title(&self, fault: &Fault) -> &'static str {
        if self.is_wrong_path(fault) {
            return "There is no MCP endpoint at this address";
        }
        if unresolved::is(fault) {
            return unresolved::TITLE;
        }
        fault.entry().user_message
    }

    /// The suggested action. A timeout while connecting needs another option than that of a call.
    fn action<'a>(&self, fault: &'a Fault) -> &'a str {
        if let Some(action) = self.action {
            return action;
        }
        if self.is_wrong_path(fault) {
            return "Check the path of the address; it is mostly /mcp. `trunkline doctor ADDRESS` tries the usual ones";
        }
        if unresolved::is(fault) {
            return unresolved::ACTION;
        }
        match (self.kind, fault.kind()) {
            (Kind::Connection, FaultKind::Timeout) => "Try again, or allow more time with --connect-timeout",
            _ => fault.action(),
        }
    }

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Answer => "failed",
            Kind::Usage => "usage",
            Kind::Connection => "no-connection",
            Kind::Interrupted => "interrupted",
            Kind::Terminated => "terminated",
        }
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        let kind = match fault.kind() {
            FaultKind::CannotConnect
            | FaultKind::CannotStart
            | FaultKind::ConnectionLost
            | FaultKind::NotReady
            | FaultKind::ServerExited
            | FaultKind::UrlUnreachable => Kind::Connection,
            FaultKind::UrlInvalid => Kind::Usage,
            _ => Kind::Answer,
        };
        let hints = addresses(&fault);
        Self { kind, cause: Cause::Fault(fault), hints, during: None, action: None }
    }
}

/// The URLs that the server asks the user to visit before it continues.
fn addresses(fault: &Fault) -> Vec<String> {
    if fault.kind() != FaultKind::UrlElicitationRequired {
        return Vec::new();
    }
    let asked: Option<Vec<Raw>> = fault.data().and_then(|data| data.member_as("elicitations"));
    let address = |asked: &Raw| {
        let why = asked.member_as::<String>("message").map(|why| format!(" ({why})")).unwrap_or_default();
        asked.member_as::<String>("url").map(|url| format!("visit {url}{why}"))
    };
    asked.iter().flatten().filter_map(address).collect()
}

fn line(out: &mut String, style: Style, label: &str, text: &str) {
    let text = safe::text(text);
    writeln!(out, "{style}{label}{style:#}: {text}").expect("a String takes any text");
}

fn indented(out: &mut String, text: &str) {
    for text in safe::text(text).lines().filter(|text| !text.trim().is_empty()) {
        writeln!(out, "  {text}").expect("a String takes any text");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(failure: &Failure) -> String {
        anstream::adapter::strip_str(&failure.to_text()).to_string()
    }

    #[test]
    fn a_fault_tells_code_what_happened_and_what_to_do() {
        let fault =
            Fault::new(FaultKind::CannotConnect, "connection refused").with_detail("127.0.0.1:9\x1b[2J");
        let failure = Failure::connecting(fault).hint("start it first");
        insta::assert_snapshot!(plain(&failure), @r"
        error[E216]: The server cannot be reached
          connection refused
          127.0.0.1:9␛[2J
        hint: Check the address or command, and that the server runs
        hint: start it first
        ");
        assert_eq!(failure.exit_code(), 3);
        let json = failure.to_json();
        assert_eq!((&json["error"]["code"], &json["exit_code"]), (&json!("E216"), &json!(3)));
    }

    #[test]
    fn who_waits_for_a_connection_is_told_of_its_own_limit() {
        let failure = Failure::connecting(Fault::new(FaultKind::Timeout, "no connection within 1 s"));
        assert!(plain(&failure).contains("hint: Try again, or allow more time with --connect-timeout\n"));
        assert!(failure.to_json().to_string().contains("--connect-timeout"), "{}", failure.to_json());
        let failure = Failure::from(Fault::new(FaultKind::Timeout, "not answered"));
        assert!(plain(&failure).contains("more time with --timeout\n"));
    }

    #[test]
    fn what_was_not_sent_is_not_told_as_refused() {
        let failure = Failure::refused(FaultKind::InvalidRequest, "`x` was not called:\nmissing: `a`");
        insta::assert_snapshot!(plain(&failure), @r"
        error[E203]: `x` was not called:
          missing: `a`
        hint: Check the arguments against the tool's schema
        ");
    }

    #[test]
    fn pages_to_visit_are_named() {
        let data = r#"{"elicitations":[{"mode":"url","url":"https://h/x","message":"sign in"}]}"#;
        let fault = Fault::new(FaultKind::UrlElicitationRequired, "first sign in");
        let failure = Failure::from(fault.with_data(Raw::parse(data).unwrap()));
        assert!(plain(&failure).contains("hint: visit https://h/x (sign in)\n"));
    }

    #[test]
    fn exit_codes_tell_who_is_to_blame() {
        let code = |kind| Failure::from(Fault::new(kind, "x")).exit_code();
        assert_eq!((code(FaultKind::Timeout), code(FaultKind::ServerExited)), (1, 3));
        assert_eq!(Failure::refused(FaultKind::InvalidRequest, "x").exit_code(), 2);
        assert_eq!(Failure::usage("x").to_json()["error"]["name"], "usage");
    }
}
