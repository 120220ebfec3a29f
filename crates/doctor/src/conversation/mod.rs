//! The steps that commands and URLs share, from the server's introduction to the first call.

mod first_call;
mod lists;
mod trial;

use super::{
    cause::Cause,
    diagnosis::Problem,
    evidence::{Evidence, Kind},
    examination::{Checked, Examination, Stop, passed},
    frames::{self, Introduction},
    step::StepId,
};
use serde_json::Value;
use trunkline_client::{RevisionChoice, Target};
use trunkline_protocol::{Era, Fault, FaultKind, Revision};

use trial::Session;
pub(super) use trial::{AttemptOverrides, attempt};

/// A server's answer to the first requests.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Introduced(Introduction),
    /// Every request was answered with a JSON-RPC error.
    Refused(Value),
}

/// Records the steps for era, introduction and revision.
pub(super) fn settle(exam: &mut Examination<'_>, answer: Answer) -> Result<Introduction, Stop> {
    let speak = exam.options.speak;
    let introduction = match answer {
        Answer::Introduced(introduction) => introduction,
        Answer::Refused(error) => {
            exam.skip(StepId::EraFound, "it refused every question");
            return exam.check(StepId::Introduced, || Err(Box::new(refused(&error))));
        }
    };
    exam.check(StepId::EraFound, || era(&introduction, speak))?;
    exam.check(StepId::Introduced, || passed((), introduction.name()))?;
    exam.check(StepId::RevisionShared, || revision(&introduction))?;
    exam.reached_server();
    Ok(introduction)
}

/// Connects with an ordinary client, fetches the lists, and makes the first call.
pub(super) async fn try_out(exam: &mut Examination<'_>, target: &Target, era: Era) -> Result<(), Stop> {
    let options = exam.options;
    let session = exam.wait(StepId::Connects, Session::open(target, era, options)).await?;
    let outcome = async {
        let offered = exam.wait(StepId::Lists, lists::read(&session, options)).await?;
        first_call::make(exam, &session, &offered).await
    }
    .await;
    session.close().await;
    outcome
}

/// The problem for a failure after the introduction; `what` describes the request.
fn problem_of(fault: &Fault, what: &str, otherwise: Cause) -> Problem {
    let cause = match fault.kind() {
        FaultKind::Timeout => Cause::NoAnswer,
        FaultKind::ServerExited | FaultKind::ConnectionLost => Cause::ConnectionBreaks,
        FaultKind::Unauthorized => Cause::TokenRefused,
        FaultKind::RateLimited => Cause::RateLimited,
        _ => otherwise,
    };
    let mut problem = Problem::new(cause, format!("{what}: {}", fault.message()));
    if let Some(detail) = fault.detail() {
        problem = problem.proof(Evidence::fact(detail));
    }
    problem
}

fn era(introduction: &Introduction, speak: RevisionChoice) -> Checked<()> {
    if frames::eras(speak).contains(&introduction.era) {
        return passed((), introduction.era.to_string());
    }
    let problem = match introduction.era {
        Era::Legacy => Problem::new(Cause::LegacyOnly, "it answers `initialize`, and not `server/discover`")
            .fix("leave `--era modern` out, or say `--era legacy`")
            .fix(format!("the client must send `initialize` with \"protocolVersion\": \"{}\" first", Revision::NEWEST_LEGACY)),
        Era::Modern => Problem::new(Cause::ModernOnly, "it answers `server/discover`, and not `initialize`")
            .fix("leave `--era legacy` out, or say `--era modern`")
            .fix(format!("the client must send \"io.modelcontextprotocol/protocolVersion\": \"{}\" in `_meta` of every request", Revision::NEWEST)),
    };
    Err(Box::new(problem.proof(Evidence::new(Kind::Received, introduction.result.to_string()))))
}

fn revision(introduction: &Introduction) -> Checked<Revision> {
    match introduction.shared() {
        Some(revision) => passed(revision, revision.as_str()),
        None => Err(Box::new(
            unshared(&introduction.revisions)
                .proof(Evidence::new(Kind::Received, introduction.result.to_string())),
        )),
    }
}

fn unshared(theirs: &[String]) -> Problem {
    let ours: Vec<&str> = Revision::ALL.iter().map(|revision| revision.as_str()).collect();
    let theirs = if theirs.is_empty() { "none that it names".to_owned() } else { theirs.join(", ") };
    Problem::new(
        Cause::RevisionNotShared,
        format!("the server speaks {theirs}; we speak {}", ours.join(", ")),
    )
    .fix("update the server, so that it answers with a published revision")
}

/// The problem for an error to the very first request.
fn refused(error: &Value) -> Problem {
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no message");
    let lower = message.to_lowercase();
    let shown = Evidence::new(Kind::Received, error.to_string());
    if lower.contains("version") && (lower.contains("protocol") || lower.contains("unsupported")) {
        let supported = error.get("data").and_then(|data| data.get("supported")).and_then(Value::as_array);
        let supported: Vec<String> =
            supported.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
        return unshared(&supported).proof(shown);
    }
    Problem::new(Cause::InitializeRefused, format!("`initialize` was answered with an error: {message}"))
        .proof(shown)
        .fix("do what the server's message says; its log may say more")
}
