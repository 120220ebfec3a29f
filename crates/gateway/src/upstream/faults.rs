//! The faults of an upstream: named after it, without paths or secrets. Errors that the server
//! itself answered are not changed.

use super::bulkhead::Full;
use std::time::Duration;
use trunkline_protocol::{Fault, FaultKind, Raw, ServerName};
use trunkline_resilience::Refused;
use trunkline_secrets::counted;

/// The same fault with the name of the upstream.
pub(super) fn named(server: &ServerName, fault: Fault) -> Fault {
    if fault.peer().is_some() {
        return fault;
    }
    let renamed = Fault::new(fault.kind(), format!("`{server}`: {}", fault.message()));
    let renamed = if fault.retryable() { renamed } else { renamed.harmful_to_repeat() };
    with_cause(server, renamed, &fault)
}

/// There is no connection. The reason may contain a command line, so the client sees only its
/// kind, or the title that we gave it.
pub(super) fn away(server: &ServerName, why: Option<&Fault>, again: Option<Duration>) -> Fault {
    let kind = why.map_or(FaultKind::CannotConnect, Fault::kind);
    let given = why.filter(|why| why.peer().is_none()).and_then(Fault::data);
    let title = given.and_then(|data| data.member_as::<String>("userMessage"));
    let title = title.as_deref().unwrap_or(kind.entry().user_message);
    let text = format!("`{server}` is not available: {}", lower(title));
    let text = match again {
        Some(again) => format!("{text}; it is tried again in {:.1} s", again.as_secs_f64()),
        None => text,
    };
    // There was no connection, so the call was not sent.
    let fault = Fault::new(kind, text).harmless_to_repeat();
    match why {
        Some(why) => with_cause(server, fault, why),
        None => fault.with_data(data(server, None)),
    }
}

/// The connection broke while the call was in flight, and the call may not be repeated.
pub(super) fn may_have_run(server: &ServerName, method: &str, why: &Fault) -> Fault {
    let text = format!("`{server}` was lost before it answered `{method}`; the call may have run");
    with_cause(server, Fault::new(FaultKind::ConnectionLost, text), why)
}

pub(super) fn timed_out(server: &ServerName, method: &str, why: &str) -> Fault {
    let text = format!("`{server}` did not answer `{method}`: {why}");
    Fault::new(FaultKind::Timeout, text).with_data(data(server, None))
}

pub(super) fn full(server: &ServerName, why: Full) -> Fault {
    let text = format!("`{server}` is busy: {why}");
    Fault::new(FaultKind::Overloaded, text).with_data(data(server, None))
}

pub(super) fn too_often(server: &ServerName, again: Duration) -> Fault {
    let millis = u64::try_from(again.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
    let seconds = millis.div_ceil(1000);
    let waits = serde_json::json!({"retryAfter": seconds, "retryAfterMs": millis}).into();
    Fault::new(FaultKind::RateLimited, format!("`{server}` is called too often; try again in {seconds} s"))
        .with_data(data(server, Some(&waits)))
}

pub(super) fn no_room(server: &ServerName, whose: &str, most: usize) -> Fault {
    let sessions = counted(most, "session");
    let text = format!("`{server}` is busy: {sessions} {whose}, all in use");
    Fault::new(FaultKind::Overloaded, text).with_data(data(server, None))
}

/// The breaker is open.
pub(super) fn resting(server: &ServerName, refused: &Refused) -> Fault {
    let seconds = refused.retry_after.as_secs_f64();
    let text = format!(
        "`{server}` failed {} in a row; its circuit breaker is open for {seconds:.1} s more",
        counted(refused.failures, "time")
    );
    Fault::new(FaultKind::Unavailable, text)
        .with_detail(format!("last failure: {}", refused.last_error))
        .with_data(data(server, None))
}

pub(super) fn stopped(server: &ServerName) -> Fault {
    Fault::new(FaultKind::NotReady, format!("`{server}` was stopped")).with_data(data(server, None))
}

pub(super) fn halted(server: &ServerName) -> Fault {
    let text = format!("`{server}` was stopped by command; `trunkline start {server}` starts it again");
    Fault::new(FaultKind::NotReady, text).with_data(data(server, None))
}

fn with_cause(server: &ServerName, fault: Fault, from: &Fault) -> Fault {
    let fault = fault.with_data(data(server, from.data()));
    let detail = match from.peer() {
        Some(_) => Some(from.message()),
        None => from.detail(),
    };
    let message = from.message();
    match detail {
        Some(detail) if detail == message => fault.with_detail(message),
        Some(detail) => fault.with_detail(format!("{message}: {detail}")),
        None => fault.with_detail(message),
    }
}

/// The error's data, with the name of the server added.
fn data(server: &ServerName, given: Option<&Raw>) -> Raw {
    let mut data = given.and_then(Raw::object).unwrap_or_default();
    data.set("server", Raw::string(server.as_ref()));
    data.to_raw()
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use trunkline_protocol::{Era, ErrorObject};

    fn server() -> ServerName {
        "git".parse().unwrap()
    }

    #[test]
    fn strangers_hear_the_name_and_no_command_line() {
        let why = Fault::new(FaultKind::Timeout, "no connection to `/opt/x --token s3cret` within 30 s")
            .with_detail("pid 7");
        let fault = away(&server(), Some(&why), Some(Duration::from_millis(1500)));
        let error = fault.to_error(Era::Modern);
        assert_eq!(
            error.message,
            "`git` is not available: the server did not answer in time; it is tried again in 1.5 s"
        );
        assert_eq!(
            error.data.unwrap().as_str(),
            r#"{"server":"git","code":"timeout","appCode":"E202","userMessage":"The server did not answer in time","suggestedAction":"Try again, or allow more time with --timeout","retryable":true}"#
        );
        assert!(fault.to_string().contains("s3cret") && fault.to_string().contains("pid 7"), "the log may");
    }

    #[test]
    fn what_the_server_answered_passes_unchanged() {
        let error = ErrorObject::new(-32602, "no such tool");
        let fault = Fault::from_peer(error.clone(), Era::Legacy, "tools/call");
        assert_eq!(named(&server(), fault).to_error(Era::Legacy), error);
        let ours = named(&server(), Fault::new(FaultKind::BadAnswer, "odd").with_detail("more"));
        assert_eq!((ours.message(), ours.detail()), ("`git`: odd", Some("odd: more")));
    }

    #[test]
    fn a_call_that_got_lost_says_that_it_may_have_run() {
        let why = Fault::new(FaultKind::ServerExited, "the server ended").with_detail("it was killed");
        let fault = may_have_run(&server(), "tools/call", &why);
        assert_eq!(fault.message(), "`git` was lost before it answered `tools/call`; the call may have run");
        assert_eq!(fault.kind(), FaultKind::ConnectionLost);
        assert_eq!(fault.detail(), Some("the server ended: it was killed"));
    }
}
